import { boardSelect } from './lookup-form.ts';
import { type Html, html } from './page.ts';

/** The most rows of a list. */
export const MAX_PAGE_ROWS = 500;

/** The form of a list: pasted, or as a file. */
export function rosterForm(text: string, board: string): Html {
  return html`<p class="usa-intro">Up to ${MAX_PAGE_ROWS} licenses at once. Paste the rows of a spreadsheet saved as CSV, or choose the file. Nothing that you send is stored.</p>
<form action="/roster" method="post" enctype="multipart/form-data" aria-label="Check a list">
<div class="field"><label class="usa-label" for="roster">Your list</label>
<span class="usa-hint" id="roster-hint">The first row names the columns: license_number, or last_name and first_name, or business_name with search_type “business”. Other columns are kept. <a href="/roster/template.csv">Download a template</a></span>
<textarea class="usa-textarea" id="roster" name="roster" aria-describedby="roster-hint" spellcheck="false" rows="8">${text}</textarea></div>
<div class="field"><label class="usa-label" for="file">Or a CSV file</label>
<input class="usa-file-input plain-file" id="file" name="file" type="file" accept=".csv,text/csv"></div>
<div class="field"><label class="usa-label" for="board">Board of every row that has no column board</label>
${boardSelect('Each row names its board', board)}</div>
<button class="usa-button" type="submit">Check the list</button>
</form>`;
}

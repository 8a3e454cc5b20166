import { cautionsOf, NAME_DOES_NOT_MATCH } from '../licenses/cautions.ts';
import { notFoundDetail } from '../licenses/not-found.ts';
import { type RosterResult, type RosterSummary, rosterOutcome, summaryInWords } from '../rosters/roster.ts';
import { licenseLink } from './addresses.ts';
import { statusTags } from './license-status.ts';
import { boardSelect } from './lookup-form.ts';
import { type Html, html, NOTHING, type Origin } from './page.ts';
import { counted, longDate, shortDate } from './words.ts';

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

/** A list's answer. */
interface AnsweredRoster {
  readonly summary: RosterSummary;
  readonly results: readonly RosterResult[];
  readonly origin: Origin;
}

/** What a row needs, in the order of the table: what needs attention comes first. */
const NEEDS = ['attention', 'not_found', 'invalid', 'clear'] as const;
type Need = (typeof NEEDS)[number];

const RESULT_WORDS: Readonly<Record<Need, string>> = {
  attention: 'Needs attention',
  not_found: 'Not found',
  invalid: 'Not understood',
  clear: 'Clear',
};

function needOf({ outcome }: RosterResult, today: string): Need {
  if (outcome.outcome === 'found') {
    return cautionsOf(outcome.record, today, outcome.nameMatch).length === 0 ? 'clear' : 'attention';
  }
  const word = rosterOutcome(outcome);
  return word === 'not_found' || word === 'invalid' ? word : 'attention';
}

/** The summary and the table of a list's answer, with a button that sends the list again for a CSV file. */
export function rosterResults(
  { summary, results, origin }: AnsweredRoster,
  sent: { readonly text: string; readonly board: string },
  today: string,
): Html {
  const rows = results.map((result) => ({ result, need: needOf(result, today) }));
  const ordered = NEEDS.flatMap((need) => rows.filter((each) => each.need === need));
  return html`<p class="summary">${summaryInWords(summary)}</p>
<form class="no-print" action="/roster" method="post" enctype="multipart/form-data"><textarea class="sent" name="roster" aria-hidden="true" tabindex="-1" readonly>${sent.text}</textarea><input type="hidden" name="board" value="${sent.board}"><input type="hidden" name="format" value="csv"><button class="usa-button usa-button--outline" type="submit">Download as CSV</button></form>
<table class="usa-table usa-table--borderless cards results"><caption>${counted(results.length, 'row')}, those that need attention first <span class="source">State of Ohio dataset of ${longDate(origin.date)}</span></caption>
<thead><tr><th scope="col">Row</th><th scope="col">Result</th><th scope="col">License</th><th scope="col">Name</th><th scope="col">Status</th><th scope="col">Expires</th><th scope="col">Note</th></tr></thead>
<tbody>${ordered.map(({ result, need }) => row(result, result.outcome.outcome === 'several' ? 'Several fit' : RESULT_WORDS[need], origin.date, today))}</tbody></table>
<div class="no-print"><h2>Check another list</h2>
${rosterForm('', sent.board)}</div>`;
}

interface Cells {
  readonly license?: Html;
  readonly name?: string;
  readonly status?: Html;
  readonly expires?: string;
  readonly note?: Html | string;
}

function row(result: RosterResult, words: string, date: string, today: string): Html {
  const {
    license = NOTHING,
    name = '',
    status = NOTHING,
    expires = '',
    note = '',
  } = cells(result, date, today);
  const reference = result.reference ?? String(result.index + 1);
  return html`
<tr><th scope="row" data-label="Row">${reference}</th><td data-label="Result">${words}</td><td data-label="License">${license}</td><td data-label="Name">${name}</td><td data-label="Status">${status}</td><td data-label="Expires">${expires}</td><td data-label="Note">${note}</td></tr>`;
}

function cells({ outcome, foundBy }: RosterResult, date: string, today: string): Cells {
  switch (outcome.outcome) {
    case 'found': {
      const { record, nameMatch } = outcome;
      return {
        license: licenseLink(record),
        name: record.full_name,
        status: statusTags(record, today, nameMatch),
        expires: record.expiry_date === null ? 'Not stated' : shortDate(record.expiry_date),
        note:
          nameMatch === false
            ? html`<strong>${NAME_DOES_NOT_MATCH}</strong>`
            : foundBy === 'name'
              ? 'The only one that fits: compare it.'
              : '',
      };
    }
    case 'several':
      return {
        license: html`${outcome.records.map((record) => html`<p>${licenseLink(record)} ${statusTags(record, today)}</p>`)}`,
        note: `${outcome.truncated ? 'More than ' : ''}${counted(outcome.records.length, 'license')} fit. Add the number, or more of the name.`,
      };
    case 'invalid':
      return { note: outcome.detail };
    default: {
      const near = outcome.request.by === 'number' ? [] : outcome.didYouMean;
      return {
        note: `${notFoundDetail(outcome, date)}${near.length > 0 ? ` Similar names: ${near.join(', ')}.` : ''}`,
      };
    }
  }
}

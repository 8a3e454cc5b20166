import { raw } from 'hono/html';
import type { Separator } from '../csv.ts';
import { mapFilters } from '../licenses/filters.ts';
import { type ListColumns, MAX_ROWS_ABOVE, MEANINGS, type Meaning } from '../rosters/columns.ts';
import type { List } from '../rosters/list.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { boardSelect } from './lookup-form.ts';
import { type FieldProblem, formField, type Html, html, NOTHING } from './page.ts';
import { count } from './words.ts';

/** A list as its form sends it again: what follows from it need not be asked twice. */
export interface SentList extends Pick<List, 'text'> {
  readonly separator?: Separator;
  /** Which sheet of a workbook it is, in words; empty for a text. */
  readonly sheet?: string;
  /** The code of the board of every row that names none; empty for none. */
  readonly board: string;
  /** A hash of what the page of the answer showed; absent before there is one. */
  readonly shown?: string;
  /** What the columns were said to mean; `undefined` where that follows from the list. */
  readonly columns?: ChosenColumns | undefined;
}

/** What a visitor said of the columns. */
export type ChosenColumns = Pick<ListColumns, 'headerAt' | 'meanings'>;

/** What a column means, in words. */
export const MEANING_WORDS: Readonly<Record<Meaning, string>> = {
  license_number: 'License number',
  name: 'Whole name of a person or business',
  last_name: 'Last name',
  first_name: 'First name',
  business_name: 'Business name',
  board: 'Board',
  license_state: 'State that issued the license',
  credential_type: 'Kind of license, such as RN',
  reference: 'Your own reference, such as an employee number',
  search_type: 'Type of search',
  ...mapFilters(({ label }) => label),
};

/** The form of a list: pasted, or as a file. */
export function rosterForm(sent: SentList, problems: readonly FieldProblem[]): Html {
  return html`<p class="intro">Up to ${count(MAX_ITEMS)} licenses at once. Copy the rows out of your spreadsheet and paste them, or choose the file. Nothing is stored unless you save the check.</p>
<form action="/roster" method="post" enctype="multipart/form-data" aria-label="Check a list">
${formField(
  {
    id: 'roster',
    label: 'Paste your list',
    hint: html`A license number in each row is enough. Better: with names, so that a mistyped number is noticed. Leave the row that names the columns in. <a href="/roster/template.csv">Download a template</a>`,
    problems,
  },
  (attributes) =>
    html`<textarea class="usa-textarea" name="roster" spellcheck="false" rows="8"${attributes}>${sent.text}</textarea>`,
)}${formField(
  {
    id: 'file',
    label: 'Or choose a file',
    hint: 'A workbook (.xlsx, .xls, .ods), or a text file such as .csv, as your spreadsheet program saves it',
    problems,
  },
  (attributes) =>
    html`<input class="usa-file-input plain-file" name="file" type="file" accept=".xlsx,.xls,.ods,.csv,.tsv,.txt,text/csv,text/plain"${attributes}>`,
)}<div class="field"><label class="usa-label" for="board">Board of the rows that name none</label>
<span class="usa-hint display-block">A number without a board is looked up at all 24 boards. A person’s name without a number needs one.</span>
${boardSelect('None: look numbers up at all 24 boards', sent.board)}</div>
<button class="usa-button" type="submit">Check the list</button>
</form>`;
}

/** The fields by which a form sends a list again. */
export function sentFields({ text, separator, sheet, board, columns }: SentList, withBoard = true): Html {
  const { headerAt, meanings = [] } = columns ?? {};
  return html`<textarea class="sent" name="roster" aria-hidden="true" tabindex="-1" readonly>
${text}</textarea>${withBoard ? html`<input type="hidden" name="board" value="${board}">` : NOTHING}${
    separator === undefined ? NOTHING : html`<input type="hidden" name="separator" value="${separator}">`
  }${sheet ? html`<input type="hidden" name="sheet" value="${sheet}">` : NOTHING}${
    columns === undefined
      ? NOTHING
      : html`<input type="hidden" name="header" value="${headerText(headerAt)}">`
  }${meanings.map((meaning) => html`<input type="hidden" name="column" value="${meaning ?? ''}">`)}`;
}

/** The row of the header as the form sends it: from 1, empty for none. */
function headerText(headerAt: number | undefined): string {
  return headerAt === undefined ? '' : String(headerAt + 1);
}

const MAX_EXAMPLES = 3;
const MAX_EXAMPLE_CHARACTERS = 40;

function shortened(text: string): string {
  return text.length > MAX_EXAMPLE_CHARACTERS ? `${text.slice(0, MAX_EXAMPLE_CHARACTERS)}…` : text;
}

/** Asks what each column is, with the first texts of each, and which row names them. */
export function columnsQuestion(
  { rows }: Pick<List, 'rows'>,
  guessed: ChosenColumns,
  doubts: readonly string[],
  sent: SentList,
  problems: readonly FieldProblem[],
): Html {
  const { headerAt, meanings } = guessed;
  const header = headerAt === undefined ? undefined : rows[headerAt];
  const below = rows.slice(headerAt === undefined ? 0 : headerAt + 1);
  return html`<p class="intro">Say what is in each column. A license number or a name is needed; the others can help.</p>
${doubts.join('') === '' ? NOTHING : html`<ul>${doubts.map((doubt) => html`<li>${doubt}</li>`)}</ul>`}${sent.sheet ? html`<p>${sent.sheet}</p>` : NOTHING}
<form action="/roster" method="post" enctype="multipart/form-data" aria-label="Columns">
${sentFields({ ...sent, columns: undefined })}
${formField(
  { id: 'header', label: 'Which row names the columns?' },
  (attributes) =>
    html`<select class="usa-select" name="header"${attributes}>${option('', 'None: the first row is checked, too', headerAt === undefined)}${rows
      .slice(0, MAX_ROWS_ABOVE)
      .map((row, at) =>
        option(
          headerText(at),
          `Row ${row.number}: ${shortened(row.cells.filter((cell) => cell !== '').join(', '))}`,
          at === headerAt,
        ),
      )}</select>`,
)}${meanings.map((meaning, at) =>
  columnField(at, meaning, header?.cells[at], below, problems),
)}<button class="usa-button" type="submit">Check the list</button>
</form>`;
}

function columnField(
  at: number,
  meaning: Meaning | undefined,
  header: string | undefined,
  rows: List['rows'],
  problems: readonly FieldProblem[],
): Html {
  const examples = rows
    .map(({ cells }) => cells[at] ?? '')
    .filter((cell) => cell !== '')
    .slice(0, MAX_EXAMPLES)
    .map(shortened);
  const offered =
    MEANINGS.some((each) => each === meaning) || meaning === undefined ? MEANINGS : [...MEANINGS, meaning];
  return formField(
    {
      id: `column-${at + 1}`,
      label:
        header === undefined || header === '' ? `Column ${at + 1}` : `Column ${at + 1}: ${shortened(header)}`,
      hint: examples.length === 0 ? 'Empty in the first rows' : examples.join(' · '),
      problems,
    },
    (attributes) =>
      html`<select class="usa-select" name="column"${attributes}>${option('', 'Only kept', meaning === undefined)}${offered.map(
        (each) => option(each, MEANING_WORDS[each], each === meaning),
      )}</select>`,
  );
}

function option(value: string, words: string, isChosen: boolean): Html {
  return html`<option value="${value}"${isChosen ? raw(' selected') : NOTHING}>${words}</option>`;
}

import { plainCsv, type Separator } from '../csv.ts';
import { mapFilters } from '../licenses/filters.ts';
import { ROW_FIELDS } from '../licenses/row-lookup.ts';
import type { SavedRecordOf } from '../records/saved-records.ts';
import { type ListColumns, MAX_ROWS_ABOVE, MEANINGS, type Meaning } from '../rosters/columns.ts';
import type { List } from '../rosters/list.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { rowSections } from './list-rows.ts';
import { type FieldProblem, formField, type Html, html, selectField } from './page.ts';
import { BOARD_CHOICES } from './search-form.ts';
import { count, fieldLabel } from './words.ts';

/** A list with its settings. Forms send it along, so that the visitor need not answer the same questions again. */
export interface SentList extends Pick<List, 'text'> {
  readonly separator?: Separator;
  /** A sentence that names the sheet of the workbook; empty for a text. */
  readonly sheet?: string;
  /** The code of the board for rows that name none; empty if no board was chosen. */
  readonly board: string;
  /** The meanings that the visitor chose; `undefined` if the columns are to be recognized from the list. */
  readonly columns?: ChosenColumns | undefined;
}

/** The visitor's choice of the header row and of the meaning of each column. */
export type ChosenColumns = Pick<ListColumns, 'headerAt' | 'meanings'>;

/** The words for the meaning of a column. */
export const MEANING_WORDS: Readonly<Record<Meaning, string>> = {
  license_number: 'License number',
  name: 'Full name of a person or business',
  last_name: 'Last name',
  first_name: 'First name',
  business_name: 'Business name',
  board: 'Board',
  license_state: 'State that issued the license',
  credential_type: 'Kind of license, such as RN',
  reference: 'Your own reference, such as an employee number',
  search_type: 'Type of search',
  ...mapFilters((_, name) => fieldLabel(name)),
};

export const LIST_FORM = html`action="/roster" method="post" enctype="multipart/form-data"`;

/** The form for a list, which can be pasted or uploaded as a file. */
export function listForm(sent: SentList, problems: readonly FieldProblem[]): Html {
  return html`<p>Up to ${count(MAX_ITEMS)} licenses at once. Copy the rows out of your spreadsheet and paste them, or choose the file. Nothing is stored unless you save the check.</p>
<form ${LIST_FORM} aria-label="Check a list">
${formField(
  {
    id: 'roster',
    label: 'Paste your list',
    hint: html`A license number in each row is enough. Better: with names, so that a mistyped number is noticed. Include the header row, such as <code>Employee ID, Last name, License number</code>.`,
    problems,
  },
  (attributes) =>
    html`<textarea name="roster" spellcheck="false" rows="8"${attributes}>${sent.text}</textarea>`,
)}${formField(
  {
    id: 'file',
    label: 'Or choose a file',
    hint: 'A workbook (.xlsx, .xls, .ods), or a text file such as .csv, as your spreadsheet program saves it',
    problems,
  },
  (attributes) =>
    html`<input name="file" type="file" accept=".xlsx,.xls,.ods,.csv,.tsv,.txt,text/csv,text/plain"${attributes}>`,
)}${selectField(
  {
    id: 'board',
    label: 'Board for rows without one',
    hint: 'A number without a board is looked up at all 24 boards. A person’s name alone needs a board.',
  },
  'All 24 boards',
  BOARD_CHOICES,
  sent.board,
)}<button type="submit">Check the list</button>
</form>`;
}

/** The hidden fields with which a form sends the same list again. */
export function sentFields({ text, separator, sheet, board, columns }: SentList, withBoard = true): Html {
  const hidden = (name: string, value: string | undefined) =>
    value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`;
  return html`<textarea name="roster" hidden readonly>
${text}</textarea>${withBoard && hidden('board', board)}${hidden('separator', separator)}${sheet && hidden('sheet', sheet)}${columns && hidden('header', headerText(columns.headerAt))}${columns?.meanings.map((meaning) => hidden('column', meaning ?? ''))}`;
}

/** The form's value for the header row: counted from 1, empty if there is no header. */
function headerText(headerAt: number | undefined): string {
  return headerAt === undefined ? '' : String(headerAt + 1);
}

const MAX_EXAMPLES = 3;
const MAX_EXAMPLE_CHARACTERS = 40;

function shortened(text: string): string {
  return text.length > MAX_EXAMPLE_CHARACTERS ? `${text.slice(0, MAX_EXAMPLE_CHARACTERS)}…` : text;
}

/** Asks which row is the header, and what each column means. Shows the first few values of each column. */
export function columnsQuestion(
  { rows }: Pick<List, 'rows'>,
  { headerAt, meanings }: ChosenColumns,
  doubts: readonly string[],
  sent: SentList,
  problems: readonly FieldProblem[],
): Html {
  const header = headerAt === undefined ? undefined : rows[headerAt];
  const below = rows.slice(headerAt === undefined ? 0 : headerAt + 1);
  const headers = rows.slice(0, MAX_ROWS_ABOVE).map(({ number, cells }, at) => ({
    value: headerText(at),
    words: `Row ${number}: ${shortened(cells.filter((cell) => cell !== '').join(', '))}`,
  }));
  return html`<p>Say what is in each column. A license number or a name is needed; the others can help.</p>
${doubts.join('') !== '' && html`<ul>${doubts.map((doubt) => html`<li>${doubt}</li>`)}</ul>`}${sent.sheet && html`<p>${sent.sheet}</p>`}
<form ${LIST_FORM} aria-label="Columns">
${sentFields({ ...sent, columns: undefined })}
${selectField(
  { id: 'header', label: 'Which row is the header row?' },
  'None: the first row is checked, too',
  headers,
  headerText(headerAt),
)}${meanings.map((meaning, at) =>
  columnField(at, meaning, header?.cells[at] ?? '', below, problems),
)}<button type="submit">Check the list</button>
</form>`;
}

function columnField(
  at: number,
  meaning: Meaning | undefined,
  header: string,
  rows: List['rows'],
  problems: readonly FieldProblem[],
): Html {
  const examples = rows
    .map(({ cells }) => cells[at] ?? '')
    .filter((cell) => cell !== '')
    .slice(0, MAX_EXAMPLES)
    .map(shortened);
  const offered = new Set<Meaning>(meaning === undefined ? MEANINGS : [...MEANINGS, meaning]);
  const field = {
    id: `column-${at + 1}`,
    label: `Column ${at + 1}${header === '' ? '' : `: ${shortened(header)}`}`,
    hint: examples.length === 0 ? 'This column is empty' : examples.join(' · '),
    problems,
  };
  const choices = Array.from(offered, (each) => ({ value: each, words: MEANING_WORDS[each] }));
  return selectField(field, 'Not used', choices, meaning, 'column');
}

/** The result of a saved list, and a button that checks the same rows again. */
export function savedListBody({ rows, today, board }: SavedRecordOf<'list'>): Html {
  const used = ROW_FIELDS.filter((name) => rows.some(({ fields }) => fields[name] !== undefined));
  const cells = rows.map(({ fields }) => used.map((name) => fields[name] ?? ''));
  const text = plainCsv([[...used], ...cells], { delimiter: ',', newline: '\n' });
  const sent: SentList = { text, separator: ',', board, columns: { headerAt: 0, meanings: used } };
  return html`<form class="no-print" ${LIST_FORM} aria-label="This list">${sentFields(sent)}<button class="plain" type="submit">Check again</button></form>
<p>These results are from the day of the check. This page does not say what has changed since.</p>
${rowSections(rows, today)}`;
}

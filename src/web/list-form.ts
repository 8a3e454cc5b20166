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

/** A list as its form sends it again: what follows from it need not be asked twice. */
export interface SentList extends Pick<List, 'text'> {
  readonly separator?: Separator;
  /** Which sheet of a workbook it is, in words; empty for a text. */
  readonly sheet?: string;
  /** The code of the board of every row that names none; empty for none. */
  readonly board: string;
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
  ...mapFilters((_, name) => fieldLabel(name)),
};

/** The attributes of a form that sends a list. */
export const LIST_FORM = html`action="/roster" method="post" enctype="multipart/form-data"`;

/** The form of a list: pasted, or as a file. */
export function listForm(sent: SentList, problems: readonly FieldProblem[]): Html {
  return html`<p>Up to ${count(MAX_ITEMS)} licenses at once. Copy the rows out of your spreadsheet and paste them, or choose the file. Nothing is stored unless you save the check.</p>
<form ${LIST_FORM} aria-label="Check a list">
${formField(
  {
    id: 'roster',
    label: 'Paste your list',
    hint: html`A license number in each row is enough. Better: with names, so that a mistyped number is noticed. Leave the row that names the columns in, such as <code>Employee ID, Last name, License number</code>.`,
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
    label: 'Board, where a row has none',
    hint: 'A number without a board is looked up at all 24 boards. A person’s name without a number needs one.',
  },
  'All 24 boards, for numbers',
  BOARD_CHOICES,
  sent.board,
)}<button type="submit">Check the list</button>
</form>`;
}

/** The fields by which a form sends a list again. */
export function sentFields({ text, separator, sheet, board, columns }: SentList, withBoard = true): Html {
  const hidden = (name: string, value: string | undefined) =>
    value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`;
  return html`<textarea name="roster" hidden readonly>
${text}</textarea>${withBoard && hidden('board', board)}${hidden('separator', separator)}${sheet && hidden('sheet', sheet)}${columns && hidden('header', headerText(columns.headerAt))}${columns?.meanings.map((meaning) => hidden('column', meaning ?? ''))}`;
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
  { id: 'header', label: 'Which row names the columns?' },
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
    hint: examples.length === 0 ? 'Empty in the first rows' : examples.join(' · '),
    problems,
  };
  const choices = Array.from(offered, (each) => ({ value: each, words: MEANING_WORDS[each] }));
  return selectField(field, 'Not used', choices, meaning, 'column');
}

/** What a saved list showed, and the button that checks the same rows again. */
export function savedListBody({ rows, today, board }: SavedRecordOf<'list'>): Html {
  const used = ROW_FIELDS.filter((name) => rows.some(({ fields }) => fields[name] !== undefined));
  const cells = rows.map(({ fields }) => used.map((name) => fields[name] ?? ''));
  const text = plainCsv([[...used], ...cells], { delimiter: ',', newline: '\n' });
  const sent: SentList = { text, separator: ',', board, columns: { headerAt: 0, meanings: used } };
  return html`<form class="no-print" ${LIST_FORM} aria-label="This list">${sentFields(sent)}<button class="plain" type="submit">Check again</button></form>
${rowSections(rows, today)}`;
}

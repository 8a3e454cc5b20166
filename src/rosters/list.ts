import {
  decodedText,
  firstRows,
  type ListFormat,
  type NumberedRow,
  readRows,
  type Separator,
  withFormulas,
} from '../csv.ts';
import { visibleText } from '../licenses/fold.ts';
import { BadRequestError, MAX_CHARACTERS } from '../licenses/lookup.ts';
import { isLikeNumber, numbersIn, partsOfText } from '../licenses/number-forms.ts';
import type { RowFields } from '../licenses/row-lookup.ts';
import {
  headerRowOf,
  type ListColumns,
  MAX_COLUMNS,
  MAX_ROWS_ABOVE,
  type Meaning,
  rosterColumns,
} from './columns.ts';
import { MAX_ITEMS } from './roster.ts';
import { isWorkbook, readWorkbook } from './workbook.ts';

/** A list as a person has it: pasted, or a file of a spreadsheet program. */
export interface List {
  /** All rows, those above the header too, without empty ones. */
  readonly rows: readonly NumberedRow[];
  /** The list as text: read again with the same separator, it has the same rows. */
  readonly text: string;
  readonly format: ListFormat;
  /** Of a workbook: the sheet that was read, and the others that have text. */
  readonly sheet?: { readonly name: string; readonly others: readonly string[] };
}

/** A list whose columns are known: what is looked up, and what an answer repeats. */
export interface Table {
  readonly columns: readonly string[];
  readonly meanings: readonly (Meaning | undefined)[];
  /** A row may have fewer or more cells than there are columns. */
  readonly rows: readonly NumberedRow[];
  readonly format: ListFormat;
  /** The numbers of rows that were left out: they repeat the names of the columns, or are totals. */
  readonly leftOut: readonly number[];
  /** The numbers of rows above the one that names the columns. */
  readonly above: readonly number[];
}

/** A form that sends a list again has a megabyte for it and for everything else. */
const MAX_TEXT_BYTES = 900_000;

const MAX_ROWS = MAX_ITEMS + MAX_ROWS_ABOVE + 1;

/**
 * Reads a list: a workbook of a spreadsheet program, or text in UTF-8, UTF-16 or Windows-1252, separated by commas,
 * semicolons, tabs or pipes. Of a workbook, the first sheet whose columns have known names is read.
 *
 * @param known what separates the cells of a text that was read before
 * @throws {BadRequestError} saying what to do, for what is no list or too large
 * @throws what `readWorkbook` does
 */
export async function readList(sent: string | Buffer, known?: Separator): Promise<List> {
  if (typeof sent !== 'string' && isWorkbook(sent)) {
    const sheets = await readWorkbook(sent);
    const named = sheets.find(({ text }) => headerRowOf(firstRows(Buffer.from(text), ',')));
    const { name, text } = named ?? sheets[0] ?? { name: '', text: '' };
    const others = sheets.map((sheet) => sheet.name).filter((other) => other !== name);
    return { ...(await readList(text, ',')), sheet: { name, others } };
  }
  const text = typeof sent === 'string' ? sent : decodedText(sent);
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw new BadRequestError(
      `The list has more than ${MAX_TEXT_BYTES / 1000} KB of text. Split it, or remove columns.`,
    );
  }
  const options = { findHeader: headerRowOf, maxRows: MAX_ROWS, keepsEmpty: false };
  const { rows, format } = await readRows(text, { ...options, separator: known });
  if (rows.length > MAX_ROWS) throw tooManyRows();
  const widest = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  if (widest > MAX_COLUMNS) {
    throw new BadRequestError(`A row has ${widest} columns; at most ${MAX_COLUMNS} are taken. Remove some.`);
  }
  return { rows: withoutBullets(rows), text, format };
}

/**
 * Reads the list of a program: its first row names the columns.
 *
 * @throws {BadRequestError} for columns that are not clear, broken quotation marks, or more than `MAX_ITEMS` rows
 */
export async function readTable(text: string): Promise<Table> {
  // The first row is the header.
  const options = { findHeader: headerRowOf, maxRows: MAX_ITEMS + 1, keepsEmpty: true };
  const { rows, format } = await readRows(text, options);
  if (rows.length > MAX_ITEMS + 1) throw tooManyRows();
  const { columns, meanings } = rosterColumns(rows.map(({ cells }) => cells));
  return { columns, meanings, rows: rows.slice(1), format, leftOut: [], above: [] };
}

function tooManyRows(): BadRequestError {
  return new BadRequestError(`The list has more than ${MAX_ITEMS.toLocaleString('en-US')} rows. Split it.`);
}

const BULLET = /^[•‣▪●○◦·*–—-]\s+/;
const PLACE = /^(\d{1,4})[.)]\s+/;
/** Of the rows of a list with bullets. Its header has none. */
const MOST = 0.6;

/** Rows without the bullets and the numbering, from 1, that people put before them. `35. 700007` is a number. */
function withoutBullets(rows: readonly NumberedRow[]): readonly NumberedRow[] {
  const firsts = rows.map(({ cells: [first = ''] }) => first.trimStart());
  const places = firsts.flatMap((first) => PLACE.exec(first)?.[1] ?? []);
  const isCounted = places.every((place, at) => Number(place) === at + 1);
  const marked = firsts.filter((first) => BULLET.test(first)).length + (isCounted ? places.length : 0);
  if (marked === 0 || marked < rows.length * MOST) return rows;
  return rows.map(({ number, cells: [first = '', ...others] }) => {
    const text = first.trimStart().replace(BULLET, '');
    return { number, cells: [isCounted ? text.replace(PLACE, '') : text, ...others] };
  });
}

/** A row for each license of a list, below the row that names the columns. @throws {BadRequestError} for none, or too many */
export function tableOf({ rows, format }: List, { headerAt, header, meanings }: ListColumns): Table {
  const below = rows.slice(headerAt === undefined ? 0 : headerAt + 1);
  if (below.length === 0) throw new BadRequestError('The list has no rows below the names of its columns.');
  const headers = new Set(rows.slice(0, rows.length - below.length).map(rowKey));
  const isLeftOut = (row: NumberedRow) => headers.has(rowKey(row)) || isFooter(row);
  const checked = below.filter((row) => !isLeftOut(row)).flatMap((row) => rowsOfNumbers(row, meanings));
  if (checked.length > MAX_ITEMS) throw tooManyRows();
  const columns = meanings.map((meaning, at) => header[at] || meaning || `column ${at + 1}`);
  const numbersOf = (some: readonly NumberedRow[]) => some.map(({ number }) => number);
  const [leftOut, above] = [numbersOf(below.filter(isLeftOut)), numbersOf(rows.slice(0, headerAt ?? 0))];
  return { columns, rows: checked, format, meanings, leftOut, above };
}

function rowKey({ cells }: NumberedRow): string {
  return JSON.stringify(cells.map((cell) => cell.trim().toLowerCase()));
}

/** How lines begin that reports have below and between their rows. `Total Care` is a business. */
const FOOTER =
  /^(?:(?:grand |sub-?)?totals?\b[^a-z]*(?:$|(?:number|count|rows|records|employees|nurses|staff|licenses)\b)|page:? \d|end of (?:list|report|file)\b|(?:printed|generated|exported|run date)\b.*\d|\d+ (?:rows|records|employees|licenses)\b)/i;

function isFooter({ cells }: NumberedRow): boolean {
  const filled = cells.filter((cell) => cell.trim() !== '');
  if (filled.length > 2 || filled.some(isLikeNumber)) return false;
  return FOOTER.test(filled[0]?.trim().slice(0, MAX_CHARACTERS) ?? '');
}

/** A row for each number that its cells have, with the state, type and board beside it where there are as many. */
function rowsOfNumbers(row: NumberedRow, meanings: readonly (Meaning | undefined)[]): NumberedRow[] {
  const places = [...meanings.keys()].filter((at) => meanings[at] === 'license_number');
  const numbers = places.flatMap((at) => numbersIn(row.cells[at] ?? '').filter((number) => number !== ''));
  if (numbers.length < 2) return [row];
  return numbers.map((number, nth) => ({
    number: row.number,
    cells: row.cells.map((cell, at) => {
      const meaning = meanings[at];
      if (meaning === 'license_number') return at === places[0] ? number : '';
      const beside = meaning === undefined || !BESIDE.has(meaning) ? [] : partsOfText(cell);
      return beside.length === numbers.length ? (beside[nth] ?? '') : cell;
    }),
  }));
}

const BESIDE: ReadonlySet<Meaning> = new Set(['license_state', 'credential_type', 'board']);

/**
 * The texts of a row that are read.
 *
 * @throws {BadRequestError} for a row of a program with more cells than the header: its cells may have moved
 */
export function rowFields(
  { columns, meanings }: Pick<Table, 'columns' | 'meanings'>,
  cells: readonly string[],
): RowFields {
  if (cells.length > columns.length) {
    throw new BadRequestError(
      `The row has ${cells.length} cells, but the header row has ${columns.length}: put quotation marks around a cell that has a separator in it.`,
    );
  }
  const entries = meanings.flatMap((meaning, at) => {
    const text = meaning === undefined ? '' : textOf(cells[at] ?? '');
    return meaning === undefined || text === '' ? [] : [[meaning, text] as const];
  });
  return Object.fromEntries(entries);
}

/** The text of a cell. `="0123"` keeps a spreadsheet from dropping zeros. */
function textOf(cell: string): string {
  const text = visibleText(withFormulas(cell)).trim().replace(/\r\n?/g, '\n');
  return text.startsWith('="') && text.endsWith('"') ? text.slice(2, -1).replaceAll('""', '"') : text;
}

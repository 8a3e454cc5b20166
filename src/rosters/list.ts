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

/** A list from a person: pasted text, or a file of a spreadsheet program. */
export interface List {
  /** All rows except empty ones, including the rows above the header. */
  readonly rows: readonly NumberedRow[];
  /** The list as text. Reading it again with the same separator gives the same rows. */
  readonly text: string;
  readonly format: ListFormat;
  /** For a workbook: the sheet that was read, and the other sheets with text. */
  readonly sheet?: { readonly name: string; readonly others: readonly string[] };
}

/** A list with known columns: the data to look up, and the data that an answer repeats. */
export interface Table {
  readonly columns: readonly string[];
  readonly meanings: readonly (Meaning | undefined)[];
  /** A row may have fewer or more cells than there are columns. */
  readonly rows: readonly NumberedRow[];
  readonly format: ListFormat;
  /** The numbers of the rows that were left out, because they repeat the header or are footers such as totals. */
  readonly leftOut: readonly number[];
  /** The numbers of the rows above the header. */
  readonly above: readonly number[];
}

/** A form that sends a list again has at most a megabyte for the list and everything else. */
const MAX_TEXT_BYTES = 900_000;

const MAX_ROWS = MAX_ITEMS + MAX_ROWS_ABOVE + 1;

/**
 * Reads a list: a workbook of a spreadsheet program, or text in UTF-8, UTF-16 or Windows-1252, separated by commas,
 * semicolons, tabs or pipes. In a workbook, reads the first sheet whose columns have known names.
 *
 * @param known the separator of a text that was read before
 * @throws {BadRequestError} saying what to do, if the input is not a list or is too large
 * @throws the errors of `readWorkbook`
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
    throw new BadRequestError(`A row has ${widest} columns; the limit is ${MAX_COLUMNS}. Remove some.`);
  }
  return { rows: withoutBullets(rows), text, format };
}

/**
 * Reads a list from a program, whose first row names the columns.
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
/** The share of rows that must have a bullet or number. The header has none. */
const MOST = 0.6;

/** Removes the bullets, or the numbering from 1, that people put before rows. `35. 700007` is a license number. */
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

/** Makes a table with a row for each license below the header. @throws {BadRequestError} for no rows or too many */
export function tableOf({ rows, format }: List, { headerAt, header, meanings }: ListColumns): Table {
  const below = rows.slice(headerAt === undefined ? 0 : headerAt + 1);
  if (below.length === 0) throw new BadRequestError('The list has no rows below the header row.');
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

/** The beginnings of the lines that reports have below and between their rows. `Total Care` is a business. */
const FOOTER =
  /^(?:(?:grand |sub-?)?totals?\b[^a-z]*(?:$|(?:number|count|rows|records|employees|nurses|staff|licenses)\b)|page:? \d|end of (?:list|report|file)\b|(?:printed|generated|exported|run date)\b.*\d|\d+ (?:rows|records|employees|licenses)\b)/i;

function isFooter({ cells }: NumberedRow): boolean {
  const filled = cells.filter((cell) => cell.trim() !== '');
  if (filled.length > 2 || filled.some(isLikeNumber)) return false;
  return FOOTER.test(filled[0]?.trim().slice(0, MAX_CHARACTERS) ?? '');
}

/**
 * Splits a row into one row for each of its license numbers. Cells with a state, type or board are split, too, if they
 * have as many parts as there are numbers.
 */
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
 * The texts of a row by the meanings of their columns.
 *
 * @throws {BadRequestError} if the row has more cells than the header, because its cells may be in the wrong columns
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

/** The text of a cell. A cell may be `="0123"`, a formula that keeps a spreadsheet from dropping zeros. */
function textOf(cell: string): string {
  const text = visibleText(withFormulas(cell)).trim().replace(/\r\n?/g, '\n');
  return text.startsWith('="') && text.endsWith('"') ? text.slice(2, -1).replaceAll('""', '"') : text;
}

import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsvError, type Options, parse } from 'csv-parse';
import { parse as parseAtOnce } from 'csv-parse/sync';
import { BadRequestError } from './licenses/lookup.ts';
import { writeWhole } from './storage/whole-file.ts';

/** A value in a CSV file; null is written as an empty cell. */
export type Cell = string | number | null;

/** The delimiter and line break of a CSV file. */
export interface CsvFormat {
  readonly delimiter: ',' | ';';
  readonly newline: string;
}

/** A longer row means that a quotation mark was left open. A request has no more bytes than this. */
const MAX_ROW_CHARACTERS = 1024 * 1024;

/** The characters that may separate the cells of a list. */
export const SEPARATORS = [',', ';', '\t', '|'] as const;
export type Separator = (typeof SEPARATORS)[number];

/**
 * How quotation marks are read. `strict` follows RFC 4180. `loose` treats a quotation mark inside an unquoted cell as
 * text (`6" shelf`). `text` treats every quotation mark as text, as in cells copied from a spreadsheet.
 */
export type Quotes = 'strict' | 'loose' | 'text';

/** The format of a list's cells. */
export interface CellFormat {
  readonly separator: Separator;
  readonly quotes: Quotes;
}

/** The format of a list. The response to a list has the same format. */
export interface ListFormat extends CellFormat {
  readonly newline: string;
  readonly hasByteOrderMark: boolean;
}

function options({ separator, quotes }: CellFormat): Options {
  return {
    bom: true,
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: MAX_ROW_CHARACTERS,
    quote: quotes === 'text' ? false : '"',
    relax_quotes: quotes === 'loose',
  };
}

/** DOS programs end a text file with Ctrl-Z. */
const EMPTY_LINES: ReadonlySet<string | undefined> = new Set(['', '\u001a']);

/** A quotation mark is not closed, or not doubled inside a cell. */
class BrokenQuotesError extends BadRequestError {
  constructor(row: number) {
    super(`Row ${row} of the CSV has a quotation mark that is not closed, or not doubled inside a cell.`);
  }
}

/** A row and its number as a spreadsheet shows it: starting at 1 and counting empty rows. */
export interface NumberedRow {
  readonly number: number;
  readonly cells: readonly string[];
}

/**
 * The rows of a CSV file, header row first. Each row has the byte offset of its end; empty lines are skipped.
 *
 * @param chunks the file's text or bytes
 * @throws {BrokenQuotesError} for quotation marks that do not fit the format
 */
export async function* csvRows(
  chunks: AsyncIterable<string | Buffer>,
  format: CellFormat,
): AsyncGenerator<NumberedRow & { readonly end: number }, void, undefined> {
  const parser = parse({ ...options(format), info: true });
  // The loop below throws any error of the parser or of the chunks.
  pipeline(Readable.from(chunks), parser, () => undefined);
  const rows: AsyncIterable<{ record: string[]; info: { bytes: number } }> = parser;
  let number = 0;
  try {
    for await (const { record: cells, info } of rows) {
      number += 1;
      // In this case the library may have shifted cells: a quotation mark that opens a cell is closed in the middle of
      // it.
      if (format.quotes === 'loose' && cells.some((cell) => cell.startsWith('"')))
        throw new BrokenQuotesError(number);
      if (cells.length > 1 || !EMPTY_LINES.has(cells[0])) yield { number, cells, end: info.bytes };
    }
  } catch (error) {
    throw error instanceof CsvError ? new BrokenQuotesError(Number(error.records) + 1) : error;
  }
}

/**
 * Reads rows with the first interpretation of quotation marks that fits all of them.
 *
 * @throws {BadRequestError} if none fits
 */
export async function withQuotes<Result>(
  beginning: Omit<ListFormat, 'quotes'>,
  read: (format: ListFormat) => Promise<Result>,
): Promise<Result> {
  const isCopied = beginning.separator === '\t' || beginning.separator === '|';
  const meanings = isCopied ? (['strict', 'loose', 'text'] as const) : (['strict', 'loose'] as const);
  let broken: unknown;
  for (const quotes of meanings) {
    try {
      return await read({ ...beginning, quotes });
    } catch (error) {
      if (!(error instanceof BrokenQuotesError)) throw error;
      broken ??= error;
    }
  }
  throw broken;
}

/** After reading this many bytes, which may hold as many cells, the process serves other requests. */
const BYTES_READ_AT_ONCE = 16 * 1024;

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += BYTES_READ_AT_ONCE) {
    yield bytes.subarray(at, at + BYTES_READ_AT_ONCE);
    await nextTurn();
  }
}

/** The first bytes of files that users mistake for lists, and advice for each. */
const OTHER_FILES = [
  ['%PDF', 'This is a PDF. Choose the spreadsheet it was made from, or copy the numbers and paste them.'],
  ['{\\rtf', 'This is a text document. Copy its list and paste it.'],
  ['\x89PNG', 'This is a picture. Copy the list as text and paste it.'],
  ['\xff\xd8\xff', 'This is a picture. Copy the list as text and paste it.'],
  ['\x1f\x8b', 'This file is compressed. Unzip it, and choose the list.'],
] as const;

const NOT_TEXT =
  'The file cannot be read as a list. In your spreadsheet program, save the list as "CSV UTF-8" or as "Excel workbook (.xlsx)", and choose that file.';

/** Decodes a file as UTF-8, UTF-16 or Windows-1252. @throws {BadRequestError} if the file is not text */
export function decodedText(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 8);
  const [, advice] = OTHER_FILES.find(([magic]) => start.startsWith(magic)) ?? [];
  if (advice !== undefined) throw new BadRequestError(advice);
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true, ignoreBOM: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell other files from text
    if (!/[\x01-\x08\x0e-\x19\x1c-\x1f]/.test(text)) return text;
  } catch {
    // The bytes are not valid in that encoding.
  }
  throw new BadRequestError(NOT_TEXT);
}

const BYTES_LOOKED_AT = 1024;

/**
 * The encoding by its byte order mark. Without one: UTF-16 if many bytes in every other place are zero, UTF-8 if valid,
 * else Windows-1252.
 */
function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' {
  const [first = 0, second = 0] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const start = bytes.subarray(0, BYTES_LOOKED_AT);
  const zerosAt = (side: 0 | 1) => start.filter((byte, at) => byte === 0 && at % 2 === side).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  // Most characters of a list are ASCII, so every other byte is zero.
  if (odd > start.length / 4 && even < odd / 4) return 'utf-16le';
  if (even > start.length / 4 && odd < even / 4) return 'utf-16be';
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252';
}

/** The index of the header row among these rows, and how many columns it names; `undefined` without a header. */
export type FindHeader = (rows: readonly (readonly string[])[]) => { at: number; named: number } | undefined;

/** Only this many bytes are used to find a list's separator and columns. A header row of 200 columns is far shorter. */
export const BEGINNING_BYTES = 64 * 1024;

const ROWS_LOOKED_AT = 100;
const BYTE_ORDER_MARK = '\ufeff';

/** The format of a list, and how many bytes precede its first row: a byte order mark, and Excel's line `sep=;`. */
export function beginningOf(
  bytes: Buffer,
  findHeader: FindHeader,
  known?: Separator,
): Omit<ListFormat, 'quotes'> & { skipped: number } {
  const text = bytes.toString('utf8', 0, BEGINNING_BYTES);
  const hasByteOrderMark = text.startsWith(BYTE_ORDER_MARK);
  const mark = hasByteOrderMark ? BYTE_ORDER_MARK : '';
  const [line = '', named] = /^"?sep=([,;\t|])"?(?:\r\n|\r|\n)/i.exec(text.slice(mark.length)) ?? [];
  const skipped = Buffer.byteLength(mark + line);
  const end = text.search(/[\r\n]/);
  const newline = text.slice(end, end + 2) === '\r\n' ? '\r\n' : (text[end] ?? '\n');
  const ofLine = SEPARATORS.find((each) => each === named);
  return {
    separator: known ?? ofLine ?? separatorOf(bytes.subarray(skipped), findHeader),
    newline,
    hasByteOrderMark,
    skipped,
  };
}

/**
 * The first rows of a list, without empty rows. They come from the list's first bytes, so the last row may be
 * incomplete. Fewer rows are returned if a quotation mark is not closed.
 */
export function firstRows(bytes: Buffer, separator: Separator): string[][] {
  return parseAtOnce(bytes.subarray(0, BEGINNING_BYTES), {
    ...options({ separator, quotes: 'loose' }),
    skip_empty_lines: true,
    skip_records_with_error: true,
    to: ROWS_LOOKED_AT,
  });
}

/**
 * Guesses the separator of a list. With a header: the separator by which the header names the most columns and has
 * several cells, and by which the fewest rows are longer than the header. Without one: the separator by which the most
 * rows have several cells.
 */
function separatorOf(bytes: Buffer, findHeader: FindHeader): Separator {
  const candidates = SEPARATORS.toReversed().map((separator) => {
    const rows = firstRows(bytes, separator).map(withoutEmptyEnd);
    const header = findHeader(rows);
    const width = rows[header?.at ?? 0]?.length ?? 0;
    const tooLong = header === undefined ? 0 : rows.filter((row) => row.length > width).length;
    const several = rows.filter(({ length }) => length > 1).length / (rows.length + 1);
    // A list with a single column has no separator, and is read as comma-separated.
    const comma = separator === ',' && several === 0 ? 0.001 : 0;
    // A row that is too long does not count against a separator that the header uses.
    const inHeader = header !== undefined && width > 1 ? 2 * ROWS_LOOKED_AT : 0;
    return { separator, score: (header?.named ?? 0) * 1000 + inHeader - tooLong + several + comma };
  });
  const [best] = candidates.toSorted((one, other) => other.score - one.score);
  return best?.separator ?? ',';
}

export interface RowOptions {
  readonly findHeader: FindHeader;
  /** The separator, if an earlier reading already found it. */
  readonly separator?: Separator | undefined;
  readonly maxRows: number;
  /**
   * Whether to keep rows that contain only separators. If not, cells without text at the end of a row are dropped, too.
   */
  readonly keepsEmpty: boolean;
}

/**
 * The rows of a text, without empty lines.
 *
 * @returns at most `maxRows` + 1 rows, so that the caller notices when there are too many
 * @throws {BrokenQuotesError} for quotation marks that fit no format
 */
export function readRows(
  text: string,
  { findHeader, separator, maxRows, keepsEmpty }: RowOptions,
): Promise<{ rows: NumberedRow[]; format: ListFormat }> {
  const bytes = Buffer.from(text);
  const { skipped, ...beginning } = beginningOf(bytes, findHeader, separator);
  return withQuotes(beginning, async (format) => {
    const rows: NumberedRow[] = [];
    for await (const row of csvRows(pieces(bytes.subarray(skipped)), format)) {
      const cells = keepsEmpty ? row.cells : withoutEmptyEnd(row.cells);
      if (keepsEmpty || cells.length > 0) rows.push({ number: row.number, cells });
      if (rows.length > maxRows) break;
    }
    return { rows, format };
  });
}

function withoutEmptyEnd(row: readonly string[]): readonly string[] {
  return row.slice(0, row.findLastIndex((cell) => cell.trim() !== '') + 1);
}

/** Rows as CSV for programs. Cell values are not changed. */
export function plainCsv(rows: readonly (readonly Cell[])[], { delimiter, newline }: CsvFormat): string {
  const line = (cells: readonly Cell[]) =>
    cells.map((cell) => quoted(String(cell ?? ''), delimiter)).join(delimiter);
  return rows.map((cells) => line(cells) + newline).join('');
}

/**
 * Rows as CSV for spreadsheets. No cell can run as a formula, because an apostrophe precedes the sign that would start
 * the formula. This includes places where a spreadsheet starts a new cell in the middle of one of ours: it may separate
 * cells by semicolons, or treat the quotation mark before a line break as an ordinary character.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function spreadsheetCsv(
  rows: readonly (readonly Cell[])[],
  { delimiter, newline }: CsvFormat,
): string {
  const text = (cell: Cell) => {
    if (typeof cell !== 'string') return String(cell ?? '');
    const safe = withoutFormulas(cell, delimiter);
    return safe === cell ? quoted(cell, delimiter) : alwaysQuoted(safe);
  };
  return rows.map((cells) => cells.map(text).join(delimiter) + newline).join('');
}

/**
 * Writes a CSV file for spreadsheets, with cells as in `spreadsheetCsv`. The file appears only when complete, as with
 * `writeWhole`.
 *
 * @param rowsOf returns the rows of one item
 * @returns the number of items
 */
export async function writeSpreadsheet<Item>(
  path: string,
  header: readonly string[],
  pages: AsyncIterable<readonly Item[]>,
  rowsOf: (item: Item) => readonly (readonly Cell[])[],
): Promise<number> {
  const format = { delimiter: ',', newline: '\n' } as const;
  let items = 0;
  async function* text() {
    yield spreadsheetCsv([header], format);
    for await (const page of pages) {
      yield spreadsheetCsv(page.flatMap(rowsOf), format);
      items += page.length;
    }
  }
  await writeWhole(path, text());
  return items;
}

function quoted(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n\ufeff]|^[ ']| $/.test(text) ? alwaysQuoted(text) : text;
}

function alwaysQuoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Signs that start a formula, including their full-width forms. */
const SIGN = /[=+\-@＝＋－＠]/;
/** Characters that a spreadsheet may skip before the sign. */
const PASSED_OVER = String.raw`\s\p{C}"`;

const BEGINS_FORMULA = new RegExp(`^[${PASSED_OVER}]*${SIGN.source}|^[\\t\\r\\n]`, 'u');
/**
 * Every run of blanks, quotation marks and separators, with the sign after it. Each run can match in only one way, so
 * the match takes linear time.
 */
const RUNS = new RegExp(`[${PASSED_OVER},;]+${SIGN.source}?`, 'gu');

/** A cell as `spreadsheetCsv` writes it, before quotation marks are added. */
export function withoutFormulas(text: string, delimiter: string): string {
  if (!/[=+\-@＝＋－＠\t\r\n]/.test(text)) return text;
  const begins = delimiter === ',' ? /[;\t\r\n]/ : /[,\t\r\n]/;
  const inside = text.replace(RUNS, (run) =>
    SIGN.test(run) && begins.test(run) ? `${run.slice(0, -1)}'${run.slice(-1)}` : run,
  );
  return BEGINS_FORMULA.test(text) ? `'${inside}` : inside;
}

/** The cell before `spreadsheetCsv` changed it, so that a CSV response can be sent again as a roster. */
export function withFormulas(cell: string): string {
  return cell.startsWith("'") && BEGINS_FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
}

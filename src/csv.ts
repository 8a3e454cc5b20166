import { writeFile } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { parse as parseAtOnce } from 'csv-parse/sync';
import { BadRequestError } from './licenses/bad-request.ts';

/** A value of a CSV file; null is left empty. */
export type Cell = string | number | null;

/** How a CSV file is written. */
export interface CsvFormat {
  readonly delimiter: ',' | ';';
  readonly newline: string;
}

/** In a longer row, a quotation mark was left open. A request has no more bytes. */
const MAX_ROW_CHARACTERS = 1024 * 1024;

/** RFC 4180, with any line break. The library's only other setting for stray quotation marks would move cells. */
const READ: Options = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: MAX_ROW_CHARACTERS,
};

/**
 * The rows of a CSV file, the header row first; empty lines are left out.
 *
 * @param chunks its text or its bytes
 * @throws {BadRequestError} for quotation marks that are not closed, or not doubled inside a cell
 */
export async function* csvRows(
  chunks: AsyncIterable<string | Buffer>,
  delimiter: CsvFormat['delimiter'] | '\t',
): AsyncGenerator<string[], void, undefined> {
  const parser = parse({ ...READ, delimiter });
  // The loop below throws what the parser or the chunks fail with.
  pipeline(Readable.from(chunks), parser, () => undefined);
  const rows: AsyncIterable<string[]> = parser;
  try {
    yield* rows;
  } catch (error) {
    throw error instanceof CsvError ? brokenQuotes(error) : error;
  }
}

function brokenQuotes(error: CsvError): BadRequestError {
  const row = Number(error.records) + Number(error.empty_lines) + 1;
  return new BadRequestError(
    `Row ${row} of the CSV has a quotation mark that is not closed, or not doubled inside a cell.`,
  );
}

/** The first row of a CSV file. */
export interface FirstRow {
  readonly cells: readonly string[];
  /** How many bytes it has, with its line break and a byte order mark. */
  readonly bytes: number;
}

/** The first row in these bytes, which may end anywhere after it; without cells if there is none. */
export function firstCsvRow(start: Buffer, delimiter: CsvFormat['delimiter']): FirstRow {
  let bytes = 0;
  const onRecord: Options['on_record'] = (record, info) => {
    bytes = info.bytes;
    return record;
  };
  try {
    const options = { ...READ, delimiter, relax_quotes: true, to: 1, on_record: onRecord };
    return { cells: parseAtOnce(start, options)[0] ?? [], bytes };
  } catch (error) {
    if (error instanceof CsvError) return { cells: [], bytes };
    throw error;
  }
}

/** The first rows in these bytes, which may end anywhere; fewer where quotation marks are broken. */
export function firstCsvRows(
  start: Buffer,
  delimiter: CsvFormat['delimiter'] | '\t',
  most: number,
): string[][] {
  const rows: string[][] = [];
  try {
    const onRecord = (record: string[]) => {
      rows.push(record);
      return record;
    };
    parseAtOnce(start, { ...READ, delimiter, relax_quotes: true, to: most, on_record: onRecord });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
  }
  return rows;
}

/** Rows as CSV for a program: the cells as they are. */
export function plainCsv(rows: readonly (readonly Cell[])[], { delimiter, newline }: CsvFormat): string {
  const line = (cells: readonly Cell[]) =>
    cells.map((cell) => quoted(String(cell ?? ''), delimiter)).join(delimiter);
  return rows.map((cells) => line(cells) + newline).join('');
}

/**
 * Rows as CSV for people, whose spreadsheets run none of the cells as a formula: an apostrophe precedes its sign,
 * also where a spreadsheet begins a new cell in the middle of ours, because it separates by semicolons, say, or takes
 * the quotation mark before a line break for an ordinary character.
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

const OWNER_ALONE = 0o600;

/**
 * Writes a file for people, as `spreadsheetCsv` does, that only its owner can read.
 *
 * @param rowsOf the rows of an item
 * @returns how many items there were
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
  await writeFile(path, text(), { mode: OWNER_ALONE });
  return items;
}

function quoted(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n\ufeff]|^[ ']| $/.test(text) ? alwaysQuoted(text) : text;
}

function alwaysQuoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Signs that begin a formula, in their full-width form too. */
const SIGN = /[=+\-@＝＋－＠]/;
/** What a spreadsheet may pass over before the sign. */
const PASSED_OVER = String.raw`\s\p{C}"`;

const BEGINS_FORMULA = new RegExp(`^[${PASSED_OVER}]*${SIGN.source}|^[\\t\\r\\n]`, 'u');
/** Every run of blanks, marks and separators, with the sign after it. It has no second way to match, so it is linear. */
const RUNS = new RegExp(`[${PASSED_OVER},;]+${SIGN.source}?`, 'gu');

function withoutFormulas(text: string, delimiter: string): string {
  if (!/[=+\-@＝＋－＠\t\r\n]/.test(text)) return text;
  const begins = delimiter === ',' ? /[;\t\r\n]/ : /[,\t\r\n]/;
  const inside = text.replace(RUNS, (run) =>
    SIGN.test(run) && begins.test(run) ? `${run.slice(0, -1)}'${run.slice(-1)}` : run,
  );
  return BEGINS_FORMULA.test(text) ? `'${inside}` : inside;
}

/** A cell as it was before `spreadsheetCsv` wrote it, so that an answer can be a roster again. */
export function withFormulas(cell: string): string {
  return cell.startsWith("'") && BEGINS_FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
}

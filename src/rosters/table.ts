import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CsvFormat, csvRows, firstCsvRow, spreadsheetCsv, withFormulas } from '../csv.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { RESULT_COLUMNS, resultCells } from './result-columns.ts';
import { MAX_ITEMS } from './roster.ts';
import type { AnswerFormat } from './service.ts';

/** The columns of a roster that are read. Every other column is kept. */
const FIELD_COLUMNS = [
  'reference',
  'board',
  'license_number',
  'last_name',
  'first_name',
  'search_type',
  'business_name',
  ...FILTER_NAMES,
] as const;

/** A column that every way of looking up can do without says nothing about what the file is. */
const CRITERIA: readonly string[] = ['license_number', 'last_name', 'business_name'];

/** A hospital's export has dozens. */
const MAX_COLUMNS = 200;

const BYTE_ORDER_MARK = '\ufeff';

/** A roster as a CSV file. */
export interface RosterTable {
  readonly columns: readonly string[];
  /** Cells, in the order of the columns. A row may have fewer or more cells than there are columns. */
  readonly rows: readonly (readonly string[])[];
  readonly format: TableFormat;
}

/** How the file was written. An answer is written in the same way. */
export interface TableFormat extends CsvFormat {
  readonly hasByteOrderMark: boolean;
}

const DEFAULT_FORMAT: TableFormat = { delimiter: ',', newline: '\r\n', hasByteOrderMark: false };

/** Other requests get their turn after so many bytes, which may be as many cells. */
const READ_TOGETHER = 16 * 1024;

/**
 * Reads a roster with a header row, separated by commas or semicolons (RFC 4180).
 *
 * @throws {BadRequestError} for a file without the columns of a lookup, with broken quotation marks, or with more than
 * `MAX_ITEMS` rows
 */
export async function readTable(text: string): Promise<RosterTable> {
  const bytes = Buffer.from(text);
  const { columns, format } = readHeader(bytes);
  const rows: string[][] = [];
  for await (const row of csvRows(pieces(bytes), format.delimiter)) {
    rows.push(row);
    // The first row is the header.
    if (rows.length > MAX_ITEMS + 1) {
      throw new BadRequestError(`A roster takes at most ${MAX_ITEMS} rows; split this one.`);
    }
  }
  return { columns, rows: rows.slice(1), format };
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += READ_TOGETHER) {
    yield bytes.subarray(at, at + READ_TOGETHER);
    await nextTurn();
  }
}

/** A header row of 200 columns is far shorter. */
export const HEADER_BYTES = 64 * 1024;

const BYTE_ORDER_MARK_BYTES = Buffer.from(BYTE_ORDER_MARK);

/**
 * Reads only the header row.
 *
 * @param file its bytes, or only the first `HEADER_BYTES`
 * @throws {BadRequestError} for a header row without the columns of a lookup
 */
export function readHeader(file: Buffer): Pick<RosterTable, 'columns' | 'format'> {
  const start = file.subarray(0, HEADER_BYTES);
  const [comma, semicolon] = [firstCsvRow(start, ','), firstCsvRow(start, ';')];
  const isSemicolon = knownColumns(semicolon.cells) > knownColumns(comma.cells);
  const { cells: columns, bytes } = isSemicolon ? semicolon : comma;
  checkColumns(columns);
  return {
    columns,
    format: {
      delimiter: isSemicolon ? ';' : ',',
      newline: /\r\n$|\r$/.exec(start.toString('latin1', 0, bytes))?.[0] ?? '\n',
      hasByteOrderMark: start.indexOf(BYTE_ORDER_MARK_BYTES) === 0,
    },
  };
}

function knownColumns(columns: readonly string[]): number {
  return columns.filter((column) => isField(columnKey(column))).length;
}

function isField(key: string): boolean {
  return FIELD_COLUMNS.some((field) => field === key);
}

/** `License Number` names the column `license_number`. */
function columnKey(column: string): string {
  return column
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

function checkColumns(columns: readonly string[]): void {
  if (columns.length > MAX_COLUMNS) {
    throw new BadRequestError(
      `The header row has ${columns.length} columns; at most ${MAX_COLUMNS} are taken.`,
    );
  }
  const keys = columns.map(columnKey).filter(isField);
  if (!keys.some((key) => CRITERIA.includes(key))) {
    throw new BadRequestError(
      `The first row must name the columns; at least one of ${CRITERIA.join(', ')} is needed. ` +
        `These are read: ${FIELD_COLUMNS.join(', ')}.`,
    );
  }
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined) throw new BadRequestError(`The header row has more than one column ${twice}.`);
}

/** The fields of a row by name, for a lookup; or what is wrong with the row. */
export function rowReader({
  columns,
}: RosterTable): (cells: readonly string[]) => Readonly<Record<string, string>> | BadRequestError {
  const fields = columns
    .map((column, at) => ({ key: columnKey(column), at }))
    .filter(({ key }) => isField(key));
  return (cells) => {
    if (cells.length > columns.length) {
      return new BadRequestError(
        `The row has ${cells.length} cells, but the header row has ${columns.length}: put quotation marks around a cell that has a separator in it.`,
      );
    }
    return Object.fromEntries(fields.map(({ key, at }) => [key, withFormulas(cells[at] ?? '')]));
  };
}

/** The answer to a roster as a table: its rows and columns in their order, with the columns of the results. */
export function answerTable({ columns, rows, format }: RosterTable): AnswerFormat<Buffer> {
  // The file may be the answer to an earlier roster.
  const kept = [...columns.keys()].filter((at) => !isResultColumn(columns[at]));
  const keptCells = (cells: readonly string[]) => kept.map((at) => cells[at] ?? '');
  return {
    shape: (results, { date, today }) =>
      Buffer.from(
        spreadsheetCsv(
          results.map((result) => [
            ...keptCells(rows[result.index] ?? []),
            ...resultCells(result, date, today),
          ]),
          format,
        ),
      ),
    parts: ({ shaped }) => [
      Buffer.from(format.hasByteOrderMark ? BYTE_ORDER_MARK : ''),
      Buffer.from(spreadsheetCsv([[...keptCells(columns), ...RESULT_COLUMNS]], format)),
      ...shaped,
    ],
  };
}

function isResultColumn(column = ''): boolean {
  return RESULT_COLUMNS.some((name) => name === column);
}

/** The items of a JSON body as a table with the fields that any of them has. */
export function itemsTable(items: readonly unknown[]): RosterTable {
  const objects = items.map((item) => (isObject(item) ? item : {}));
  const columns = FIELD_COLUMNS.filter((column) => objects.some((item) => Object.hasOwn(item, column)));
  const rows = objects.map((item) => columns.map((column) => cellText(item[column])));
  return { columns, rows, format: DEFAULT_FORMAT };
}

function isObject(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeof item === 'object' && item !== null;
}

function cellText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

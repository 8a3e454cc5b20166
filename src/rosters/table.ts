import Papa from 'papaparse';
import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { type Cell, RESULT_COLUMNS, resultCells } from './result-columns.ts';
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

const DELIMITERS = [',', ';'] as const;

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
export interface TableFormat {
  readonly delimiter: (typeof DELIMITERS)[number];
  readonly newline: string;
  readonly hasByteOrderMark: boolean;
}

const DEFAULT_FORMAT: TableFormat = { delimiter: ',', newline: '\r\n', hasByteOrderMark: false };

/**
 * Reads a roster with a header row, separated by commas or semicolons (RFC 4180).
 *
 * @throws {BadRequestError} for a file without the columns of a lookup, with broken quotation marks, or with more than
 * `MAX_ITEMS` rows
 */
export function readTable(text: string): RosterTable {
  const { columns, format } = readHeader(text);
  const { data, errors } = Papa.parse<string[]>(text, {
    delimiter: format.delimiter,
    skipEmptyLines: true,
    preview: MAX_ITEMS + 2,
  });
  const [error] = errors;
  if (error !== undefined) throw brokenQuotes(error.row ?? 0);
  const [, ...rows] = data;
  if (rows.length > MAX_ITEMS) {
    throw new BadRequestError(`A roster takes at most ${MAX_ITEMS} rows; split this one.`);
  }
  return { columns, rows, format };
}

/** @param row the row's place in the file, from 0 for the header row */
export function brokenQuotes(row: number): BadRequestError {
  return new BadRequestError(
    `Row ${row + 1} of the CSV has a quotation mark that is not closed, or not doubled inside a cell.`,
  );
}

/**
 * Reads only the header row. The text may end anywhere after it.
 *
 * @throws {BadRequestError} for a header row without the columns of a lookup
 */
export function readHeader(text: string): Pick<RosterTable, 'columns' | 'format'> {
  const [byComma, bySemicolon] = DELIMITERS.map((delimiter) => {
    const { data, meta } = Papa.parse<string[]>(text, { delimiter, skipEmptyLines: true, preview: 1 });
    return { delimiter, columns: data[0] ?? [], newline: meta.linebreak };
  });
  if (byComma === undefined || bySemicolon === undefined) throw new Error('There are two separators.');
  const isSemicolon = knownColumns(bySemicolon.columns) > knownColumns(byComma.columns);
  const { columns, delimiter, newline } = isSemicolon ? bySemicolon : byComma;
  checkColumns(columns);
  return { columns, format: { delimiter, newline, hasByteOrderMark: text.startsWith(BYTE_ORDER_MARK) } };
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

/** The fields of each row by name, for a lookup; or what is wrong with the row. */
export function rowFields({
  columns,
  rows,
}: RosterTable): (Readonly<Record<string, string>> | BadRequestError)[] {
  const keys = columns.map(columnKey);
  return rows.map((cells) => {
    if (cells.length > columns.length) {
      return new BadRequestError(
        `The row has ${cells.length} cells, but the header row has ${columns.length}: put quotation marks around a cell that has a separator in it.`,
      );
    }
    return Object.fromEntries(
      keys.flatMap((key, at): [string, string][] => (isField(key) ? [[key, cells[at] ?? '']] : [])),
    );
  });
}

/**
 * Writes rows in a file's format. Cells that a spreadsheet would run as a formula begin with an apostrophe.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
function writeRows(rows: readonly (readonly Cell[])[], { delimiter, newline }: TableFormat): string {
  if (rows.length === 0) return '';
  return (
    Papa.unparse([...rows.map((row) => [...row])], { delimiter, newline, escapeFormulae: true }) + newline
  );
}

/** The answer to a roster as a table: its rows and columns in their order, with the columns of the results. */
export function answerTable({ columns, rows, format }: RosterTable, today: string): AnswerFormat<Buffer> {
  // The file may be the answer to an earlier roster.
  const kept = [...columns.keys()].filter((at) => !isResultColumn(columns[at]));
  const keptCells = (cells: readonly string[]) => kept.map((at) => cells[at] ?? '');
  return {
    shape: (results, { date }) =>
      Buffer.from(
        writeRows(
          results.map((result) => [
            ...keptCells(rows[result.index] ?? []),
            ...resultCells(result, date, today),
          ]),
          format,
        ),
      ),
    parts: ({ shaped }) => [
      Buffer.from(format.hasByteOrderMark ? BYTE_ORDER_MARK : ''),
      Buffer.from(writeRows([[...keptCells(columns), ...RESULT_COLUMNS]], format)),
      ...shaped,
    ],
  };
}

function isResultColumn(column = ''): boolean {
  return RESULT_COLUMNS.some((name) => name === column);
}

const bodyWithItems = z.object({ items: z.array(z.unknown()) });

/** The items of a JSON body as a table with the fields that any of them has. */
export function itemsTable(body: unknown): RosterTable {
  const items = bodyWithItems.parse(body).items.map((item) => new Map(Object.entries(item ?? {})));
  const columns = FIELD_COLUMNS.filter((column) => items.some((item) => item.has(column)));
  const rows = items.map((item) => columns.map((column) => cellText(item.get(column))));
  return { columns, rows, format: DEFAULT_FORMAT };
}

function cellText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

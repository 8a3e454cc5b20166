import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Cell, type CsvFormat, csvRows, firstCsvRow, spreadsheetCsv, withFormulas } from '../csv.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { NAME_DOES_NOT_MATCH } from '../licenses/cautions.ts';
import { lastScraped, type RecordOrigin, toResponseRecord } from '../licenses/license.ts';
import { lookupFields } from '../licenses/lookup.ts';
import { notFoundDetail, reasonOf } from '../licenses/not-found.ts';
import { EXTRA_DATA_LABELS } from '../licenses/status.ts';
import { MAX_ITEMS, type RosterResult, rosterOutcome } from './roster.ts';
import type { AnswerFormat } from './service.ts';

/** The columns of a roster that are read. Every other column is kept. */
const FIELD_COLUMNS = ['reference', ...lookupFields.keyof().options] as const;
const READ_COLUMNS: ReadonlySet<string> = new Set(FIELD_COLUMNS);

/** What a lookup can be made by: a file without any of these columns is no roster. */
const CRITERIA = ['license_number', 'last_name', 'business_name'];

/** A hospital's export has dozens. */
export const MAX_COLUMNS = 200;

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

/** Other requests get their turn after so many bytes, which may be as many cells. */
const BYTES_READ_AT_ONCE = 16 * 1024;

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

export async function* pieces(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += BYTES_READ_AT_ONCE) {
    yield bytes.subarray(at, at + BYTES_READ_AT_ONCE);
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
  return columns.filter((column) => READ_COLUMNS.has(columnKey(column))).length;
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
  const keys = columns.map(columnKey).filter((key) => READ_COLUMNS.has(key));
  if (!CRITERIA.some((column) => keys.includes(column))) {
    throw new BadRequestError(
      `The first row must name the columns; at least one of ${CRITERIA.join(', ')} is needed. ` +
        `These are read: ${FIELD_COLUMNS.join(', ')}.`,
    );
  }
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined) throw new BadRequestError(`The header row has more than one column ${twice}.`);
}

/** Reads the fields of a row by name, for a lookup. It throws a `BadRequestError` for a row with too many cells. */
export function rowReader({
  columns,
}: Pick<RosterTable, 'columns'>): (cells: readonly string[]) => Readonly<Record<string, string>> {
  const fields = columns
    .map((column, at) => ({ key: columnKey(column), at }))
    .filter(({ key }) => READ_COLUMNS.has(key));
  return (cells) => {
    if (cells.length > columns.length) {
      throw new BadRequestError(
        `The row has ${cells.length} cells, but the header row has ${columns.length}: put quotation marks around a cell that has a separator in it.`,
      );
    }
    return Object.fromEntries(fields.map(({ key, at }) => [key, withFormulas(cells[at] ?? '')]));
  };
}

/** The items of a JSON body as a table with the fields that any of them has. */
export function itemsTable(items: readonly unknown[]): RosterTable {
  const objects = items.map((item) => (isObject(item) ? item : {}));
  const columns = FIELD_COLUMNS.filter((column) => objects.some((item) => Object.hasOwn(item, column)));
  const rows = objects.map((item) => columns.map((column) => cellText(item[column])));
  return { columns, rows, format: { delimiter: ',', newline: '\r\n', hasByteOrderMark: false } };
}

function isObject(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeof item === 'object' && item !== null;
}

function cellText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The columns that an answer adds to a roster. */
export const RESULT_COLUMNS = [
  'result_outcome',
  'result_license_number',
  'result_full_name',
  'result_license_type',
  'result_status',
  'result_raw_status',
  'result_expiry_date',
  'result_days_until_expiry',
  'result_board_action',
  'result_cautions',
  'result_name_match',
  'result_found_by',
  'result_reason',
  'result_matches',
  'result_detail',
  'result_last_scraped',
] as const;

type Cells = Partial<Readonly<Record<(typeof RESULT_COLUMNS)[number], Cell>>>;

/** The cells of a result, in the order of `RESULT_COLUMNS`. */
function resultCells({ outcome, foundBy }: RosterResult, origin: RecordOrigin): readonly Cell[] {
  const cells: Cells = {
    ...outcomeCells(outcome, origin),
    ...(outcome.outcome === 'found' && { result_found_by: foundBy }),
    result_outcome: rosterOutcome(outcome),
    result_last_scraped: lastScraped(origin.date),
  };
  return RESULT_COLUMNS.map((column) => cells[column] ?? null);
}

function outcomeCells(outcome: RosterResult['outcome'], origin: RecordOrigin): Cells {
  switch (outcome.outcome) {
    case 'found': {
      const record = toResponseRecord(outcome.record, origin, outcome.nameMatch);
      return {
        result_license_number: record.license_number,
        result_full_name: record.full_name,
        result_license_type: record.license_type,
        result_status: record.status,
        result_raw_status: record.raw_status,
        result_expiry_date: record.expiry_date,
        result_days_until_expiry: record.days_until_expiry,
        result_board_action: record.extra_data[EXTRA_DATA_LABELS.boardAction] ?? null,
        result_cautions: record.cautions.join(';'),
        ...(record.name_match !== undefined && { result_name_match: String(record.name_match) }),
        ...(record.name_match === false && { result_detail: NAME_DOES_NOT_MATCH }),
      };
    }
    case 'several': {
      const numbers = outcome.records.map(({ license_number: number }) => number);
      return {
        result_matches: numbers.join('; '),
        result_detail: `${outcome.truncated ? 'More than ' : ''}${numbers.length} licenses match. Send the number, or more of the name.`,
      };
    }
    case 'invalid':
      return { result_detail: outcome.detail };
    default:
      return {
        result_detail: notFoundDetail(outcome, origin.date),
        ...(outcome.request.by === 'number' && { result_reason: reasonOf(outcome) }),
      };
  }
}

/** The answer to a roster as a table: its rows and columns in their order, with the columns of the results. */
export function answerTable({ columns, rows, format }: RosterTable): AnswerFormat<Buffer> {
  // The file may be the answer to an earlier roster.
  const isResultColumn = (column = '') => RESULT_COLUMNS.some((name) => name === column);
  const kept = [...columns.keys()].filter((at) => !isResultColumn(columns[at]));
  const keptCells = (cells: readonly string[]) => kept.map((at) => cells[at] ?? '');
  return {
    shape: (results, origin) =>
      Buffer.from(
        spreadsheetCsv(
          results.map((result) => [...keptCells(rows[result.index] ?? []), ...resultCells(result, origin)]),
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

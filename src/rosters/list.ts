import { isUtf8 } from 'node:buffer';
import pLimit from 'p-limit';
import { csvRows, firstCsvRows, plainCsv, withFormulas } from '../csv.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { type Board, boardByText } from '../licenses/boards.ts';
import { type LookupRequest, type LookupWords, MAX_CHARACTERS, readLookup } from '../licenses/lookup.ts';
import { hasLegalForm, personParts } from '../licenses/names.ts';
import { TooBusyError } from '../storage/errors.ts';
import { headerRowOf, type ListColumns, MAX_ROWS_ABOVE, type Meaning } from './columns.ts';
import { MAX_ITEMS } from './roster.ts';
import { MAX_COLUMNS, pieces, type RosterTable } from './table.ts';
import { xlsxRows } from './xlsx.ts';

/** A list as a person has it: pasted, or a file of a spreadsheet program. */
export interface List {
  /** All rows, those above the header too, without empty ones. */
  readonly rows: readonly (readonly string[])[];
  /** The list as text: read again with the same separator, it has the same rows. */
  readonly text: string;
  readonly separator: Separator;
}

export const SEPARATORS = [',', ';', '\t'] as const;
type Separator = (typeof SEPARATORS)[number];

/** Of a list as text. A form that sends it again has a megabyte for it and for everything else. */
const MAX_TEXT_BYTES = 900_000;

const MAX_ROWS = MAX_ITEMS + MAX_ROWS_ABOVE + 1;

/** One workbook is unpacked at a time, and so many wait: each takes up to half a second. */
const unpacking = pLimit(1);
const MAX_WAITING = 10;

/**
 * Reads a list: an Excel workbook, or text in UTF-8, UTF-16 or Windows-1252, separated by tabs, semicolons or commas.
 *
 * @param known what separates the cells of a text that was read before
 * @throws {BadRequestError} saying what to do, for what is no list or too large
 * @throws {TooBusyError} when too many workbooks wait
 */
export async function readList(sent: string | Buffer, known?: Separator): Promise<List> {
  if (typeof sent !== 'string' && isWorkbook(sent)) {
    if (unpacking.pendingCount >= MAX_WAITING) throw new TooBusyError('Too many workbooks wait.');
    const bounds = { rows: MAX_ROWS, columns: MAX_COLUMNS, characters: MAX_TEXT_BYTES };
    const rows = await unpacking(() => xlsxRows(sent, bounds));
    const text = plainCsv(rows, { delimiter: ',', newline: '\n' });
    requireSize(Buffer.byteLength(text));
    return { rows, text, separator: ',' };
  }
  const text = (typeof sent === 'string' ? sent : decoded(sent)).replace(/^\ufeff/, '');
  const bytes = Buffer.from(text);
  requireSize(bytes.length);
  const separator = known ?? separatorOf(bytes);
  const rows: string[][] = [];
  for await (const row of csvRows(pieces(bytes), separator)) {
    const cells = withoutEmptyEnd(row);
    if (cells.length > MAX_COLUMNS) {
      throw new BadRequestError(
        `A row has ${cells.length} columns; at most ${MAX_COLUMNS} are taken. Keep the columns of the list alone.`,
      );
    }
    if (cells.length > 0) rows.push(cells);
    if (rows.length > MAX_ROWS) throw tooManyRows();
  }
  return { rows, text, separator };
}

function requireSize(bytes: number): void {
  if (bytes <= MAX_TEXT_BYTES) return;
  throw new BadRequestError(
    `The list has more than ${MAX_TEXT_BYTES / 1000} KB of text. Split it, or remove columns.`,
  );
}

function tooManyRows(): BadRequestError {
  return new BadRequestError(`The list has more than ${MAX_ITEMS.toLocaleString('en-US')} rows. Split it.`);
}

function withoutEmptyEnd(row: readonly string[]): string[] {
  return row.slice(0, row.findLastIndex((cell) => cell.trim() !== '') + 1);
}

/** Whether a file is packed as workbooks are. */
export function isWorkbook(bytes: Buffer): boolean {
  return bytes.indexOf('PK\x03\x04', 0, 'latin1') === 0;
}

/** The first bytes of files that people take for lists, and what to do. */
const OTHER_FILES = [
  [
    '\xd0\xcf\x11\xe0',
    'This is an older Excel file (.xls), or one with a password. Open it, save it as "Excel workbook (.xlsx)" without a password, and choose that file.',
  ],
  ['%PDF', 'This is a PDF. Choose the spreadsheet it was made from, or copy the numbers and paste them.'],
  ['{\\rtf', 'This is a text document. Copy its list and paste it.'],
  ['\x89PNG', 'This is a picture. Copy the list as text and paste it.'],
  ['\xff\xd8\xff', 'This is a picture. Copy the list as text and paste it.'],
  ['\x1f\x8b', 'This file is packed. Unpack it, and choose the list itself.'],
] as const;

const NOT_TEXT =
  'The file is no list that can be read. In your spreadsheet program, save the list as "CSV UTF-8" or as "Excel workbook (.xlsx)", and choose that file.';

/** @throws {BadRequestError} for what is no text */
function decoded(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 8);
  const [, advice] = OTHER_FILES.find(([magic]) => start.startsWith(magic)) ?? [];
  if (advice !== undefined) throw new BadRequestError(advice);
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true, ignoreBOM: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell other files from text
    if (!/[\x01-\x08\x0e-\x1a\x1c-\x1f]/.test(text)) return text;
  } catch {
    // Not that encoding after all.
  }
  throw new BadRequestError(NOT_TEXT);
}

const BYTES_LOOKED_AT = 1024;

/** The encoding by its byte order mark; without one, UTF-16 by its zeros, UTF-8 where it is, else Windows-1252. */
function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' {
  const [first = 0, second = 0] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  const start = bytes.subarray(0, BYTES_LOOKED_AT);
  for (const [at, byte] of start.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  // Most characters of a list are ASCII, so every other byte is zero.
  if (odd > start.length / 4 && even < odd / 4) return 'utf-16le';
  if (even > start.length / 4 && odd < even / 4) return 'utf-16be';
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252';
}

const START_BYTES = 64 * 1024;
const ROWS_LOOKED_AT = 30;

/**
 * What separates the cells: by which the most columns are named and the fewest rows have more cells than the header;
 * without a header, by which the most rows have several cells.
 */
function separatorOf(text: Buffer): Separator {
  const start = text.subarray(0, START_BYTES);
  const candidates = SEPARATORS.toReversed().map((separator) => {
    const rows = firstCsvRows(start, separator, ROWS_LOOKED_AT).map(withoutEmptyEnd);
    const header = headerRowOf(rows);
    const width = rows[header?.at ?? 0]?.length ?? 0;
    const tooLong = header === undefined ? 0 : rows.filter((row) => row.length > width).length;
    const several = rows.filter(({ length }) => length > 1).length / (rows.length + 1);
    return { separator, score: (header?.named ?? 0) * 100 - tooLong + several };
  });
  const [best] = candidates.toSorted((one, other) => other.score - one.score);
  return best?.separator ?? ',';
}

/** A list whose columns are known. */
export interface ReadableList extends RosterTable {
  readonly meanings: readonly (Meaning | undefined)[];
}

/** The rows of the list below the row that names the columns. @throws {BadRequestError} for none, or too many */
export function readableList({ rows, separator }: List, { headerAt, meanings }: ListColumns): ReadableList {
  const below = rows.slice(headerAt === undefined ? 0 : headerAt + 1);
  if (below.length === 0) throw new BadRequestError('The list has no rows below the names of its columns.');
  if (below.length > MAX_ITEMS) throw tooManyRows();
  const header = headerAt === undefined ? undefined : rows[headerAt];
  const columns = meanings.map((meaning, at) => header?.[at] ?? meaning ?? `column ${at + 1}`);
  const format = {
    delimiter: separator === ';' ? ';' : ',',
    newline: '\r\n',
    hasByteOrderMark: true,
  } as const;
  return { columns, rows: below, format, meanings };
}

/** The texts of a row, by what their columns mean. */
export type RowFields = { readonly [Name in Meaning]?: string | undefined };

/** The texts of a row that are read. Of several columns of one meaning, the first counts. */
export function rowFields(meanings: readonly (Meaning | undefined)[], cells: readonly string[]): RowFields {
  const entries = meanings.flatMap((meaning, at) => {
    const text = meaning === undefined ? '' : withFormulas(cells[at] ?? '').trim();
    return meaning === undefined || text === '' ? [] : [[meaning, text] as const];
  });
  return Object.fromEntries(entries.toReversed());
}

/**
 * The lookup of a row.
 *
 * @throws {BadRequestError} saying what is wrong with the row
 */
export function rowRequest(
  { reference: _, ...fields }: RowFields,
  words: LookupWords,
  defaultBoard: Board | undefined,
): LookupRequest {
  const { name, business_name, search_type, board: label = '', ...others } = fields;
  // A column of states says nothing of the board.
  const hasBoard = label !== '' && !/^(oh|ohio)$/i.test(label);
  const board = hasBoard ? boardByText(label) : defaultBoard;
  if (hasBoard && board === undefined) throw new BadRequestError(words.unknownBoard(label));
  const type = search_type?.toLowerCase() === 'business' ? 'business' : undefined;
  const read = (given: object) => readLookup({ ...others, search_type: type, ...given }, words, board);
  if (type === 'business') return read({ business_name: business_name ?? name });
  const hasParts = others.last_name !== undefined || others.first_name !== undefined;
  const whole = hasParts ? undefined : (name ?? business_name);
  if (whole === undefined) {
    // Before the board is asked for: it would not help.
    if (!hasParts && others.license_number === undefined) throw new BadRequestError(words.noName);
    return read({});
  }
  // Before anything looks at each of its words.
  if (whole.length > MAX_CHARACTERS) throw new BadRequestError(words.tooLong('name'));
  if (others.license_number !== undefined) {
    const request = read({ last_name: whole });
    return request.by === 'number' ? { ...request, name: { wholeName: whole } } : request;
  }
  if (name === undefined || hasLegalForm(whole)) {
    return read({ business_name: whole, search_type: 'business' });
  }
  const [parts] = personParts(whole);
  return read({ last_name: parts?.lastName, first_name: parts?.firstName });
}

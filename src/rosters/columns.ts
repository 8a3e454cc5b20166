import { BOARDS, boardByText } from '../licenses/boards.ts';
import { FILTER_NAMES, type FilterName } from '../licenses/filters.ts';
import { MAX_COLUMNS } from './table.ts';

/** What a column of a list can mean, beside the filters. */
export const MEANINGS = [
  'license_number',
  'name',
  'last_name',
  'first_name',
  'business_name',
  'board',
  'reference',
] as const;

/** What a column means; `undefined` for one that is only kept. */
export type Meaning = (typeof MEANINGS)[number] | 'search_type' | FilterName;

/** How a list is to be read. */
export interface ListColumns {
  /** The row that names the columns, from 0; `undefined` where none does. */
  readonly headerAt: number | undefined;
  /** Of each column. */
  readonly meanings: readonly (Meaning | undefined)[];
}

/** With any of these, a row can be looked up. */
const CRITERIA: ReadonlySet<Meaning | undefined> = new Set([
  'license_number',
  'name',
  'last_name',
  'business_name',
] as const);

/** Whether a row with these columns can be looked up. */
export function hasCriterion(meanings: readonly (Meaning | undefined)[]): boolean {
  return meanings.some((meaning) => CRITERIA.has(meaning));
}

/**
 * The headers of each meaning, as people write them: in lower case, words apart. `#`, `no`, `num` and `nbr` count as
 * `number`; `licence`, `lic` and `license` are one word.
 */
const HEADERS: Readonly<Record<(typeof MEANINGS)[number], readonly string[]>> = {
  license_number: [
    ...['license number', 'license', 'license id', 'licensenumber', 'license registration number'],
    ...['state license number', 'state license', 'ohio license number', 'ohio license', 'oh license number'],
    ...['professional license number', 'professional license', 'nursing license number', 'nursing license'],
    ...[
      'rn license number',
      'rn license',
      'rn number',
      'lpn license number',
      'lpn number',
      'medical license number',
    ],
    ...['pharmacy license number', 'license or certificate number', 'credential number', 'credential'],
    ...['certificate number', 'certification number', 'registration number', 'permit number'],
  ],
  name: [
    ...[
      'name',
      'names',
      'full name',
      'fullname',
      'employee',
      'employee name',
      'employee full name',
      'staff name',
    ],
    ...['staff member', 'staff', 'person', 'person name', 'licensee', 'licensee name', 'license holder'],
    ...['license holder name', 'holder', 'holder name', 'provider', 'provider name', 'nurse', 'nurse name'],
    ...[
      'practitioner',
      'practitioner name',
      'caregiver',
      'caregiver name',
      'professional',
      'contractor name',
    ],
    ...[
      'individual',
      'individual name',
      'name on license',
      'last name first name',
      'last first',
      'name last first',
    ],
    ...['first name last name', 'first and last name', 'first last', 'worker name', 'member name'],
  ],
  last_name: [
    ...['last name', 'lastname', 'last', 'surname', 'family name', 'lname', 'l name', 'last nm'],
    ...['employee last name', 'licensee last name', 'provider last name', 'nurse last name', 'name last'],
  ],
  first_name: [
    ...[
      'first name',
      'firstname',
      'first',
      'given name',
      'given names',
      'givenname',
      'forename',
      'fname',
      'f name',
    ],
    ...[
      'employee first name',
      'licensee first name',
      'provider first name',
      'nurse first name',
      'name first',
    ],
    ...['first middle', 'first and middle name', 'first middle name'],
  ],
  business_name: [
    ...['business name', 'business', 'company', 'company name', 'facility', 'facility name', 'establishment'],
    ...['establishment name', 'firm', 'firm name', 'organization', 'organization name', 'trade name', 'dba'],
    ...['pharmacy', 'pharmacy name', 'shop', 'shop name', 'salon', 'salon name', 'store name', 'vendor'],
    ...['vendor name', 'licensed business'],
  ],
  board: [
    ...[
      'board',
      'board name',
      'state board',
      'licensing board',
      'license board',
      'issuing board',
      'ohio board',
    ],
    ...['board code', 'agency', 'licensing agency', 'issuing agency', 'issuing authority', 'authority'],
  ],
  reference: [
    ...[
      'reference',
      'reference number',
      'ref',
      'ref number',
      'employee id',
      'employee number',
      'employee code',
    ],
    ...['emp id', 'emp number', 'id', 'id number', 'staff id', 'staff number', 'badge', 'badge number'],
    ...[
      'badge id',
      'payroll number',
      'payroll id',
      'personnel number',
      'personnel id',
      'worker id',
      'person id',
    ],
    ...['provider id', 'file number', 'member id', 'user id', 'vendor id', 'vendor number'],
  ],
};

const BY_HEADER: ReadonlyMap<string, Meaning> = new Map(
  MEANINGS.flatMap((meaning) => HEADERS[meaning].map((header) => [header, meaning] as const)),
);

/** Read only where they are written just so: a `City` or `Status` of employees is not the license's. */
const BY_EXACT_HEADER: ReadonlyMap<string, Meaning> = new Map(
  [...MEANINGS, 'search_type' as const, ...FILTER_NAMES].map((name) => [name, name]),
);

/** The meaning of this name, as forms send it; `undefined` for none. */
export function meaningNamed(name: string): Meaning | undefined {
  return BY_EXACT_HEADER.get(name);
}

/** Longer texts are no headers. */
const MAX_HEADER_CHARACTERS = 60;

/** `Lic. #` → `license number`. */
function headerKey(text: string): string {
  return text
    .slice(0, MAX_HEADER_CHARACTERS)
    .normalize('NFKC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/#|№/g, ' number ')
    .replace(/['’]s?\b/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/\b(?:no|num|nbr|nr)\b/g, 'number')
    .replace(/\b(?:lic|licence|licenses)\b/g, 'license')
    .replace(/\bnumber(?: number)+\b/g, 'number');
}

/** What a header says that its column means. */
export function meaningOfHeader(text: string): Meaning | undefined {
  if (text.length > MAX_HEADER_CHARACTERS) return undefined;
  return BY_EXACT_HEADER.get(text.trim()) ?? BY_HEADER.get(headerKey(text));
}

/** So many rows may stand above the header: a title, a date, an address. */
export const MAX_ROWS_ABOVE = 10;

/** The row that names the columns. */
interface HeaderRow {
  readonly at: number;
  /** How many meanings it names. */
  readonly named: number;
}

/** The row, among the first ones, that names the most meanings, the first of several; none without one to look up by. */
export function headerRowOf(rows: readonly (readonly string[])[]): HeaderRow | undefined {
  let best: HeaderRow | undefined;
  for (const [at, row] of rows.slice(0, MAX_ROWS_ABOVE + 1).entries()) {
    const named = row.slice(0, MAX_COLUMNS).map(meaningOfHeader);
    const meanings = new Set(named.filter((meaning) => meaning !== undefined));
    if (hasCriterion([...meanings]) && meanings.size > (best?.named ?? 0))
      best = { at, named: meanings.size };
  }
  return best;
}

/**
 * What the columns of a list mean, by the row that names the most of them, among the first rows; else by what is in
 * them.
 *
 * @returns `isClear`: whether no one needs to be asked
 */
export function columnsOf(rows: readonly (readonly string[])[]): ListColumns & { readonly isClear: boolean } {
  const width = rows.reduce((widest, { length }) => Math.max(widest, length), 0);
  const headerAt = headerRowOf(rows)?.at;
  if (headerAt !== undefined) {
    const header = rows[headerAt] ?? [];
    const meanings = Array.from({ length: width }, (_, at) => meaningOfHeader(header[at] ?? ''));
    const named = meanings.filter((meaning) => meaning !== undefined);
    return { headerAt, meanings, isClear: new Set(named).size === named.length };
  }
  const meanings = Array.from({ length: width }, (_, at) => meaningOfCells(rows.map((row) => row[at] ?? '')));
  if (width === 1 && meanings[0] === 'license_number') {
    // What stands above the first number is a title.
    const above = rows.slice(0, MAX_ROWS_ABOVE).findIndex(([cell = '']) => /\d/.test(cell));
    return { headerAt: above > 0 ? above - 1 : undefined, meanings, isClear: true };
  }
  return { headerAt: undefined, meanings: onceEach(meanings), isClear: false };
}

/** The first column of each meaning keeps it. */
function onceEach(meanings: readonly (Meaning | undefined)[]): (Meaning | undefined)[] {
  return meanings.map((meaning, at) => (meanings.indexOf(meaning) === at ? meaning : undefined));
}

/** What is so in most of a column's cells is so of the column: its first row may be a header. */
const MOST = 0.6;
const MAX_CELLS_LOOKED_AT = 25;

function meaningOfCells(cells: readonly string[]): Meaning | undefined {
  const filled = cells.filter((cell) => cell !== '').slice(0, MAX_CELLS_LOOKED_AT);
  const most = (test: (cell: string) => boolean) => filled.filter(test).length >= filled.length * MOST;
  if (filled.length === 0) return undefined;
  if (most(isLikeNumber)) return 'license_number';
  if (most((cell) => boardByText(cell) !== undefined)) return 'board';
  if (most((cell) => /^[\p{L}'’.\- ]+,[\p{L}'’.\- ]+$/u.test(cell))) return 'name';
  return undefined;
}

const PREFIXES = BOARDS.flatMap((board) => board.license_types.map(({ prefix }) => prefix)).filter((prefix) =>
  /[A-Z]/.test(prefix),
);
const LETTERS_BEFORE: ReadonlySet<string> = new Set(PREFIXES.map((prefix) => prefix.replace(/[^A-Z]/g, '')));

/** Whether a text looks like a license number: a board's letters and digits, or at least five digits. */
function isLikeNumber(text: string): boolean {
  if (text.length > 30) return false;
  const compact = text.toUpperCase().replace(/[\s./\p{Pd}]/gu, '');
  const [, letters = '', digits = ''] = /^([A-Z]*)(\d+)(?:SUPV)?$/.exec(compact) ?? [];
  return letters === '' ? digits.length >= 5 : LETTERS_BEFORE.has(letters);
}

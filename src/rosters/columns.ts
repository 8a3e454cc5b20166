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
    ...['license', 'state license', 'ohio license', 'oh license', 'professional license', 'nursing license'],
    ...['rn license', 'lpn license', 'rn number', 'lpn number', 'credential'],
  ],
  name: [
    ...[
      'name',
      'names',
      'full name',
      'legal name',
      'employee',
      'employee name',
      'employee full name',
      'staff',
    ],
    ...['staff name', 'staff member', 'person', 'person name', 'licensee', 'licensee name', 'license holder'],
    ...['license holder name', 'holder', 'holder name', 'provider', 'provider name', 'nurse', 'nurse name'],
    ...[
      'practitioner',
      'practitioner name',
      'caregiver',
      'caregiver name',
      'professional',
      'contractor name',
    ],
    ...['individual', 'individual name', 'name on license', 'last name first name', 'last first', 'worker'],
    ...[
      'worker name',
      'member name',
      'name last first',
      'first name last name',
      'first and last name',
      'first last',
    ],
  ],
  last_name: ['last', 'lastname', 'lname', 'l name', 'last nm', 'name last'],
  first_name: [
    ...['first', 'firstname', 'givenname', 'given names', 'forename', 'fname', 'f name', 'name first'],
    ...['first middle', 'first middle name', 'first and middle name'],
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

/** Headers of other things and other people: `Driver license number`, `Supervisor last name`. */
const OF_OTHERS =
  /\b(driver|drivers|vehicle|supervisor|manager|spouse|preferred|maiden|former|contact|emergency|type|status|date|state of issue)\b/;

/** How the headers of a meaning end, whatever comes before. */
const ENDINGS: readonly (readonly [ending: RegExp, meaning: Meaning])[] = [
  [
    /\b(license|credential|certificate|certification|registration|permit)\b.*\b(number|id)$/,
    'license_number',
  ],
  [/\b(license|licensed)number$/, 'license_number'],
  [/\b(last name|surname|family name)$/, 'last_name'],
  [/\b(first name|given name)$/, 'first_name'],
];

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
  const key = headerKey(text);
  const named = BY_EXACT_HEADER.get(text.trim()) ?? BY_HEADER.get(key);
  if (named !== undefined || OF_OTHERS.test(key)) return named;
  return ENDINGS.find(([ending]) => ending.test(key))?.[1];
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
    // The rows above the first number are a title.
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

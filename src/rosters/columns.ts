import HEADERS from '../../data/column-headers.json' with { type: 'json' };
import { boardByText } from '../licenses/boards.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import {
  hasNumber,
  isLikeNumber,
  isSurelyNumber,
  numbersIn,
  partsOfText,
  prefixesOfType,
  stateOf,
} from '../licenses/number-forms.ts';
import { ROW_FIELDS, type RowFields } from '../licenses/row-lookup.ts';

/** The meanings that a column of a list can have, besides the filters. */
export const MEANINGS = [
  ...(['license_number', 'name', 'last_name', 'first_name', 'business_name', 'board'] as const),
  ...(['license_state', 'credential_type', 'reference'] as const),
] as const;

/** The meaning of a column; `undefined` if the column is only kept. */
export type Meaning = keyof RowFields;

type Meanings = readonly (Meaning | undefined)[];

/** Whether a row with these columns can be looked up. */
export function hasCriterion(meanings: Meanings): boolean {
  return (['license_number', 'name', 'last_name', 'business_name'] as const).some((each) =>
    meanings.includes(each),
  );
}

/** How the columns of a list are read. */
export interface ListColumns {
  /** The index of the header row, from 0; `undefined` if there is none. */
  readonly headerAt: number | undefined;
  /** The names of the columns; empty for a column without a name. */
  readonly header: readonly string[];
  readonly meanings: Meanings;
}

/** Columns, and the reasons to doubt their meanings. Without doubts, nobody has to confirm the meanings. */
export interface ReadColumns extends ListColumns {
  readonly doubts: readonly string[];
}

const BY_HEADER: ReadonlyMap<string, Meaning> = new Map(
  MEANINGS.flatMap((meaning) => HEADERS.meanings[meaning].map((header) => [header, meaning] as const)),
);
const SAME_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries(HEADERS.same_words).flatMap(([word, same]) => same.map((each) => [each, word] as const)),
);

/** Longer texts are not headers. */
const MAX_HEADER_CHARACTERS = 60;

/** The words of a header: `Lic. #` → `license number`. */
function headerWords(text: string): string[] {
  const words = text
    .slice(0, MAX_HEADER_CHARACTERS)
    .normalize('NFKC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/#|№/g, ' number ')
    .replace(/['’]s?(?![\p{L}\p{N}])/gu, '')
    .split(/[^\p{L}\p{N}]/u)
    .map((word) => SAME_WORDS.get(word) ?? word)
    .filter((word) => word !== '');
  return words.filter((word, at) => word !== 'number' || words[at - 1] !== 'number');
}

/**
 * Field names, which only programs write exactly like this. In a person's list, a column `City` or `Status` may
 * describe the employee instead of the license.
 */
const BY_FIELD_NAME: ReadonlyMap<string, Meaning> = new Map(ROW_FIELDS.map((name) => [name, name]));

/** The meaning of a column according to its header. */
export function meaningOfHeader(text: string): Meaning | undefined {
  if (text.length > MAX_HEADER_CHARACTERS) return undefined;
  return BY_FIELD_NAME.get(text.trim()) ?? meaningOfWords(headerWords(text));
}

function meaningOfWords(words: readonly string[]): Meaning | undefined {
  const named = BY_HEADER.get(words.join(' '));
  if (named !== undefined || has(words, HEADERS.words_of_others) || has(words, HEADERS.former_words))
    return named;
  // Headers with other words before a known ending: `Applicant surname`, `State license number`.
  const ending = BY_HEADER.get(words.slice(-2).join(' ')) ?? BY_HEADER.get(words.at(-1) ?? '');
  if (ending === 'last_name' || ending === 'first_name') return ending;
  const isNumber = ['number', 'id', 'licensenumber'].includes(words.at(-1) ?? '');
  return isNumber && has(words, HEADERS.number_words) ? 'license_number' : undefined;
}

function has(words: readonly string[], some: readonly string[]): boolean {
  return words.some((word) => some.includes(word));
}

/** The most rows above the header: a title, a date, an address. */
export const MAX_ROWS_ABOVE = 10;

type Rows = readonly (readonly string[])[];

/**
 * Finds the header row: the first of the top rows that names the most meanings. Returns `undefined` if no row names a
 * meaning to look up by. The row above is joined with it if both together name more meanings. A row with a license
 * number is not a header, and neither is any row below a license of the list.
 */
export function headerRowOf(rows: Rows) {
  let best: { readonly at: number; readonly header: readonly string[]; readonly named: number } | undefined;
  for (const [at, cells] of rows.slice(0, MAX_ROWS_ABOVE + 1).entries()) {
    const row = cells.slice(0, MAX_COLUMNS);
    // A report may have a short code such as `C3` above the header, so only numbers with a separator or five digits
    // count.
    if (row.some((cell) => /[.-]|\d{5}/.test(cell) && isSurelyNumber(cell))) break;
    if (row.some(isLikeNumber)) continue;
    const upper = rows[at - 1] ?? [];
    const isGrouped = upper.includes('') || upper.length < row.length;
    for (const header of isGrouped ? [row, joinedHeader(upper, row)] : [row]) {
      const meanings = new Set(header.map(meaningOfHeader).filter((meaning) => meaning !== undefined));
      if (!hasCriterion([...meanings]) || meanings.size <= (best?.named ?? 0)) continue;
      best = { at, header, named: meanings.size };
    }
  }
  return best;
}

/** Joins two header rows. A name in the upper row also applies to the columns to its right that have no upper name. */
function joinedHeader(upper: readonly string[], lower: readonly string[]): string[] {
  let group = '';
  return lower.map((name, at) => {
    group = upper[at]?.trim() || group;
    return `${group} ${name}`.trim();
  });
}

/** Determines the meanings of a list's columns from their names and their cells. */
export function columnsOf(rows: Rows): ReadColumns {
  const found = headerRowOf(rows);
  const widest = rows.reduce((most, { length }) => Math.max(most, length), 0);
  // Rows are cut to `MAX_COLUMNS`, so that even a row of a million cells costs little.
  const header = Array.from({ length: Math.min(widest, MAX_COLUMNS) }, (_, at) => found?.header[at] ?? '');
  const first = found === undefined ? 0 : found.at + 1;
  const lookedAt = rows.slice(first, first + Math.min(MAX_ROWS, Math.ceil(MAX_CELLS / header.length)));
  const cells = header.map((_, at) => filledCells(lookedAt, at));
  if (found === undefined) return { header, ...columnsByCells(rows, cells) };
  return { headerAt: found.at, header, ...believed(header, meaningsOfNames(header), cells) };
}

/**
 * The meanings according to the names. A column `State` beside a city, a ZIP code or a `License State` is part of the
 * person's address.
 */
function meaningsOfNames(header: readonly string[]): Meanings {
  const named = header.map((name) => ({ meaning: meaningOfHeader(name), words: headerWords(name) }));
  const isState = (words: readonly string[]) => words.join(' ') === 'state';
  const hasPlace = named.some(
    ({ meaning, words }) =>
      has(words, HEADERS.address_words) || (meaning === 'license_state' && !isState(words)),
  );
  return named.map(({ meaning, words }) => (hasPlace && isState(words) ? undefined : meaning));
}

type Cells = readonly (readonly string[])[];
type ColumnClaims = Pick<ReadColumns, 'meanings' | 'doubts'>;

/**
 * Reads columns without a header. If all columns have license numbers, nobody has to confirm that. The rows above the
 * first row with a digit are a title.
 */
function columnsByCells(rows: Rows, cells: Cells): Omit<ReadColumns, 'header'> {
  const test = cells.length === 1 ? isLikeNumber : isSurelyNumber;
  const areNumbers = cells.every((each) => isMostly(each, (cell) => numbersIn(cell).every(test)));
  if (cells.length === 0 || !areNumbers) {
    return { headerAt: undefined, meanings: onceEach(cells.map(meaningOfCells)), doubts: [''] };
  }
  const above = rows.slice(0, MAX_ROWS_ABOVE).findIndex((row) => row.some((cell) => /\d/.test(cell)));
  const headerAt = above > 0 ? above - 1 : undefined;
  return { headerAt, meanings: cells.map((): Meaning => 'license_number'), doubts: [] };
}

/** Meanings that only one column of a list may have. For other meanings, the first column counts. */
const SINGLE = MEANINGS.slice(0, 6);

/** Compares the names of columns with their cells. */
function believed(header: ListColumns['header'], names: Meanings, cells: Cells): ColumnClaims {
  const doubts: string[] = [];
  const claims = names.map((name, at) => {
    if (name !== 'license_number' && name !== 'board') return name;
    const looks = meaningOfCells(cells[at] ?? []);
    // A column `State license` may have the state, and a column `Credential` the license type.
    return looks === 'license_state' || looks === 'credential_type' ? looks : name;
  });
  const meanings = claims.map((claim, at) => {
    const [name = '', filled = []] = [header[at], cells[at]];
    const words = headerWords(name);
    if (filled.length === 0 || (claim === undefined && has(words, HEADERS.words_of_others))) return claim;
    const examples = filled.slice(0, 3).map((cell) => `“${cell.slice(0, 40)}”`);
    if (claim !== undefined && !isMostly(filled, CELL_TESTS[claim] ?? (() => true), HALF)) {
      doubts.push(`“${name}” has cells that do not fit its name: ${examples.join(', ')}.`);
    }
    const former = words.filter((word) => !HEADERS.former_words.includes(word));
    const wasNamed = former.length < words.length ? meaningOfWords(former) : undefined;
    const isNumbers = isMostly(filled, (cell) => numbersIn(cell).every(isSurelyNumber));
    const likely = claim ?? wasNamed ?? (isNumbers ? 'license_number' : undefined);
    const other = claims.findIndex((each, place) => each === likely && place !== at);
    if (SINGLE.some((each) => each === likely) && other >= 0 && (claim === undefined || other < at)) {
      doubts.push(`“${header[other]}” and “${name}” may mean the same thing.`);
    } else if (claim === undefined && likely === 'license_number') {
      doubts.push(`“${name}” may have license numbers: ${examples.join(', ')}.`);
    }
    return claim ?? (wasNamed === undefined ? likely : undefined);
  });
  return { meanings: onceEach(meanings), doubts };
}

/** If several columns have the same meaning, only the first one keeps it. */
function onceEach(meanings: Meanings): Meanings {
  return meanings.map((meaning, at) => (meanings.indexOf(meaning) === at ? meaning : undefined));
}

/** A column gets a meaning from its cells if at least this share of them fits the meaning. */
const MOST = 0.6;
/** A column's name counts if at least this share of its cells fits it. */
const HALF = 0.5;
/** How much of a list is examined. It is limited because other requests have to wait meanwhile. */
const [MAX_ROWS, MAX_CELLS, MAX_CHARACTERS] = [20, 1000, 80] as const;

function filledCells(rows: Rows, at: number): string[] {
  const cells = rows.map((row) => row[at]?.slice(0, MAX_CHARACTERS));
  return cells.flatMap((cell) => cell?.trim() || []);
}

function isMostly(cells: readonly string[], test: (cell: string) => boolean, share = MOST): boolean {
  return cells.length > 0 && cells.filter(test).length >= cells.length * share;
}

/** What cells must look like if their header claims a meaning. */
const CELL_TESTS: { readonly [Each in Meaning]?: (cell: string) => boolean } = {
  license_number: hasNumber,
  ...{ name: isLikeName, last_name: isLikeName, first_name: isLikeName },
  business_name: (cell) => /\p{L}/u.test(cell),
  board: (cell) => stateOf(cell) !== undefined || boardByText(cell) !== undefined || /\bboard\b/i.test(cell),
};

function meaningOfCells(cells: readonly string[]): Meaning | undefined {
  const tests: readonly (readonly [Meaning, (cell: string) => boolean])[] = [
    ['license_number', (cell) => numbersIn(cell).every(isLikeNumber)],
    ['license_state', (cell) => partsOfText(cell).every((part) => stateOf(part) !== undefined)],
    ['credential_type', (cell) => prefixesOfType(cell).length > 0],
    ['board', (cell) => boardByText(cell) !== undefined],
    ['name', (cell) => cell.split(',').length === 2 && isLikeName(cell)],
  ];
  return tests.find(([, test]) => isMostly(cells, test))?.[0];
}

function isLikeName(cell: string): boolean {
  const letters = cell.match(/\p{L}/gu)?.length ?? 0;
  return letters > (cell.match(/\d/g)?.length ?? 0) && !isLikeNumber(cell);
}

/** A hospital's export has dozens of columns. */
export const MAX_COLUMNS = 200;

/**
 * The columns of a list from a program, named by its first row. If a column to look up by has exactly the name of a
 * field, such as `license_number`, all names count as field names (`License Number`, too) and are not checked.
 * Otherwise the columns are read like those of a person's list.
 *
 * @throws {BadRequestError} for columns that are not clear, saying what was recognized
 */
export function rosterColumns(rows: Rows): Pick<ListColumns, 'meanings'> & { columns: readonly string[] } {
  const [columns = []] = rows;
  if (columns.length > MAX_COLUMNS) {
    throw new BadRequestError(`The header has ${columns.length} columns; the limit is ${MAX_COLUMNS}.`);
  }
  const fields = columns.map((name) => BY_FIELD_NAME.get(name.trim().toLowerCase().replace(/[\s-]/g, '_')));
  const isExact = hasCriterion(columns.map((name) => BY_FIELD_NAME.get(name.trim())));
  const read = isExact ? { headerAt: 0, meanings: fields, doubts: [] } : columnsOf(rows);
  const meanings = onceEach(
    columns.map(
      (_, at) => read.meanings[at] ?? (read.meanings.includes(fields[at]) ? undefined : fields[at]),
    ),
  );
  if (read.headerAt !== 0 || !hasCriterion(meanings)) {
    throw new BadRequestError(
      'The first row must name the columns; at least one of license_number, last_name, business_name is needed. ' +
        `These are read: ${ROW_FIELDS.join(', ')}.`,
    );
  }
  const twice = read.meanings.find((meaning, at) => meaning && read.meanings.indexOf(meaning) !== at);
  if (twice !== undefined) throw new BadRequestError(`The header row has more than one column ${twice}.`);
  if (read.doubts.length > 0) {
    const recognized = columns.flatMap((name, at) => meanings[at] && `“${name}” as ${meanings[at]}`);
    throw new BadRequestError(
      `${read.doubts[0]} Recognized: ${recognized.filter(Boolean).join(', ')}. Use the names of the fields for the columns that count.`,
    );
  }
  return { columns, meanings };
}

import type { Board } from '../licenses/boards.ts';
import { fold, numberDigits, numberKey } from '../licenses/fold.ts';
import { licenseId } from '../licenses/license.ts';
import { misreadNumberKeys } from '../licenses/spelling.ts';

/** A part of an OpenSearch query. */
export type Clause =
  | { term: Record<string, string> }
  | { ids: { values: string[] } }
  | { terms: Record<string, readonly string[]> }
  | { prefix: Record<string, string> }
  | { regexp: Record<string, string> }
  | {
      fuzzy: Record<
        string,
        { value: string; fuzziness: 1; prefix_length: number; rewrite: 'constant_score' }
      >;
    }
  | { constant_score: { filter: Clause; boost?: number } }
  | BoolClause;

type BoolClause = { bool: { filter?: Clause[]; should?: Clause[] } };

type Sort = (Record<string, 'asc' | 'desc'> | '_doc')[];

/** Counts by the values of a field, or of the licenses that fit each clause. */
export type Facet = { terms: { field: string; size: number } } | { filters: { filters: Clause[] } };

/** The body of one OpenSearch `_search` for licenses. */
export interface SearchBody {
  size: number;
  from?: number;
  track_total_hits: boolean;
  query: BoolClause;
  sort: Sort;
  aggs?: Readonly<Record<string, Facet>>;
}

/** A query that shares no search with others. */
export interface OtherQuery {
  readonly by: 'other';
  /** Without a size, it returns all matches of a name that may be returned, and one more. */
  readonly body: Omit<SearchBody, 'size'> & { readonly size?: number };
}

/** Matches in the order of their names and numbers. */
export const BY_NAME: Sort = [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }];

/**
 * A search for licenses that fit every clause of `filter`.
 *
 * @param preferred those that fit one of these clauses have a better score
 */
export function matching(filter: Clause[], sort: Sort, preferred?: Clause[]): Omit<SearchBody, 'size'> {
  const query = { bool: { filter, ...(preferred && { should: preferred }) } };
  return { track_total_hits: false, query, sort };
}

/** The same with the most licenses that it returns. */
export function searchBody(size: number, filter: Clause[], sort: Sort, preferred?: Clause[]): SearchBody {
  return { size, ...matching(filter, sort, preferred) };
}

/** The license of a document id. */
export interface IdQuery {
  readonly by: 'id';
  readonly id: string;
}

/** The board's license whose number is written exactly like this; `undefined` without letters and digits. */
export function writtenNumberQuery(board: Board, written: string): IdQuery | undefined {
  return numberKey(written) === '' ? undefined : { by: 'id', id: licenseId(board.name, written) };
}

export function idBody({ id }: IdQuery): SearchBody {
  return searchBody(1, [{ ids: { values: [id] } }], ['_doc']);
}

/** The licenses whose numbers have the same key. */
export interface NumberQuery {
  readonly by: 'number';
  readonly numberKey: string;
}

/** All licenses whose number has the same key; `undefined` without letters and digits. */
export function numberQuery(written: string): NumberQuery | undefined {
  const key = numberKey(written);
  return key === '' ? undefined : { by: 'number', numberKey: key };
}

/** More than one license with the same number key is rare, so ten are enough to list the written forms. */
const MAX_PER_NUMBER_KEY = 10;

/** One search for several number keys. */
export function numbersBody(keys: readonly string[]): SearchBody {
  return searchBody(MAX_PER_NUMBER_KEY * keys.length, [{ terms: { 'keys.number': keys } }], ['_doc']);
}

/** Enough for every board with many ways of writing. */
const MAX_PER_COMMON_KEY = 250;

/**
 * The licenses of a number key that has more of them than a query by number returns, such as `PENDING`. The board is
 * searched by its code: a stored license has the name that the board had when it was loaded.
 */
export function commonNumberQuery({ numberKey }: NumberQuery, board: Board | undefined): OtherQuery {
  const ofBoard = board === undefined ? [] : [{ prefix: { 'keys.name': `${board.code}/` } }];
  const filter = [{ term: { 'keys.number': numberKey } }, ...ofBoard];
  return { by: 'other', body: searchBody(MAX_PER_COMMON_KEY, filter, ['_doc']) };
}

/** Licenses with a similar number, to suggest when no license has the requested one. */
export interface NearNumberQuery {
  readonly by: 'near_number';
  /** The last group of digits, without leading zeros. */
  readonly digits: string;
  /** The beginning of the folded number; `undefined` when it is so short that very many numbers begin with it. */
  readonly beginning: string | undefined;
  /** Keys of numbers that may have been meant: digits swapped, doubled or misread. */
  readonly misread: readonly string[];
  /** This board's licenses come first. */
  readonly board: Board | undefined;
  readonly businessOnly: boolean;
}

/** Very many numbers have the same shorter beginning. */
const MIN_BEGINNING = 5;

/**
 * Licenses with the same digits as the typed number (with other zeros, another prefix or suffix), those whose number
 * begins with it, and those for which it may be a slip. `undefined` when it has no digits.
 */
export function nearNumberQuery(
  board: Board | undefined,
  written: string,
  businessOnly: boolean,
): NearNumberQuery | undefined {
  const digits = numberDigits(written);
  if (digits === '') return undefined;
  const folded = fold(written);
  const beginning = folded.length < MIN_BEGINNING ? undefined : folded;
  return { by: 'near_number', digits, beginning, misread: misreadNumberKeys(written), board, businessOnly };
}

/** Whether a number is similar to the one of the query. */
export function isNearNumber(
  { digits, beginning, misread }: NearNumberQuery,
  licenseNumber: string,
): boolean {
  const key = numberKey(licenseNumber);
  const beginsWithIt = beginning !== undefined && key.startsWith(beginning);
  return beginsWithIt || misread.includes(key) || numberDigits(licenseNumber) === digits;
}

function nearClauses({ digits, beginning, misread }: NearNumberQuery): Clause[] {
  return [
    { term: { 'keys.digits': digits } },
    ...(beginning === undefined ? [] : [{ prefix: { 'keys.number': beginning } }]),
    ...(misread.length === 0 ? [] : [{ terms: { 'keys.number': misread } }]),
  ];
}

/** How many similar numbers are compared with the typed one. */
export const MAX_NEAR_NUMBERS = 50;

/** The board's licenses first, then those with the same digits. */
export function nearNumberBody(query: NearNumberQuery): SearchBody {
  const { digits, board, businessOnly } = query;
  const ofBoard = (name: string): Clause => ({
    constant_score: { filter: { term: { board: name } }, boost: 2 },
  });
  return searchBody(
    MAX_NEAR_NUMBERS,
    [
      { bool: { should: nearClauses(query) } },
      ...(businessOnly ? [{ term: { 'keys.kind': 'business' } }] : []),
    ],
    [{ _score: 'desc' }, { 'keys.number': 'asc' }],
    [
      { constant_score: { filter: { term: { 'keys.digits': digits } } } },
      ...(board === undefined ? [] : [ofBoard(board.name)]),
    ],
  );
}

/** The similar numbers of several queries together. Most queries have none or a few. */
const MAX_NEAR_SEVERAL_NUMBERS = 1000;

/** One search for the similar numbers of several queries. */
export function nearNumbersBody(queries: readonly NearNumberQuery[]): SearchBody {
  const should = queries.flatMap(nearClauses);
  return searchBody(MAX_NEAR_SEVERAL_NUMBERS, [{ bool: { should } }], ['_doc']);
}

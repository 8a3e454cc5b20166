import type { Board } from '../licenses/boards.ts';
import { licenseId, type StoredLicense } from '../licenses/document.ts';
import { fold } from '../licenses/fold.ts';
import {
  tradeNameForms,
  tradeNameKey,
  typedBusinessWords,
  typedGiven,
  typedSurname,
} from '../licenses/name.ts';
import { numberDigits, numberKey } from '../licenses/number.ts';

/** The most matches that a search returns (specification 8.3; the design says the same for REST). */
export const MAX_MATCHES = 100;

/** Optional conditions of a name or business search, each compared whole and folded. */
export interface Narrowing {
  readonly license_type?: string | undefined;
  readonly status?: string | undefined;
  readonly city?: string | undefined;
  readonly county?: string | undefined;
}

export const NARROWING_FIELDS = ['license_type', 'status', 'city', 'county'] as const;

type Clause =
  | { term: Record<string, string> }
  | { ids: { values: string[] } }
  | { terms: { 'keys.number': readonly string[] } }
  | { prefix: Record<string, string> }
  | {
      fuzzy: Record<
        string,
        { value: string; fuzziness: 1; prefix_length: number; rewrite: 'constant_score' }
      >;
    }
  | { constant_score: { filter: Clause; boost?: number } }
  | BoolClause;

type BoolClause = { bool: { filter?: Clause[]; should?: Clause[] } };

/** The body of one OpenSearch `_search`. */
export interface SearchBody {
  size: number;
  track_total_hits: false;
  query: BoolClause;
  sort?: (Record<string, 'asc' | 'desc'> | '_doc')[];
}

/** More than one license of a key is rare; ten are enough to say which written forms exist. */
const SAME_KEY = 10;

/** The license of a board whose number is written so, letter for letter; `undefined` for separators alone. */
export function writtenNumberQuery(board: Board, written: string): SearchBody | undefined {
  if (numberKey(written) === '') return undefined;
  return {
    size: 1,
    track_total_hits: false,
    query: { bool: { filter: [{ ids: { values: [licenseId(board.name, written)] } }] } },
  };
}

/** The document id that a body asks for, where it is that of `writtenNumberQuery`. */
export function soughtId({ query }: SearchBody): string | undefined {
  const [clause] = query.bool.filter ?? [];
  return clause !== undefined && 'ids' in clause ? clause.ids.values[0] : undefined;
}

/** Every license whose number has the key of the written form; `undefined` for separators alone. */
export function numberQuery(written: string): SearchBody | undefined {
  const key = numberKey(written);
  return key === '' ? undefined : numbersQuery([key]);
}

/** Every license whose number has one of these keys. */
export function numbersQuery(keys: readonly string[]): SearchBody {
  return {
    size: SAME_KEY * keys.length,
    track_total_hits: false,
    query: { bool: { filter: [{ terms: { 'keys.number': keys } }] } },
    sort: ['_doc'],
  };
}

/** The key that a body asks for, where it is that of `numberQuery`. */
export function soughtNumber({ query }: SearchBody): string | undefined {
  const [clause] = query.bool.filter ?? [];
  if (clause === undefined || !('terms' in clause)) return undefined;
  const [key, another] = clause.terms['keys.number'];
  return another === undefined ? key : undefined;
}

/** Room for the matches of several given names; more are rarely shared by a few people's initials. */
const MATCHES_TOGETHER = 1000;

/** Every person whose name key begins with one of these, by name and number. */
export function holdersQuery(beginnings: readonly string[]): SearchBody {
  const should = beginnings.map((beginning) => ({ prefix: { 'keys.holder': beginning } }));
  return { ...namesBody({ bool: { should } }, {}), size: MATCHES_TOGETHER };
}

/**
 * The beginning of a name key that a body asks for, where it is that of `personQuery` with a given name and
 * nothing else. A surname alone may have too many matches to be asked for beside others.
 */
export function soughtHolder({ query }: SearchBody): string | undefined {
  const [clause, another] = query.bool.filter ?? [];
  if (clause === undefined || another !== undefined || !('prefix' in clause)) return undefined;
  const beginning = clause.prefix['keys.holder'];
  return beginning?.endsWith('/') ? undefined : beginning;
}

/** A search by the beginning of a name, whose matches are answered exact names first, then by name and number. */
export interface NamesQuery {
  /** All matches, by name and number. */
  readonly all: SearchBody;
  /** Those of exactly the name, by name and number. */
  readonly exact: SearchBody;
  isExact(license: StoredLicense): boolean;
}

/**
 * Holders at a board by whole surname and the beginning of the given names. `undefined` when one of the names has
 * neither letter nor digit: nobody has such a name.
 */
export function personQuery(
  board: Board,
  lastName: string,
  firstName: string | undefined,
  narrowing: Narrowing,
): NamesQuery | undefined {
  const surname = typedSurname(lastName);
  if (surname === '') return undefined;
  const given = typedGiven(firstName ?? '');
  if (firstName !== undefined && given === '') return undefined;
  const name = `${board.code}/${surname}/${given}`;
  const all = namesBody({ prefix: { 'keys.holder': name } }, narrowing);
  return given === ''
    ? {
        all,
        exact: namesBody({ prefix: { 'keys.name': name } }, narrowing),
        isExact: ({ keys }) => keys.name.startsWith(name),
      }
    : {
        all,
        exact: namesBody({ term: { 'keys.name': name } }, narrowing),
        isExact: ({ keys }) => keys.name === name,
      };
}

/**
 * Businesses, at one board or at all, by the beginning of either trade name. `undefined` when the name has neither
 * letter nor digit.
 */
export function businessQuery(
  board: Board | undefined,
  businessName: string,
  narrowing: Narrowing,
): NamesQuery | undefined {
  const tradeName = tradeNameKey(businessName);
  if (tradeName === '') return undefined;
  const name = `${board?.code ?? ''}/${tradeName}`;
  return {
    all: namesBody({ prefix: { 'keys.business': name } }, narrowing),
    exact: namesBody({ term: { 'keys.business': name } }, narrowing),
    isExact: (license) => tradeNameForms(license.full_name).includes(tradeName),
  };
}

/** How many numbers are weighed against a mistyped one. */
export const NEAR_NUMBERS = 50;

/** A shorter beginning would be that of very many numbers. */
const SHORTEST_BEGINNING = 5;

/** What numbers have in common with one that no license has. */
export interface NearNumber {
  readonly digits: string;
  /** Of their folded key, where it is long enough. */
  readonly beginning?: string;
}

function nearClauses({ digits, beginning }: NearNumber): Clause[] {
  return [
    { term: { 'keys.digits': digits } },
    ...(beginning === undefined ? [] : [{ prefix: { 'keys.number': beginning } }]),
  ];
}

/** Room for what is near to several numbers; mostly it is nothing or a few. */
const NEAR_TOGETHER = 1000;

/** Every license whose number is near to one of these. */
export function nearTogetherQuery(sought: readonly NearNumber[]): SearchBody {
  return {
    size: NEAR_TOGETHER,
    track_total_hits: false,
    query: { bool: { filter: [{ bool: { should: sought.flatMap(nearClauses) } }] } },
    sort: ['_doc'],
  };
}

/** What a body looks for, where it is that of `nearNumbersQuery` among persons and businesses. */
export function soughtNear({ query }: SearchBody): NearNumber | undefined {
  const [near, another] = query.bool.filter ?? [];
  if (near === undefined || another !== undefined || !('bool' in near)) return undefined;
  const [first, second] = near.bool.should ?? [];
  const digits = first !== undefined && 'term' in first ? first.term['keys.digits'] : undefined;
  if (digits === undefined) return undefined;
  const beginning = second !== undefined && 'prefix' in second ? second.prefix['keys.number'] : undefined;
  return { digits, ...(beginning === undefined ? {} : { beginning }) };
}

/**
 * Licenses whose number may have been meant by a written form that no license has: those with the same digits
 * (other zeros, another prefix or suffix), then those that it is the beginning of; the board's first, if one is
 * given. `undefined` when the form has no digits.
 */
export function nearNumbersQuery(
  board: Board | undefined,
  written: string,
  businessOnly: boolean,
): SearchBody | undefined {
  const digits = numberDigits(written);
  if (digits === '') return undefined;
  const beginning = fold(written);
  const sameDigits: Clause = { term: { 'keys.digits': digits } };
  const candidates = nearClauses({
    digits,
    ...(beginning.length < SHORTEST_BEGINNING ? {} : { beginning }),
  });
  return {
    size: NEAR_NUMBERS,
    track_total_hits: false,
    query: {
      bool: {
        filter: [
          { bool: { should: candidates } },
          ...(businessOnly ? [{ term: { 'keys.kind': 'business' } }] : []),
        ],
        should: [
          { constant_score: { filter: sameDigits } },
          ...(board === undefined
            ? []
            : [{ constant_score: { filter: { term: { board: board.name } }, boost: 2 } }]),
        ],
      },
    },
    sort: [{ _score: 'desc' }, { 'keys.number': 'asc' }],
  };
}

/**
 * Businesses, at one board or at all, that have every word typed as the beginning of a word of their trade
 * names, by name and number. `undefined` when the name has neither letter nor digit.
 */
export function businessWordsQuery(
  board: Board | undefined,
  businessName: string,
  narrowing: Narrowing,
): SearchBody | undefined {
  const words = wordPrefixes(board, businessName);
  if (words.length === 0) return undefined;
  return {
    size: MAX_MATCHES + 1,
    track_total_hits: false,
    query: { bool: { filter: [...words, ...narrowingClauses(narrowing)] } },
    sort: [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  };
}

/** A shorter word with a letter changed is any other word. */
const SHORTEST_MISSPELT = 3;

/**
 * What `businessWordsQuery` finds, first, and then businesses where words typed are words of theirs but for
 * one letter: those that may have been meant.
 */
export function nearBusinessesQuery(
  board: Board | undefined,
  businessName: string,
  narrowing: Narrowing,
): SearchBody | undefined {
  const words = wordPrefixes(board, businessName);
  if (words.length === 0) return undefined;
  return {
    size: MAX_MATCHES + 1,
    track_total_hits: false,
    query: {
      bool: {
        filter: [...words.map((word) => nearly(board, word)), ...narrowingClauses(narrowing)],
        should: [{ constant_score: { filter: { bool: { filter: words } } } }],
      },
    },
    sort: [{ _score: 'desc' }, { 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  };
}

type WordPrefix = { prefix: { 'keys.words': string } };

function wordPrefixes(board: Board | undefined, businessName: string): WordPrefix[] {
  return typedBusinessWords(businessName).map((word) => ({
    prefix: { 'keys.words': `${board?.code ?? ''}/${word}` },
  }));
}

/** A word's beginning as typed, or the word with one letter changed, added, left out or swapped. */
function nearly(board: Board | undefined, beginning: WordPrefix): Clause {
  const value = beginning.prefix['keys.words'];
  const boardLength = `${board?.code ?? ''}/`.length;
  if (value.length - boardLength < SHORTEST_MISSPELT) return beginning;
  const fuzzy = { value, fuzziness: 1, prefix_length: boardLength, rewrite: 'constant_score' } as const;
  return { bool: { should: [beginning, { fuzzy: { 'keys.words': fuzzy } }] } };
}

/** The body of an OpenSearch `_search` for the terms that are spelled nearly like one, best first. */
export interface NearTermsBody {
  size: 0;
  suggest: {
    near: {
      text: string;
      term: {
        field: 'keys.surname';
        suggest_mode: 'always';
        max_edits: 1 | 2;
        prefix_length: number;
        size: number;
        shard_size: number;
      };
    };
  };
}

/** How many names are offered in place of one that nobody has. */
export const MAX_NEAR_NAMES = 5;

/** Each of several shards tells so many, so that the best of all are those that one shard would tell. */
const NEAR_NAMES_OF_SHARD = 100;

/** In shorter words, two letters changed make another word. */
const TWO_EDITS_FROM = 6;

/** No surname is longer. The search costs OpenSearch 5 times as much for 200 letters as for 40. */
const LONGEST_SUGGESTED = 60;

/**
 * The surnames at a board that are spelled nearly like this one: one or two letters off, by its length. `undefined`
 * for a surname without letters or longer than any.
 */
export function nearSurnamesBody(board: Board, lastName: string): NearTermsBody | undefined {
  const surname = typedSurname(lastName);
  if (surname === '' || surname.length > LONGEST_SUGGESTED) return undefined;
  return {
    size: 0,
    suggest: {
      near: {
        text: `${board.code}/${surname}`,
        term: {
          field: 'keys.surname',
          suggest_mode: 'always',
          max_edits: surname.length < TWO_EDITS_FROM ? 1 : 2,
          prefix_length: `${board.code}/`.length,
          size: MAX_NEAR_NAMES,
          shard_size: NEAR_NAMES_OF_SHARD,
        },
      },
    },
  };
}

function namesBody(matches: Clause, narrowing: Narrowing): SearchBody {
  return {
    size: MAX_MATCHES + 1,
    track_total_hits: false,
    query: { bool: { filter: [matches, ...narrowingClauses(narrowing)] } },
    sort: [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  };
}

function narrowingClauses(narrowing: Narrowing): Clause[] {
  return NARROWING_FIELDS.flatMap((field) => {
    const value = narrowing[field];
    return value === undefined ? [] : [{ term: { [`keys.${field}`]: fold(value) } }];
  });
}

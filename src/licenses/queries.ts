import type { Board } from './boards.ts';
import { fold } from './fold.ts';
import { tradeNameKey, typedBusinessWords, typedGiven, typedSurname } from './name.ts';
import { numberDigits, numberKey } from './number.ts';

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

type Clause = { term: Record<string, string> } | { prefix: Record<string, string> };

/** The body of one OpenSearch `_search`. */
export interface SearchBody {
  size: number;
  track_total_hits: false;
  query: {
    bool: {
      filter: Clause[];
      should?: (Clause | { constant_score: { filter: Clause } })[];
      minimum_should_match?: 1;
    };
  };
  sort?: Record<string, 'asc' | 'desc'>[];
}

/** More than one licence of a key is rare; ten are enough to say which written forms exist. */
const SAME_KEY = 10;

/** Every licence whose number has the key of the written form; `undefined` for separators alone. */
export function numberQuery(written: string): SearchBody | undefined {
  const key = numberKey(written);
  if (key === '') return undefined;
  return {
    size: SAME_KEY,
    track_total_hits: false,
    query: { bool: { filter: [{ term: { 'keys.number': key } }] } },
  };
}

/**
 * Holders at a board by whole surname and the beginning of the given names, exact names first, then by name
 * and number. `undefined` when one of the names has neither letter nor digit: nobody has such a name.
 */
export function personQuery(
  board: Board,
  lastName: string,
  firstName: string | undefined,
  narrowing: Narrowing,
): SearchBody | undefined {
  const surname = typedSurname(lastName);
  if (surname === '') return undefined;
  const given = typedGiven(firstName ?? '');
  if (firstName !== undefined && given === '') return undefined;
  const name = `${board.code}/${surname}/${given}`;
  return namesQuery(
    { prefix: { 'keys.holder': name } },
    given === '' ? { prefix: { 'keys.name': name } } : { term: { 'keys.name': name } },
    narrowing,
  );
}

/**
 * Businesses, at one board or at all, by the beginning of either trade name, exact names first, then by name
 * and number. `undefined` when the name has neither letter nor digit.
 */
export function businessQuery(
  board: Board | undefined,
  businessName: string,
  narrowing: Narrowing,
): SearchBody | undefined {
  const tradeName = tradeNameKey(businessName);
  if (tradeName === '') return undefined;
  const name = `${board?.code ?? ''}/${tradeName}`;
  return namesQuery({ prefix: { 'keys.business': name } }, { term: { 'keys.business': name } }, narrowing);
}

/** Words of a business's name that are looked at; more only make the search dearer. */
const MOST_WORDS = 10;

/** How many numbers are weighed against a mistyped one. */
const NEAR_NUMBERS = 50;

/** A shorter beginning would be that of very many numbers. */
const SHORTEST_BEGINNING = 5;

/**
 * Licences, at one board or at all, whose number may have been meant by a written form that no licence has:
 * those with the same digits (other zeros, another prefix or suffix), and those that it is the beginning of.
 * `undefined` when the form has no digits.
 */
export function nearNumbersQuery(board: Board | undefined, written: string): SearchBody | undefined {
  const digits = numberDigits(written);
  if (digits === '') return undefined;
  const beginning = fold(written);
  return {
    size: NEAR_NUMBERS,
    track_total_hits: false,
    query: {
      bool: {
        filter: board === undefined ? [] : [{ term: { board: board.name } }],
        should: [
          { term: { 'keys.digits': digits } },
          ...(beginning.length < SHORTEST_BEGINNING ? [] : [{ prefix: { 'keys.number': beginning } }]),
        ],
        minimum_should_match: 1,
      },
    },
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
  const words = typedBusinessWords(businessName).slice(0, MOST_WORDS);
  if (words.length === 0) return undefined;
  return {
    size: MAX_MATCHES + 1,
    track_total_hits: false,
    query: {
      bool: {
        filter: [
          ...words.map((word) => ({ prefix: { 'keys.words': `${board?.code ?? ''}/${word}` } })),
          ...narrowingClauses(narrowing),
        ],
      },
    },
    sort: [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  };
}

/** The body of an OpenSearch `_search` for terms that are spelt nearly like those given; one list for each. */
export interface NearTermsBody {
  size: 0;
  suggest: Record<
    string,
    {
      text: string;
      term: {
        field: 'keys.surname' | 'keys.words';
        suggest_mode: 'always' | 'missing';
        max_edits: 1 | 2;
        prefix_length: number;
        size: number;
      };
    }
  >;
}

/** How many names are offered in place of one that nobody has. */
export const MOST_NEAR_NAMES = 5;

/** In shorter words, two letters changed make another word. */
const TWO_EDITS_FROM = 6;

/** The surnames at a board that are spelt nearly like this one: one or two letters off, by its length. */
export function nearSurnamesBody(board: Board, lastName: string): NearTermsBody | undefined {
  const surname = typedSurname(lastName);
  if (surname === '') return undefined;
  return {
    size: 0,
    suggest: { '0': nearTerm('keys.surname', board.code, surname, 'always', MOST_NEAR_NAMES) },
  };
}

/** For each word of a business's name, where no business has it, the word that is spelt most like it. */
export function nearWordsBody(board: Board | undefined, businessName: string): NearTermsBody | undefined {
  const words = typedBusinessWords(businessName).slice(0, MOST_WORDS);
  if (words.length === 0) return undefined;
  const terms = words.map((word) => nearTerm('keys.words', board?.code ?? '', word, 'missing', 1));
  return { size: 0, suggest: Object.fromEntries(terms.map((term, at) => [String(at), term])) };
}

function nearTerm(
  field: 'keys.surname' | 'keys.words',
  board: string,
  word: string,
  mode: 'always' | 'missing',
  size: number,
): NearTermsBody['suggest'][string] {
  return {
    text: `${board}/${word}`,
    term: {
      field,
      suggest_mode: mode,
      max_edits: word.length < TWO_EDITS_FROM ? 1 : 2,
      prefix_length: board.length + 1,
      size,
    },
  };
}

function namesQuery(matches: Clause, exact: Clause, narrowing: Narrowing): SearchBody {
  return {
    size: MAX_MATCHES + 1,
    track_total_hits: false,
    query: {
      bool: {
        filter: [matches, ...narrowingClauses(narrowing)],
        should: [{ constant_score: { filter: exact } }],
      },
    },
    sort: [{ _score: 'desc' }, { 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  };
}

function narrowingClauses(narrowing: Narrowing): Clause[] {
  return NARROWING_FIELDS.flatMap((field) => {
    const value = narrowing[field];
    return value === undefined ? [] : [{ term: { [`keys.${field}`]: fold(value) } }];
  });
}

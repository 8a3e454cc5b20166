import type { Board } from '../licenses/boards.ts';
import { FILTER_NAMES, type Filters } from '../licenses/filters.ts';
import { fold } from '../licenses/fold.ts';
import { MAX_MATCHES } from '../licenses/lookup-outcome.ts';
import type {
  BusinessQuery,
  BusinessWordsQuery,
  CommonNumberQuery,
  LicenseQuery,
  NearGivenNameQuery,
  NearNumberQuery,
  NearSurnamesQuery,
  PersonQuery,
} from './license-query.ts';

type Clause =
  | { term: Record<string, string> }
  | { ids: { values: string[] } }
  | { terms: { 'keys.number': readonly string[] } }
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

/** The body of one OpenSearch `_search` for licenses. */
export interface SearchBody {
  size: number;
  track_total_hits: false;
  query: BoolClause;
  sort?: (Record<string, 'asc' | 'desc'> | '_doc')[];
}

/**
 * The search for one query.
 *
 * @param maxMatches the most matches of a name; the search asks for one more, which shows that there are more
 */
export function searchBody(query: LicenseQuery, maxMatches = MAX_MATCHES): SearchBody {
  switch (query.by) {
    case 'id':
      return body(1, [{ ids: { values: [query.id] } }]);
    case 'number':
      return numbersBody([query.numberKey]);
    case 'common_number':
      return commonNumberBody(query);
    case 'person':
      return personBody(query, maxMatches);
    case 'near_given_name':
      return namesBody([nearGivenNameClause(query)], query.filters, MAX_FEW);
    case 'business':
      return selected(query, namesBody([businessClause(query)], query.filters, maxMatches + 1));
    case 'business_words':
      return selected(query, businessWordsBody(query, maxMatches));
    case 'near_number':
      return nearNumberBody(query);
  }
}

function body(size: number, filter: Clause[], sort?: SearchBody['sort']): SearchBody {
  return { size, track_total_hits: false, query: { bool: { filter } }, ...(sort && { sort }) };
}

/** More than one license with the same number key is rare, so ten are enough to list the written forms. */
const MAX_PER_NUMBER_KEY = 10;

/** One search for several number keys. */
export function numbersBody(keys: readonly string[]): SearchBody {
  return body(MAX_PER_NUMBER_KEY * keys.length, [{ terms: { 'keys.number': keys } }], ['_doc']);
}

/** Enough for every board with many ways of writing. */
const MAX_PER_COMMON_KEY = 250;

/** The board is searched by its code: a stored license has the name that the board had when it was loaded. */
function commonNumberBody({ numberKey, board }: CommonNumberQuery): SearchBody {
  const ofBoard = board === undefined ? [] : [{ prefix: { 'keys.name': `${board.code}/` } }];
  return body(MAX_PER_COMMON_KEY, [{ term: { 'keys.number': numberKey } }, ...ofBoard], ['_doc']);
}

/**
 * One search for several persons, by prefixes of their name keys.
 *
 * @param maxFound the most licenses that it finds for all of them together
 */
export function personsBody(names: readonly string[], maxFound: number): SearchBody {
  const should = names.map((name) => ({ prefix: { 'keys.holder': name } }));
  return namesBody([{ bool: { should } }], {}, maxFound);
}

function personBody(query: PersonQuery, maxMatches: number): SearchBody {
  return selected(query, namesBody([personClause(query)], query.filters, maxMatches + 1));
}

/** One license of any is found without sorting all that match. */
function selected({ select }: Pick<PersonQuery, 'select'>, all: SearchBody): SearchBody {
  if (select === 'any') return { ...all, size: 1, sort: ['_doc'] };
  if (select === 'few') return { ...all, size: MAX_FEW };
  return select === 'many' ? { ...all, size: MAX_MANY } : all;
}

/** How many licenses suggestions are chosen from. They are the first by name, whichever shards hold them. */
const MAX_FEW = 50;
const MAX_MANY = MAX_MATCHES + 1;

function personClause({ names, hasGivenName, select }: PersonQuery): Clause {
  const clauses = names.map((name): Clause => {
    if (select !== 'exact') return { prefix: { 'keys.holder': name } };
    return hasGivenName ? { term: { 'keys.name': name } } : { prefix: { 'keys.name': name } };
  });
  const [only, another] = clauses;
  return only !== undefined && another === undefined ? only : { bool: { should: clauses } };
}

/**
 * Given names that begin with the typed one after one letter is left out, changed or put in, or two are swapped, and
 * those that have it as a later name. OpenSearch compares only the given names of the surname.
 */
function nearGivenNameClause({ surnames, given }: NearGivenNameQuery): Clause {
  const beginnings = Array.from({ length: given.length + 1 }, (_, at) => {
    const [before, letter, after] = [given.slice(0, at), given.slice(at, at + 1), given.slice(at + 1)];
    const swapped = after === '' ? [] : [before + after[0] + letter + after.slice(1)];
    return [
      `${before}.${letter}${after}`,
      ...(letter === '' ? [] : [before + after, `${before}.${after}`]),
      ...swapped,
    ];
  });
  const pattern = `(${[...beginnings.flat(), `.+${given}`].join('|')}).*`;
  const of = (surname: string): Clause => ({ regexp: { 'keys.holder': surname + pattern } });
  return { bool: { should: surnames.map(of) } };
}

function businessClause({ name, select }: BusinessQuery): Clause {
  return select === 'exact' ? { term: { 'keys.business': name } } : { prefix: { 'keys.business': name } };
}

/** In shorter words, one letter changed makes another word. */
const MIN_FUZZY_WORD = 3;

function businessWordsBody(
  { board, words, isFuzzy, filters }: BusinessWordsQuery,
  maxMatches: number,
): SearchBody {
  const boardPrefix = `${board?.code ?? ''}/`;
  const asTyped = words.map((word) => ({ prefix: { 'keys.words': boardPrefix + word } }));
  if (!isFuzzy) return namesBody(asTyped, filters, maxMatches + 1);
  const nearly = words.map((word) => fuzzyWord(boardPrefix, word));
  return {
    size: maxMatches + 1,
    track_total_hits: false,
    query: {
      bool: {
        filter: [...nearly, ...filterClauses(filters)],
        should: [{ constant_score: { filter: { bool: { filter: asTyped } } } }],
      },
    },
    sort: [{ _score: 'desc' }, { 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  };
}

/** A word's beginning as typed, or the word with one letter changed, added, left out or swapped. */
function fuzzyWord(boardPrefix: string, word: string): Clause {
  const value = boardPrefix + word;
  const beginning = { prefix: { 'keys.words': value } };
  if (word.length < MIN_FUZZY_WORD) return beginning;
  const fuzzy = {
    value,
    fuzziness: 1,
    prefix_length: boardPrefix.length,
    rewrite: 'constant_score',
  } as const;
  return { bool: { should: [beginning, { fuzzy: { 'keys.words': fuzzy } }] } };
}

/** How many similar numbers are compared with the typed one. */
export const MAX_NEAR_NUMBERS = 50;

/** The similar numbers of several queries together. Most queries have none or a few. */
const MAX_NEAR_SEVERAL_NUMBERS = 1000;

type NearNumber = Pick<NearNumberQuery, 'digits' | 'beginning' | 'misread'>;

/** One search for the similar numbers of several queries. */
export function nearNumbersBody(numbers: readonly NearNumber[]): SearchBody {
  const should = numbers.flatMap(nearClauses);
  return body(MAX_NEAR_SEVERAL_NUMBERS, [{ bool: { should } }], ['_doc']);
}

/** The board's licenses first, then those with the same digits. */
function nearNumberBody(query: NearNumberQuery): SearchBody {
  const { digits, board, businessOnly } = query;
  const sameDigits = { constant_score: { filter: { term: { 'keys.digits': digits } } } };
  return {
    size: MAX_NEAR_NUMBERS,
    track_total_hits: false,
    query: {
      bool: {
        filter: [
          { bool: { should: nearClauses(query) } },
          ...(businessOnly ? [{ term: { 'keys.kind': 'business' } }] : []),
        ],
        should: [sameDigits, ...(board === undefined ? [] : [ofBoard(board)])],
      },
    },
    sort: [{ _score: 'desc' }, { 'keys.number': 'asc' }],
  };
}

function ofBoard({ name }: Board): Clause {
  return { constant_score: { filter: { term: { board: name } }, boost: 2 } };
}

function nearClauses({ digits, beginning, misread }: NearNumber): Clause[] {
  return [
    { term: { 'keys.digits': digits } },
    ...(beginning === undefined ? [] : [{ prefix: { 'keys.number': beginning } }]),
    ...(misread.length === 0 ? [] : [{ terms: { 'keys.number': misread } }]),
  ];
}

function namesBody(matches: readonly Clause[], filters: Filters, size: number): SearchBody {
  return body(
    size,
    [...matches, ...filterClauses(filters)],
    [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  );
}

function filterClauses(filters: Filters): Clause[] {
  return FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [{ term: { [`keys.${name}`]: fold(value) } }];
  });
}

/** The terms with a similar spelling, best first, of one board. */
interface NearTerms {
  text: string;
  term: {
    field: 'keys.surname';
    suggest_mode: 'always';
    max_edits: 1 | 2;
    prefix_length: number;
    size: number;
    shard_size: number;
  };
}

/** The body of an OpenSearch `_search` for terms with a similar spelling, by the board's code. */
export interface NearTermsBody {
  size: 0;
  suggest: Record<string, NearTerms>;
}

/** How many names each shard returns: enough that the best of all shards are among them. */
const NEAR_NAMES_PER_SHARD = 100;

/** In shorter words, two letters changed make another word. */
const MIN_TWO_EDITS = 6;

/** @param size how many surnames of each board to return */
export function nearSurnamesBody({ boards, surname }: NearSurnamesQuery, size: number): NearTermsBody {
  const nearTerms = (code: string): NearTerms => ({
    text: `${code}/${surname}`,
    term: {
      field: 'keys.surname',
      suggest_mode: 'always',
      max_edits: surname.length < MIN_TWO_EDITS ? 1 : 2,
      prefix_length: `${code}/`.length,
      size,
      shard_size: NEAR_NAMES_PER_SHARD,
    },
  });
  return { size: 0, suggest: Object.fromEntries(boards.map(({ code }) => [code, nearTerms(code)])) };
}

import type { API } from '@opensearch-project/opensearch';
import { BOARDS, type Board } from '../licenses/boards.ts';
import { FILTER_NAMES, type Filters } from '../licenses/filters.ts';
import { fold, numberDigits, numberKey } from '../licenses/fold.ts';
import type { StoredLicense } from '../licenses/license.ts';
import { MAX_MATCHES, type NumberRequest } from '../licenses/lookup.ts';
import {
  businessNameKeys,
  givenNamesKey,
  searchedWords,
  surnameKey,
  surnameKeys,
  tradeNameKey,
} from '../licenses/names.ts';
import { misreadNumberKeys } from '../licenses/spelling.ts';

type RequestBody = Required<NonNullable<API.Search_RequestBody>>;

/** A part of an OpenSearch query. */
export type Clause = RequestBody['query'];

/** The body of one OpenSearch `_search` for licenses. */
export type SearchBody = Partial<Pick<RequestBody, 'from' | 'aggs'>> & {
  size: number;
  track_total_hits: boolean;
  query: { bool: { filter: Clause[]; should?: Clause[] } };
  sort: (Record<string, 'asc' | 'desc'> | '_doc')[];
};

/** A query that never shares a search with others. Queries of lists are also sent in separate requests. */
export interface OtherQuery {
  readonly by: 'other' | 'list';
  readonly body: SearchBody;
}

/** Matches in the order of their names and numbers. */
export const BY_NAME: SearchBody['sort'] = [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }];

/**
 * A search for licenses that fit every clause of `filter`.
 *
 * @param size the most licenses that it returns
 * @param preferred licenses that fit one of these clauses get a better score
 */
export function searchBody(
  size: number,
  filter: Clause[],
  sort: SearchBody['sort'],
  preferred?: Clause[],
): SearchBody {
  const query = { bool: { filter, ...(preferred && { should: preferred }) } };
  return { size, track_total_hits: false, query, sort };
}

/** The license with a document id. */
export interface IdQuery {
  readonly by: 'id';
  readonly id: string;
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

/** Enough for every board to write the number in many ways. */
const MAX_PER_COMMON_KEY = 250;

/**
 * The licenses with a number key that more licenses share than a query by number returns, such as `PENDING`. The query
 * uses the board's code, because a stored license has the name that the board had when it was loaded.
 */
export function commonNumberQuery({ numberKey }: NumberQuery, board: Board | undefined): OtherQuery {
  const ofBoard = board === undefined ? [] : [{ prefix: { 'keys.name': `${board.code}/` } }];
  const filter = [{ term: { 'keys.number': numberKey } }, ...ofBoard];
  return { by: 'other', body: searchBody(MAX_PER_COMMON_KEY, filter, ['_doc']) };
}

/** A search for similar numbers, to suggest when no license has the requested one. Several can share one search. */
export interface NearNumberQuery {
  readonly by: 'near_number';
  readonly body: SearchBody;
  /** Whether a license matches the query. */
  readonly isNear: (license: StoredLicense) => boolean;
}

/** How many similar numbers are compared with the typed one. */
const MAX_NEAR_NUMBERS = 50;

/** Very many numbers share a shorter beginning. */
const MIN_BEGINNING = 5;

/**
 * Licenses with the same digits as the typed number (with other zeros, another prefix or suffix), licenses whose number
 * begins with it, and licenses whose number it may be with a typing mistake. The board's licenses come first, then those
 * with the same digits. `undefined` if the number has no digits.
 */
export function nearNumberQuery({ board, number, businessOnly }: NumberRequest): NearNumberQuery | undefined {
  const digits = numberDigits(number);
  if (digits === '') return undefined;
  const [beginning, misread] = [fold(number), misreadNumberKeys(number)];
  const hasBeginning = beginning.length >= MIN_BEGINNING;
  const sameDigits = { term: { 'keys.digits': digits } };
  const near: Clause[] = [sameDigits, { terms: { 'keys.number': misread } }];
  if (hasBeginning) near.push({ prefix: { 'keys.number': beginning } });
  const filter: Clause[] = [{ bool: { should: near } }];
  if (businessOnly) filter.push({ term: { 'keys.kind': 'business' } });
  const preferred: Clause[] = [{ constant_score: { filter: sameDigits } }];
  if (board) preferred.push({ constant_score: { filter: { term: { board: board.name } }, boost: 2 } });
  const sort: SearchBody['sort'] = [{ _score: 'desc' }, { 'keys.number': 'asc' }];
  const body = searchBody(MAX_NEAR_NUMBERS, filter, sort, preferred);
  const isNear = ({ license_number: each, keys: { kind } }: StoredLicense) => {
    const key = numberKey(each);
    const isSimilar = misread.includes(key) || (hasBeginning && key.startsWith(beginning));
    return (isSimilar || numberDigits(each) === digits) && !(businessOnly && kind === 'person');
  };
  return { by: 'near_number', body, isNear };
}

/**
 * Which matches to return. `all`: as many as the interface lists. `exact`: only those with exactly the name. A number:
 * at most this many, whatever the interface lists; if it is 1, any match will do.
 */
type Selection = 'all' | 'exact' | number;

/** Where a name is searched (at one board or at all boards), and which matches are returned. */
export interface Scope {
  readonly board?: Board | undefined;
  readonly filters?: Filters;
  readonly select?: Selection;
}

/** Persons or businesses, by the beginning of a name, or businesses by the beginnings of the words in their names. */
export interface NameQuery {
  readonly by: 'person' | 'business' | 'words';
  /**
   * Matching keys begin with one of these: `BOARD/SURNAME/GIVEN` for persons, one for each board; `BOARD/TRADENAME` for
   * businesses, or `/TRADENAME` for all boards. In a query by words, a business must have a match for each `BOARD/WORD`
   * or `/WORD`.
   */
  readonly names: readonly string[];
  /** Whether an exact name must equal the whole key. A surname alone is only the beginning of a key. */
  readonly isWhole: boolean;
  readonly filters: Filters;
  readonly select: Selection;
}

/** `undefined` without names. */
function nameQuery(
  by: NameQuery['by'],
  names: readonly string[],
  isWhole: boolean,
  { filters = {}, select = 'all' }: Scope,
): NameQuery | undefined {
  return names.length === 0 ? undefined : { by, names, isWhole, filters, select };
}

/** The board, or all of them. */
function boardsOf(board: Board | undefined): readonly Board[] {
  return board === undefined ? BOARDS : [board];
}

/**
 * Persons by whole surname and the beginning of the given names. `undefined` if either name has no letter and no digit.
 */
export function personQuery(scope: Scope, lastName: string, firstName?: string): NameQuery | undefined {
  const given = givenNamesKey(firstName ?? '');
  if (firstName !== undefined && given === '') return undefined;
  const likely = surnameKeys(lastName, firstName !== undefined).map((surname) => ({ surname, given }));
  return nameQuery('person', personNames(scope, likely), firstName !== undefined, scope);
}

/** A name that the caller may have meant. */
export interface LikelyName {
  readonly surname: string;
  /** The beginning of the given names; empty for any. */
  readonly given: string;
}

function personNames({ board }: Scope, likely: readonly LikelyName[]): string[] {
  return boardsOf(board).flatMap(({ code }) =>
    likely.map(({ surname, given }) => `${code}/${surname}/${given}`),
  );
}

/** Some persons with any of these names. */
export function likelyPersonsQuery(scope: Scope, likely: readonly LikelyName[]): NameQuery | undefined {
  return nameQuery('person', personNames(scope, likely), true, { select: MAX_SUGGESTED_FROM, ...scope });
}

/** Businesses by the beginning of either trade name. `undefined` when the name has no letter and no digit. */
export function businessQuery(scope: Scope, businessName: string): NameQuery | undefined {
  const tradeName = tradeNameKey(businessName);
  const names = tradeName === '' ? [] : [`${scope.board?.code ?? ''}/${tradeName}`];
  return nameQuery('business', names, true, scope);
}

/** Whether a license that matches a query has exactly its name. */
export function hasExactName({ by, names, isWhole }: NameQuery, license: StoredLicense): boolean {
  if (by === 'business') {
    const keys = businessNameKeys(license.full_name);
    return names.some((name) => keys.includes(name.slice(name.indexOf('/') + 1)));
  }
  const { name } = license.keys;
  return isWhole ? names.includes(name) : names.some((prefix) => name.startsWith(prefix));
}

/** How many persons suggestions are chosen from: the first ones by name, across all shards. */
const MAX_SUGGESTED_FROM = 50;

/** @param maxMatches the most matches of a name; one more shows that there are more */
export function nameBody({ by, names, isWhole, filters, select }: NameQuery, maxMatches: number): SearchBody {
  const isExact = select === 'exact';
  const field = by === 'person' ? (isExact ? 'keys.name' : 'keys.holder') : `keys.${by}`;
  const named =
    isExact && isWhole
      ? [{ terms: { [field]: names } }]
      : by === 'words'
        ? names.map((name) => beginningWith(field, [name]))
        : [beginningWith(field, names)];
  const size = typeof select === 'number' ? select : maxMatches + 1;
  // If one license is enough, nothing needs to be sorted.
  return searchBody(size, [...named, ...filterClauses(filters)], size === 1 ? ['_doc'] : BY_NAME);
}

/** The clauses that require a license to match every filter. */
function filterClauses(filters: Filters = {}): Clause[] {
  return FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [{ term: { [`keys.${name}`]: fold(value) } }];
  });
}

/** OpenSearch rejects longer patterns (`index.max_regex_length`). Each part of a name has at most 200 characters. */
const MAX_PATTERN_CHARACTERS = 1000;

/**
 * The clause for values that begin with one of these names, which consist of letters, digits, slashes and hyphens.
 * OpenSearch runs a few long patterns faster than many prefixes (docs/decisions/014), and accepts at most 1,024
 * prefixes.
 */
function beginningWith(field: string, names: readonly string[]): Clause {
  const [only = '', another] = names;
  if (another === undefined) return { prefix: { [field]: only } };
  const groups: string[] = [];
  for (const name of names) {
    const group = groups.at(-1);
    const canShare = group !== undefined && `(${group}|${name}).*`.length <= MAX_PATTERN_CHARACTERS;
    if (canShare) groups[groups.length - 1] = `${group}|${name}`;
    else groups.push(name);
  }
  return { bool: { should: groups.map((group) => ({ regexp: { [field]: `(${group}).*` } })) } };
}

/**
 * One search for several persons, by the beginnings of their name keys. Its licenses are unsorted, because sorting
 * costs OpenSearch more.
 *
 * @param maxFound the most licenses that it finds for all persons together
 */
export function personsBody(names: readonly string[], maxFound: number): SearchBody {
  return searchBody(maxFound, [beginningWith('keys.holder', names)], ['_doc']);
}

/**
 * Splits the result of one search for several persons: the licenses that match each query, in the order of `BY_NAME`.
 */
export function matchesOfPersons(
  found: readonly StoredLicense[],
): (query: NameQuery) => readonly StoredLicense[] {
  const holders = found.flatMap((license) => license.keys.holder.map((name) => ({ name, license })));
  const bySurname = Map.groupBy(holders, ({ name }) => boardAndSurname(name));
  return ({ names }) => {
    const matching = names.flatMap((searched) =>
      (bySurname.get(boardAndSurname(searched)) ?? []).filter(({ name }) => name.startsWith(searched)),
    );
    // Several keys of a license may match.
    return [...new Set(matching.map(({ license }) => license))].sort(compareByName);
  };
}

/** The part of a person's key before the given names: `BOARD/SURNAME/`. */
function boardAndSurname(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}

/** Compares licenses as `BY_NAME` sorts them. */
function compareByName(one: StoredLicense, other: StoredLicense): number {
  const byName = compareKeys(one.keys.name, other.keys.name);
  return byName || compareKeys(numberKey(one.license_number), numberKey(other.license_number));
}

function compareKeys(one: string, other: string): number {
  return Number(one > other) - Number(one < other);
}

/** With a shorter name, most names would be similar; with a longer one, the pattern would be too long. */
const NEAR_GIVEN_NAME = { min: 3, max: 12 };

/**
 * Persons with the surname whose given names begin with the typed name after one letter is left out, changed or
 * inserted, or two neighbors are swapped; also persons with the typed name as a later given name. OpenSearch compares
 * only given names of persons with the surname. `undefined` if the given name is too short or too long to be compared.
 */
export function nearGivenNameQuery(scope: Scope, { surname, given }: LikelyName): OtherQuery | undefined {
  const { min, max } = NEAR_GIVEN_NAME;
  if (surname === '' || given.length < min || given.length > max) return undefined;
  const mistyped = Array.from(given, (letter, at) => {
    const [before, next, after] = [given.slice(0, at), given.slice(at + 1, at + 2), given.slice(at + 2)];
    return `${before}(.?${letter}?${next}|${next}${letter})${after}`;
  });
  const pattern = `(${[...mistyped, `.+${given}`].join('|')}).*`;
  const should = boardsOf(scope.board).map(
    ({ code }): Clause => ({ regexp: { 'keys.holder': `${code}/${surname}/${pattern}` } }),
  );
  const filter = [{ bool: { should } }, ...filterClauses(scope.filters)];
  return { by: 'other', body: searchBody(MAX_SUGGESTED_FROM, filter, BY_NAME) };
}

/** In shorter words, changing one letter makes another word. */
const MIN_FUZZY_WORD = 3;

/**
 * Businesses whose trade names have, for each typed word, a word that begins with it. `undefined` if the name has no
 * letter and no digit.
 */
export function businessWordsQuery(scope: Scope, businessName: string): NameQuery | undefined {
  const names = searchedWords(businessName).map((word) => `${scope.board?.code ?? ''}/${word}`);
  return nameQuery('words', names, false, scope);
}

/** Like `businessWordsQuery`, but also finds businesses with words that differ in one letter. */
export function similarWordsQuery(scope: Scope, businessName: string): OtherQuery | undefined {
  const asTyped = businessWordsQuery(scope, businessName);
  if (asTyped === undefined) return undefined;
  const filter = [...asTyped.names.map(similarWord), ...filterClauses(scope.filters)];
  // A roster uses the same limit, although it lists fewer matches.
  return { by: 'other', body: searchBody(MAX_MATCHES + 1, filter, BY_NAME) };
}

/** A word that begins with the typed one, or differs in one letter. @param name `BOARD/WORD` */
function similarWord(name: string): Clause {
  const beginning = { prefix: { 'keys.words': name } };
  const boardPrefix = name.indexOf('/') + 1;
  if (name.length - boardPrefix < MIN_FUZZY_WORD) return beginning;
  const fuzzy = { value: name, fuzziness: 1, prefix_length: boardPrefix, rewrite: 'constant_score' } as const;
  return { bool: { should: [beginning, { fuzzy: { 'keys.words': fuzzy } }] } };
}

/** No surname is longer. For 60 letters the search at all boards costs OpenSearch 10 times as much as for 6. */
const MAX_SURNAME_LENGTH = 40;

/** How many names are suggested when nobody has the requested one. */
export const MAX_SUGGESTED_NAMES = 5;

/** How many names each shard returns: enough to include the best names of all shards. */
const NEAR_NAMES_PER_SHARD = 100;

/** In shorter words, changing two letters makes another word. */
const MIN_TWO_EDITS = 6;

/** The body of an OpenSearch `_search` for the surnames of each board with a similar spelling. */
export type NearSurnamesBody = NonNullable<ReturnType<typeof nearSurnamesBody>>;

/**
 * Surnames with a similar spelling, at one board or at all boards; `undefined` if the surname has no letters or more
 * than 40.
 */
export function nearSurnamesBody(board: Board | undefined, lastName: string) {
  const surname = surnameKey(lastName);
  if (surname === '' || surname.length > MAX_SURNAME_LENGTH) return undefined;
  const term = {
    field: 'keys.surname',
    suggest_mode: 'always',
    max_edits: surname.length < MIN_TWO_EDITS ? 1 : 2,
    // Every board code has three letters.
    prefix_length: 'NUR/'.length,
    size: MAX_SUGGESTED_NAMES,
    shard_size: NEAR_NAMES_PER_SHARD,
  } as const;
  const texts = boardsOf(board).map(({ code }) => [code, { text: `${code}/${surname}`, term }] as const);
  return { size: 0, suggest: Object.fromEntries(texts) };
}

import { BOARDS, type Board } from '../licenses/boards.ts';
import { businessNameKeys, searchedWords, tradeNameKey } from '../licenses/business-name.ts';
import type { Filters } from '../licenses/filters.ts';
import { fold } from '../licenses/fold.ts';
import { licenseId, type StoredLicense } from '../licenses/license-document.ts';
import { misreadNumberKeys } from '../licenses/misreadings.ts';
import { numberDigits, numberKey } from '../licenses/number.ts';
import { givenNamesKey, surnameKey } from '../licenses/person-name.ts';

/**
 * Whether to return the matches that an interface lists, only those with exactly the name, or any one of them; or, to
 * choose suggestions from, the first 50 or 101, whatever an interface lists.
 */
type Selection = 'all' | 'exact' | 'few' | 'many' | 'any';

/** Persons at one board or at all, by surname and the beginning of the given names. */
export interface PersonQuery {
  readonly by: 'person';
  /** `BOARD/SURNAME/GIVEN` for each board: matching keys begin with one of them. */
  readonly names: readonly string[];
  readonly hasGivenName: boolean;
  readonly filters: Filters;
  readonly select: Selection;
}

/** Persons of a surname whose given names begin nearly as typed, or have it as a later name. */
export interface NearGivenNameQuery {
  readonly by: 'near_given_name';
  /** `BOARD/SURNAME/` for each board. */
  readonly surnames: readonly string[];
  /** Folded. */
  readonly given: string;
  readonly filters: Filters;
}

/** Businesses, by the beginning of a trade name. */
export interface BusinessQuery {
  readonly by: 'business';
  /** `BOARD/TRADENAME`, or `/TRADENAME` for all boards: matching keys begin with it. */
  readonly name: string;
  readonly filters: Filters;
  readonly select: Exclude<Selection, 'few'>;
}

/** Businesses that have every one of these words in their trade names. */
export interface BusinessWordsQuery {
  readonly by: 'business_words';
  readonly board: Board | undefined;
  /** Folded; each the beginning of a word. */
  readonly words: readonly string[];
  /** Whether words that differ in one letter match too. Such matches come last. */
  readonly isFuzzy: boolean;
  readonly filters: Filters;
  readonly select: Extract<Selection, 'all' | 'many' | 'any'>;
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

/** The licenses of a number key that has more of them than a query by number returns, such as `PENDING`. */
export interface CommonNumberQuery {
  readonly by: 'common_number';
  readonly numberKey: string;
  readonly board: Board | undefined;
}

/** A query to one publication. `search-bodies.ts` makes the OpenSearch request of each kind. */
export type LicenseQuery =
  | { readonly by: 'id'; readonly id: string }
  | { readonly by: 'number'; readonly numberKey: string }
  | CommonNumberQuery
  | PersonQuery
  | NearGivenNameQuery
  | BusinessQuery
  | BusinessWordsQuery
  | NearNumberQuery;

/** The licenses that a query found. */
export interface SearchResult {
  readonly licenses: readonly StoredLicense[];
  /** Whether these are all. If not, there is at least one more than a lookup returns. */
  readonly isComplete: boolean;
}

/** Runs a query in one publication. */
export type Search = (query: LicenseQuery) => Promise<SearchResult>;

/** Finds surnames with a similar spelling in one publication, best first: `BOARD/SURNAME`. */
export type NearSurnames = (query: NearSurnamesQuery) => Promise<readonly string[]>;

/** The board's license whose number is written exactly like this; `undefined` without letters and digits. */
export function writtenNumberQuery(board: Board, written: string): LicenseQuery | undefined {
  return numberKey(written) === '' ? undefined : { by: 'id', id: licenseId(board.name, written) };
}

/** All licenses whose number has the same key; `undefined` without letters and digits. */
export function numberQuery(written: string): Extract<LicenseQuery, { by: 'number' }> | undefined {
  const key = numberKey(written);
  return key === '' ? undefined : { by: 'number', numberKey: key };
}

/** The board, or all of them. */
function boardsOf(board: Board | undefined): readonly Board[] {
  return board === undefined ? BOARDS : [board];
}

/**
 * Persons, at one board or at all, by whole surname and the beginning of the given names. `undefined` when one of the
 * names has no letter and no digit.
 */
export function personQuery(
  board: Board | undefined,
  lastName: string,
  firstName: string | undefined,
  filters: Filters,
): PersonQuery | undefined {
  const surname = surnameKey(lastName);
  const given = givenNamesKey(firstName ?? '');
  if (surname === '' || (firstName !== undefined && given === '')) return undefined;
  return {
    by: 'person',
    names: boardsOf(board).map(({ code }) => `${code}/${surname}/${given}`),
    hasGivenName: given !== '',
    filters,
    select: 'all',
  };
}

/**
 * Businesses, at one board or at all, by the beginning of either trade name. `undefined` when the name has no letter
 * and no digit.
 */
export function businessQuery(
  board: Board | undefined,
  businessName: string,
  filters: Filters,
): BusinessQuery | undefined {
  const tradeName = tradeNameKey(businessName);
  if (tradeName === '') return undefined;
  return { by: 'business', name: `${board?.code ?? ''}/${tradeName}`, filters, select: 'all' };
}

/** Whether a license that matches a query has exactly its name. */
export function hasExactName(query: PersonQuery | BusinessQuery, license: StoredLicense): boolean {
  if (query.by === 'business') {
    return businessNameKeys(license.full_name).includes(query.name.slice(query.name.indexOf('/') + 1));
  }
  const { name } = license.keys;
  return query.hasGivenName
    ? query.names.includes(name)
    : query.names.some((prefix) => name.startsWith(prefix));
}

/**
 * Businesses, at one board or at all, that have every word typed as the beginning of a word of their trade names.
 * `undefined` when the name has no letter and no digit.
 */
export function businessWordsQuery(
  board: Board | undefined,
  businessName: string,
  filters: Filters,
  isFuzzy: boolean,
): BusinessWordsQuery | undefined {
  const words = searchedWords(businessName);
  return words.length === 0
    ? undefined
    : { by: 'business_words', board, words, isFuzzy, filters, select: isFuzzy ? 'many' : 'all' };
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

/** Surnames at boards with a similar spelling. */
export interface NearSurnamesQuery {
  readonly boards: readonly Board[];
  /** Folded. */
  readonly surname: string;
}

/** No surname is longer. For 200 letters the search costs OpenSearch 5 times as much as for 40. */
const MAX_SURNAME_LENGTH = 60;

/** `undefined` for a surname without letters or of more than 60. */
export function nearSurnamesQuery(board: Board | undefined, lastName: string): NearSurnamesQuery | undefined {
  const surname = surnameKey(lastName);
  return surname === '' || surname.length > MAX_SURNAME_LENGTH
    ? undefined
    : { boards: boardsOf(board), surname };
}

/** A name that a typed one may stand for. */
export interface LikelyName {
  readonly surname: string;
  /** The beginning of the given names; empty for any. */
  readonly given: string;
}

/** Some persons with any of these names, at one board or at all. */
export function likelyPersonsQuery(
  board: Board | undefined,
  names: readonly LikelyName[],
  filters: Filters,
  select: Extract<Selection, 'few' | 'any'>,
): PersonQuery | undefined {
  if (names.length === 0) return undefined;
  return {
    by: 'person',
    names: boardsOf(board).flatMap(({ code }) =>
      names.map(({ surname, given }) => `${code}/${surname}/${given}`),
    ),
    hasGivenName: true,
    filters,
    select,
  };
}

/** With a shorter name, most names would be similar; with a longer one, the pattern would be too long. */
const NEAR_GIVEN_NAME = { min: 3, max: 12 };

/** `undefined` for a given name that is too short or too long to be compared. */
export function nearGivenNameQuery(
  board: Board | undefined,
  { surname, given }: LikelyName,
  filters: Filters,
): NearGivenNameQuery | undefined {
  const { min, max } = NEAR_GIVEN_NAME;
  if (surname === '' || given.length < min || given.length > max) return undefined;
  const surnames = boardsOf(board).map(({ code }) => `${code}/${surname}/`);
  return { by: 'near_given_name', surnames, given, filters };
}

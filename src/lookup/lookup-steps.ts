import { hasSearchedWords, matchesBusinessName } from '../licenses/business-name.ts';
import type { Filters } from '../licenses/filters.ts';
import { fold, MAX_FOLDED_CHARACTERS } from '../licenses/fold.ts';
import type { StoredLicense } from '../licenses/license-document.ts';
import { type LookupOutcome, MAX_MATCHES, type NumberNotFoundReason } from '../licenses/lookup-outcome.ts';
import { type LookupRequest, type TypedName, typedTexts } from '../licenses/lookup-request.ts';
import { nearestSpellings } from '../licenses/nearest-spellings.ts';
import { isExactNumber } from '../licenses/number.ts';
import { matchesPersonName } from '../licenses/person-name.ts';
import {
  type BusinessQuery,
  type BusinessWordsQuery,
  businessQuery,
  businessWordsQuery,
  hasExactName,
  type NearSurnames,
  numberQuery,
  type PersonQuery,
  personQuery,
  type Search,
  type SearchResult,
  writtenNumberQuery,
} from './license-query.ts';
import {
  MAX_SUGGESTED_NAMES,
  MAX_SUGGESTED_NUMBERS,
  searchOptional,
  suggestedNumbers,
  suggestedPersons,
} from './suggestions.ts';

type ByNumber = Extract<LookupRequest, { by: 'number' }>;
type ByPerson = Extract<LookupRequest, { by: 'person' }>;
type ByBusiness = Extract<LookupRequest, { by: 'business' }>;
type Found = readonly StoredLicense[];

const NOTHING: SearchResult = { licenses: [], isComplete: true };

type NoMatch = Extract<LookupOutcome, { outcome: 'no_match' }>;

function noMatch(request: NoMatch['request']): NoMatch {
  return { outcome: 'no_match', request, didYouMean: [] };
}

/**
 * Runs the queries of a lookup and chooses its outcome.
 *
 * @param search runs queries in one publication
 * @param nearSurnames searches the same publication; without it, no suggestions are made, which is cheaper
 */
export async function lookUp(
  request: LookupRequest,
  search: Search,
  nearSurnames?: NearSurnames,
): Promise<LookupOutcome> {
  const isTooLong = typedTexts(request).some((text) => fold(text).length > MAX_FOLDED_CHARACTERS);
  switch (request.by) {
    case 'number':
      return isTooLong
        ? numberNotFound(request, 'unknown', [])
        : lookUpNumber(request, search, nearSurnames !== undefined);
    case 'person':
      return isTooLong ? noMatch(request) : lookUpPerson(request, search, nearSurnames);
    case 'business':
      return isTooLong ? noMatch(request) : lookUpBusiness(request, search, nearSurnames !== undefined);
  }
}

async function lookUpNumber(
  request: ByNumber,
  search: Search,
  withSuggestions: boolean,
): Promise<LookupOutcome> {
  const { board, number } = request;
  const withTypedNumber = await searchOptional(board && writtenNumberQuery(board, number), search);
  const asTyped = withTypedNumber.filter((license) => isAsTyped(license, request));
  const sameKey = asTyped.length > 0 ? asTyped : await licensesOfNumberKey(request, search);
  const outcome = chooseByNumber(request, sameKey);
  if (outcome.outcome === 'record' || outcome.reason !== 'unknown' || !withSuggestions) return outcome;
  return { ...outcome, didYouMean: await suggestedNumbers(request, search) };
}

/** The licenses whose number has the same key as the one typed. Of very many, those of the board asked are read. */
async function licensesOfNumberKey({ board, number }: ByNumber, search: Search): Promise<Found> {
  const query = numberQuery(number);
  if (query === undefined) return [];
  const { licenses, isComplete } = await search(query);
  if (isComplete) return licenses;
  const ofBoard = await search({ by: 'common_number', numberKey: query.numberKey, board });
  return ofBoard.licenses.length > 0 ? ofBoard.licenses : licenses;
}

async function lookUpPerson(
  request: ByPerson,
  search: Search,
  nearSurnames: NearSurnames | undefined,
): Promise<LookupOutcome> {
  const { board, lastName, firstName, filters } = request;
  const found = await searchNames(personQuery(board, lastName, firstName, filters), search);
  if (found.licenses.length > 0) return matches(found, request);
  if (nearSurnames === undefined) return noMatch(request);
  const [{ surnameExists, names }, nameExists] = await Promise.all([
    suggestedPersons(request, search, nearSurnames),
    existsWithoutFilters(filters, personQuery(board, lastName, firstName, {}), search),
  ]);
  return {
    ...noMatch(request),
    ...(nameExists && { nameExists }),
    ...(surnameExists && { surnameExists }),
    didYouMean: names,
  };
}

/** Whether filters alone exclude the licenses that a query finds. */
async function existsWithoutFilters(
  filters: Filters,
  query: PersonQuery | BusinessQuery | BusinessWordsQuery | undefined,
  search: Search,
): Promise<boolean> {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  if (!isFiltered || query === undefined) return false;
  return (await search({ ...query, select: 'any' })).licenses.length > 0;
}

async function lookUpBusiness(
  request: ByBusiness,
  search: Search,
  withSuggestions: boolean,
): Promise<LookupOutcome> {
  const { board, name, filters } = request;
  const byPrefix = await searchNames(businessQuery(board, name, filters), search);
  if (byPrefix.licenses.length > 0) return matches(byPrefix, request);
  const query = businessWordsQuery(board, name, filters, withSuggestions);
  const near = query === undefined ? NOTHING : await search(query);
  const withWords = near.licenses.filter((license) => hasSearchedWords(license.full_name, name));
  if (withWords.length > 0) {
    // Licenses with the words come before those with similar ones.
    const isComplete = near.isComplete || withWords.length < near.licenses.length;
    return matches({ licenses: withWords, isComplete }, request);
  }
  const unfiltered = [businessQuery(board, name, {}), businessWordsQuery(board, name, {}, false)];
  const nameExists =
    withSuggestions &&
    (await Promise.all(unfiltered.map((each) => existsWithoutFilters(filters, each, search)))).includes(true);
  const names = near.licenses.map((license) => license.full_name);
  return {
    ...noMatch(request),
    ...(nameExists && { nameExists }),
    didYouMean: nearestSpellings(name, names, MAX_SUGGESTED_NAMES),
  };
}

/** Whether the license is the board's and its number is written exactly as typed. */
function isAsTyped(license: StoredLicense, { board, number }: ByNumber): boolean {
  return license.board === board?.name && license.license_number === number;
}

/** Matches, exact names first, then by name and number. */
async function searchNames(
  query: PersonQuery | BusinessQuery | undefined,
  search: Search,
): Promise<SearchResult> {
  if (query === undefined) return NOTHING;
  const { licenses: found, isComplete } = await search(query);
  const isExact = (license: StoredLicense) => hasExactName(query, license);
  // When there are more matches than were returned, exact names may be among the others.
  const exact = isComplete ? found.filter(isExact) : (await search({ ...query, select: 'exact' })).licenses;
  return { licenses: [...exact, ...found.filter((license) => !isExact(license))], isComplete };
}

function numbersOf(licenses: Found): string[] {
  return licenses.map((license) => license.license_number);
}

type NumberOutcome = Extract<LookupOutcome, { outcome: 'record' | 'number_not_found' }>;

/** @param sameKey every license whose number has the same key as the one typed */
function chooseByNumber(request: ByNumber, sameKey: Found): NumberOutcome {
  const { board, businessOnly } = request;
  const atBoard = board === undefined ? sameKey : sameKey.filter(({ board: name }) => name === board.name);
  const ofKind = businessOnly ? atBoard.filter(({ keys }) => keys.kind === 'business') : atBoard;
  const eligible = exactOf(ofKind, request);
  const [only, another] = eligible;
  if (another !== undefined) {
    return { ...numberNotFound(request, 'ambiguous', eligible), boards: boardsOf(eligible) };
  }
  if (only !== undefined) {
    const { name } = request;
    return { outcome: 'record', record: only, ...(name && { nameMatch: isHolder(only, name) }) };
  }
  if (atBoard.length > 0) return numberNotFound(request, 'not_a_business', []);
  if (sameKey.length === 0) return numberNotFound(request, 'unknown', []);
  const forms = businessOnly ? sameKey.filter(({ keys }) => keys.kind === 'business') : sameKey;
  return { ...numberNotFound(request, 'other_board', forms), boards: boardsOf(exactOf(sameKey, request)) };
}

/** The licenses whose number is the one typed but for case and blanks around it; all of them if none is. */
function exactOf(sameKey: Found, { number }: ByNumber): Found {
  const exact = sameKey.filter((license) => isExactNumber(number, license.license_number));
  return exact.length > 0 ? exact : sameKey;
}

function boardsOf(licenses: Found): string[] {
  return [...new Set(licenses.map(({ board }) => board))].toSorted();
}

function isHolder(license: StoredLicense, typed: TypedName): boolean {
  return 'businessName' in typed
    ? license.keys.kind === 'business' && matchesBusinessName(license.full_name, typed.businessName)
    : license.keys.kind === 'person' && matchesPersonName(license.full_name, typed.lastName, typed.firstName);
}

function numberNotFound(
  request: ByNumber,
  reason: NumberNotFoundReason,
  existing: Found,
): Extract<LookupOutcome, { outcome: 'number_not_found' }> {
  const didYouMean = nearestSpellings(request.number, numbersOf(existing), MAX_SUGGESTED_NUMBERS);
  return { outcome: 'number_not_found', request, reason, didYouMean };
}

function matches({ licenses, isComplete }: SearchResult, request: NoMatch['request']): LookupOutcome {
  const [only, another] = licenses;
  if (only === undefined) return noMatch(request);
  if (another === undefined) return { outcome: 'record', record: only };
  return {
    outcome: 'matches',
    records: licenses.slice(0, MAX_MATCHES),
    truncated: !isComplete || licenses.length > MAX_MATCHES,
  };
}

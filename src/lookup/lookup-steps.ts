import { hasSearchedWords, matchesBusinessName } from '../licenses/business-name.ts';
import { fold, MAX_FOLDED_CHARACTERS } from '../licenses/fold.ts';
import type { StoredLicense } from '../licenses/license-document.ts';
import { type LookupOutcome, MAX_MATCHES, type NumberNotFoundReason } from '../licenses/lookup-outcome.ts';
import { type LookupRequest, type TypedName, typedTexts } from '../licenses/lookup-request.ts';
import { nearestSpellings } from '../licenses/nearest-spellings.ts';
import { isExactNumber } from '../licenses/number.ts';
import { matchesPersonName } from '../licenses/person-name.ts';
import {
  type BusinessQuery,
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

const NO_MATCH = { outcome: 'no_match', didYouMean: [] } as const;

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
        ? numberNotFound(request.number, 'unknown', [])
        : lookUpNumber(request, search, nearSurnames !== undefined);
    case 'person':
      return isTooLong ? NO_MATCH : lookUpPerson(request, search, nearSurnames);
    case 'business':
      return isTooLong ? NO_MATCH : lookUpBusiness(request, search, nearSurnames !== undefined);
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
  const sameKey = asTyped.length > 0 ? asTyped : await searchOptional(numberQuery(number), search);
  const outcome = chooseByNumber(request, sameKey);
  if (outcome.outcome === 'record' || outcome.reason !== 'unknown' || !withSuggestions) return outcome;
  return { ...outcome, didYouMean: await suggestedNumbers(request, search) };
}

async function lookUpPerson(
  request: ByPerson,
  search: Search,
  nearSurnames: NearSurnames | undefined,
): Promise<LookupOutcome> {
  const { board, lastName, firstName, filters } = request;
  const found = await searchNames(personQuery(board, lastName, firstName, filters), search);
  if (found.licenses.length > 0) return matches(found);
  if (nearSurnames === undefined) return NO_MATCH;
  const { surnameExists, names } = await suggestedPersons(request, search, nearSurnames);
  return { ...NO_MATCH, ...(surnameExists && { surnameExists }), didYouMean: names };
}

async function lookUpBusiness(
  { board, name, filters }: ByBusiness,
  search: Search,
  withSuggestions: boolean,
): Promise<LookupOutcome> {
  const byPrefix = await searchNames(businessQuery(board, name, filters), search);
  if (byPrefix.licenses.length > 0) return matches(byPrefix);
  const query = businessWordsQuery(board, name, filters, withSuggestions);
  const near = query === undefined ? NOTHING : await search(query);
  const withWords = near.licenses.filter((license) => hasSearchedWords(license.full_name, name));
  if (withWords.length > 0) {
    // Licenses with the words come before those with similar ones.
    return matches({
      licenses: withWords,
      isComplete: near.isComplete || withWords.length < near.licenses.length,
    });
  }
  const names = near.licenses.map((license) => license.full_name);
  return { ...NO_MATCH, didYouMean: nearestSpellings(name, names, MAX_SUGGESTED_NAMES) };
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
  const exact = sameKey.filter((license) => isExactNumber(request.number, license.license_number));
  const candidates = exact.length > 0 ? exact : sameKey;
  const atBoard =
    board === undefined ? candidates : candidates.filter(({ board: name }) => name === board.name);
  const eligible = businessOnly ? atBoard.filter(({ keys }) => keys.kind === 'business') : atBoard;
  const [only, another] = eligible;
  if (another !== undefined) {
    return { ...numberNotFound(request.number, 'ambiguous', eligible), boards: boardsOf(eligible) };
  }
  if (only !== undefined) {
    const { name } = request;
    return { outcome: 'record', record: only, ...(name && { nameMatch: isHolder(only, name) }) };
  }
  if (atBoard.length > 0) return numberNotFound(request.number, 'not_a_business', []);
  if (candidates.length === 0) return numberNotFound(request.number, 'unknown', []);
  const forms = businessOnly ? sameKey.filter(({ keys }) => keys.kind === 'business') : sameKey;
  return { ...numberNotFound(request.number, 'other_board', forms), boards: boardsOf(candidates) };
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
  typed: string,
  reason: NumberNotFoundReason,
  existing: Found,
): Extract<LookupOutcome, { outcome: 'number_not_found' }> {
  const didYouMean = nearestSpellings(typed, numbersOf(existing), MAX_SUGGESTED_NUMBERS);
  return { outcome: 'number_not_found', reason, didYouMean };
}

function matches({ licenses, isComplete }: SearchResult): LookupOutcome {
  const [only, another] = licenses;
  if (only === undefined) return NO_MATCH;
  if (another === undefined) return { outcome: 'record', record: only };
  return {
    outcome: 'matches',
    records: licenses.slice(0, MAX_MATCHES),
    truncated: !isComplete || licenses.length > MAX_MATCHES,
  };
}

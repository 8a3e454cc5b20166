import { hasSearchedWords, matchesBusinessName } from '../licenses/business-name.ts';
import { fold, MAX_FOLDED_CHARACTERS } from '../licenses/fold.ts';
import type { StoredLicense } from '../licenses/license-document.ts';
import { type LookupOutcome, MAX_MATCHES, type NumberMiss } from '../licenses/lookup-outcome.ts';
import { type LookupRequest, type TypedName, typedTexts } from '../licenses/lookup-request.ts';
import { nearestSpellings } from '../licenses/nearest-spellings.ts';
import { isExactNumber } from '../licenses/number.ts';
import { matchesPersonName } from '../licenses/person-name.ts';
import {
  type BusinessQuery,
  businessQuery,
  businessWordsQuery,
  hasExactName,
  type LicenseQuery,
  type NearSurnamesQuery,
  nearNumberQuery,
  nearSurnamesQuery,
  numberQuery,
  type PersonQuery,
  personQuery,
  writtenNumberQuery,
} from './license-query.ts';

type ByNumber = Extract<LookupRequest, { by: 'number' }>;
type ByPerson = Extract<LookupRequest, { by: 'person' }>;
type ByBusiness = Extract<LookupRequest, { by: 'business' }>;
type Found = readonly StoredLicense[];

/** Asks one publication for licenses. */
export type Search = (query: LicenseQuery) => Promise<Found>;

/** Finds surnames of one publication that are spelled nearly like the one asked for, best first: `BOARD/SURNAME`. */
export type NearSurnames = (query: NearSurnamesQuery) => Promise<readonly string[]>;

/** How many numbers are offered in place of one that no license has. */
const MAX_OFFERED_NUMBERS = 3;

/** How many names are offered in place of one that nobody has. */
export const MAX_OFFERED_NAMES = 5;

const NO_MATCH = { outcome: 'no_match', didYouMean: [] } as const;

/**
 * Answers a lookup from the one publication that `search` asks.
 *
 * @param nearSurnames asks the same publication; without it a miss offers nothing and costs less
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
        ? numberMiss(request.number, 'unknown', [])
        : lookUpNumber(request, search, nearSurnames !== undefined);
    case 'person':
      return isTooLong ? NO_MATCH : lookUpPerson(request, search, nearSurnames);
    case 'business':
      return isTooLong ? NO_MATCH : lookUpBusiness(request, search, nearSurnames !== undefined);
  }
}

/** Nothing is found by no query. */
async function asked(query: LicenseQuery | undefined, search: Search): Promise<Found> {
  return query === undefined ? [] : search(query);
}

async function lookUpNumber(request: ByNumber, search: Search, offersNear: boolean): Promise<LookupOutcome> {
  const { board, number, businessOnly } = request;
  const written = await asked(board && writtenNumberQuery(board, number), search);
  const asTyped = written.filter((license) => isAsTyped(license, request));
  const sameKey = asTyped.length > 0 ? asTyped : await asked(numberQuery(number), search);
  const outcome = chooseByNumber(request, sameKey);
  if (outcome.outcome === 'record' || outcome.miss !== 'unknown' || !offersNear) return outcome;
  const near = await asked(nearNumberQuery(board, number, businessOnly), search);
  const atBoard = near.filter((license) => license.board === board?.name);
  const offered = numbersOf(atBoard.length > 0 ? atBoard : near);
  return { ...outcome, didYouMean: nearestSpellings(number, offered, MAX_OFFERED_NUMBERS) };
}

async function lookUpPerson(
  request: ByPerson,
  search: Search,
  nearSurnames: NearSurnames | undefined,
): Promise<LookupOutcome> {
  const { board, lastName, firstName, filters } = request;
  const found = await searchNames(personQuery(board, lastName, firstName, filters), search);
  if (found.length > 0) return matches(found);
  if (nearSurnames === undefined) return NO_MATCH;
  if (await doesSurnameExist(request, search)) return { ...NO_MATCH, surnameExists: true };
  const query = nearSurnamesQuery(board, lastName);
  const near = query === undefined ? [] : await nearSurnames(query);
  return { ...NO_MATCH, didYouMean: near.map((term) => term.slice(term.indexOf('/') + 1)) };
}

async function lookUpBusiness(
  { board, name, filters }: ByBusiness,
  search: Search,
  offersNear: boolean,
): Promise<LookupOutcome> {
  const byPrefix = await searchNames(businessQuery(board, name, filters), search);
  if (byPrefix.length > 0) return matches(byPrefix);
  const near = await asked(businessWordsQuery(board, name, filters, offersNear), search);
  const withWords = near.filter((license) => hasSearchedWords(license.full_name, name));
  if (withWords.length > 0) return matches(withWords);
  const names = near.map((license) => license.full_name);
  return { ...NO_MATCH, didYouMean: nearestSpellings(name, names, MAX_OFFERED_NAMES) };
}

/** Whether the board has a license of the surname, whatever else was asked; not asked again where nothing else was. */
async function doesSurnameExist(
  { board, lastName, firstName, filters }: ByPerson,
  search: Search,
): Promise<boolean> {
  const isNarrowed = firstName !== undefined || Object.values(filters).some((value) => value !== undefined);
  if (!isNarrowed) return false;
  const query = personQuery(board, lastName, undefined, {});
  return (await asked(query && { ...query, select: 'one' }, search)).length > 0;
}

/** Whether it is the board's license whose number is the one typed, letter for letter. */
function isAsTyped(license: StoredLicense, { board, number }: ByNumber): boolean {
  return license.board === board?.name && license.license_number === number;
}

/** Matches, exact names first, then by name and number; one more than are answered where there are more. */
async function searchNames(query: PersonQuery | BusinessQuery | undefined, search: Search): Promise<Found> {
  if (query === undefined) return [];
  const found = await search(query);
  const isExact = (license: StoredLicense) => hasExactName(query, license);
  // Where not all have come, those of exactly the name may be among the rest.
  const exact =
    found.length > MAX_MATCHES ? await search({ ...query, select: 'exact' }) : found.filter(isExact);
  return [...exact, ...found.filter((license) => !isExact(license))];
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
    return { ...numberMiss(request.number, 'ambiguous', eligible), boards: boardsOf(eligible) };
  }
  if (only !== undefined) {
    const { name } = request;
    return { outcome: 'record', record: only, ...(name && { nameMatch: isHolder(only, name) }) };
  }
  if (atBoard.length > 0) return numberMiss(request.number, 'not_a_business', []);
  if (candidates.length === 0) return numberMiss(request.number, 'unknown', []);
  const forms = businessOnly ? sameKey.filter(({ keys }) => keys.kind === 'business') : sameKey;
  return { ...numberMiss(request.number, 'other_board', forms), boards: boardsOf(candidates) };
}

function boardsOf(licenses: Found): string[] {
  return [...new Set(licenses.map(({ board }) => board))].toSorted();
}

function isHolder(license: StoredLicense, typed: TypedName): boolean {
  return 'businessName' in typed
    ? license.keys.kind === 'business' && matchesBusinessName(license.full_name, typed.businessName)
    : license.keys.kind === 'person' && matchesPersonName(license.full_name, typed.lastName, typed.firstName);
}

function numberMiss(
  typed: string,
  miss: NumberMiss,
  existing: Found,
): Extract<LookupOutcome, { outcome: 'number_not_found' }> {
  const didYouMean = nearestSpellings(typed, numbersOf(existing), MAX_OFFERED_NUMBERS);
  return { outcome: 'number_not_found', miss, didYouMean };
}

function matches(found: Found): LookupOutcome {
  const [only, another] = found;
  if (only === undefined) return NO_MATCH;
  if (another === undefined) return { outcome: 'record', record: only };
  return {
    outcome: 'matches',
    records: found.slice(0, MAX_MATCHES),
    truncated: found.length > MAX_MATCHES,
  };
}

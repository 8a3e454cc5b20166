import type { Board } from '../licenses/boards.ts';
import type { StoredLicense } from '../licenses/document.ts';
import { fold, MAX_FOLDED_CHARACTERS } from '../licenses/fold.ts';
import { hasWordsOf, isHoldersName, isTradeName } from '../licenses/name.ts';
import { nearest } from '../licenses/nearest.ts';
import { isExactNumber } from '../licenses/number.ts';
import type { LicenseRecord } from '../licenses/record.ts';
import {
  businessQuery,
  businessWordsQuery,
  MAX_MATCHES,
  MAX_NEAR_NAMES,
  type NamesQuery,
  type Narrowing,
  type NearTermsBody,
  nearBusinessesQuery,
  nearNumbersQuery,
  nearSurnamesBody,
  numberQuery,
  personQuery,
  type SearchBody,
  writtenNumberQuery,
} from './queries.ts';

/** A person's name (either part) or a business's, as typed. */
export type HolderTyped =
  | { readonly lastName?: string | undefined; readonly firstName?: string | undefined }
  | { readonly businessName: string };

/** What an interface asks: by number (at one board or statewide), by person, or by business. */
export type LookupRequest =
  | {
      readonly by: 'number';
      readonly number: string;
      readonly board?: Board | undefined;
      readonly businessOnly: boolean;
      /** A name sent along with the number, to be compared with the holder's. */
      readonly holder?: HolderTyped | undefined;
    }
  | {
      readonly by: 'person';
      readonly board: Board;
      readonly lastName: string;
      readonly firstName?: string | undefined;
      readonly narrowing: Narrowing;
    }
  | {
      readonly by: 'business';
      readonly board?: Board | undefined;
      readonly name: string;
      readonly narrowing: Narrowing;
    };

/** Why a number was not answered. */
export type NumberMiss = 'unknown' | 'ambiguous' | 'other_board' | 'not_a_business';

/** What was found, in one publication. A miss is an outcome, never an error. */
export type LookupOutcome =
  | {
      readonly outcome: 'record';
      readonly record: LicenseRecord;
      /** Whether the name sent along with the number is the holder's; absent without such a name. */
      readonly nameMatch?: boolean;
    }
  | { readonly outcome: 'matches'; readonly records: readonly LicenseRecord[]; readonly truncated: boolean }
  | {
      readonly outcome: 'no_match';
      /** The board has licenses of this surname; the given name or the filters excluded all of them. */
      readonly surnameExists?: true;
      /** Surnames or business names there that are spelled nearly alike, best first; offered, never acted on. */
      readonly didYouMean: readonly string[];
    }
  | {
      readonly outcome: 'number_not_found';
      readonly miss: NumberMiss;
      /** Written forms that exist, never with their holders. */
      readonly didYouMean: readonly string[];
      /** For `other_board` and `ambiguous`: whose the number is. */
      readonly boards?: readonly string[];
    };

/** Sends one search body to one publication. */
export type Search = (body: SearchBody) => Promise<readonly StoredLicense[]>;

/** Finds terms of one publication that are spelled nearly like the one asked for, best first. */
export type NearTerms = (body: NearTermsBody) => Promise<readonly string[]>;

/**
 * Answers a lookup from the one publication that `search` asks.
 *
 * @param nearTerms asks the same publication; without it a miss offers nothing and costs less
 */
export async function lookUp(
  request: LookupRequest,
  search: Search,
  nearTerms?: NearTerms,
): Promise<LookupOutcome> {
  if (isTooLong(request)) return nothing(request);
  const asked = async (body: SearchBody | undefined) => (body === undefined ? [] : search(body));
  switch (request.by) {
    case 'number': {
      const written = await asked(request.board && writtenNumberQuery(request.board, request.number));
      const asTyped = written.filter((license) => isAsTyped(license, request));
      const sameKey = asTyped.length > 0 ? asTyped : await asked(numberQuery(request.number));
      const outcome = byNumber(request, sameKey);
      if (outcome.outcome === 'record' || outcome.miss !== 'unknown' || !nearTerms) return outcome;
      const { board, number, businessOnly } = request;
      const near = await asked(nearNumbersQuery(board, number, businessOnly));
      const atBoard = near.filter((license) => license.board === board?.name);
      const offered = numbersOf(atBoard.length > 0 ? atBoard : near);
      return { ...outcome, didYouMean: nearest(number, offered, MAX_NEAR_NUMBERS) };
    }
    case 'person': {
      const found = await named(
        personQuery(request.board, request.lastName, request.firstName, request.narrowing),
        search,
      );
      if (found.length > 0) return matches(found);
      if (!nearTerms) return NO_MATCH;
      if ((await asked(surnameQuery(request))).length > 0) return { ...NO_MATCH, surnameExists: true };
      return { ...NO_MATCH, didYouMean: await nearSurnames(request, nearTerms) };
    }
    case 'business': {
      const begun = await named(businessQuery(request.board, request.name, request.narrowing), search);
      if (begun.length > 0) return matches(begun);
      const query = nearTerms ? nearBusinessesQuery : businessWordsQuery;
      const near = await asked(query(request.board, request.name, request.narrowing));
      const worded = near.filter((license) => hasWordsOf(license.full_name, request.name));
      if (worded.length > 0) return matches(worded);
      const names = near.map((license) => license.full_name);
      return { outcome: 'no_match', didYouMean: nearest(request.name, names, MAX_NEAR_NAMES) };
    }
  }
}

/** Whether a folded value is longer than any that is stored: no license can match, so OpenSearch is not asked. */
function isTooLong(request: LookupRequest): boolean {
  const typed =
    request.by === 'number'
      ? [request.number]
      : [
          ...(request.by === 'person' ? [request.lastName, request.firstName] : [request.name]),
          ...Object.values(request.narrowing),
        ];
  return typed.some((text) => text !== undefined && fold(text).length > MAX_FOLDED_CHARACTERS);
}

const NO_MATCH = { outcome: 'no_match', didYouMean: [] } as const;

function nothing({ by }: LookupRequest): LookupOutcome {
  return by === 'number' ? { outcome: 'number_not_found', miss: 'unknown', didYouMean: [] } : NO_MATCH;
}

/** One license of the surname at the board, whatever else was asked; `undefined` where nothing else was. */
function surnameQuery({
  board,
  lastName,
  firstName,
  narrowing,
}: Extract<LookupRequest, { by: 'person' }>): SearchBody | undefined {
  const isNarrowed = firstName !== undefined || Object.values(narrowing).some((value) => value !== undefined);
  const query = isNarrowed ? personQuery(board, lastName, undefined, {}) : undefined;
  return query && { ...query.all, size: 1, sort: ['_doc'] };
}

/** Whether it is the board's license whose number is the one typed, letter for letter. */
function isAsTyped(
  license: StoredLicense,
  { board, number }: Extract<LookupRequest, { by: 'number' }>,
): boolean {
  return license.board === board?.name && license.license_number === number;
}

/** Matches, exact names first, then by name and number; one more than are answered where there are more. */
async function named(query: NamesQuery | undefined, search: Search): Promise<readonly StoredLicense[]> {
  if (query === undefined) return [];
  const found = await search(query.all);
  const isOther = (license: StoredLicense) => !query.isExact(license);
  // Where not all have come, those of exactly the name may be among the rest.
  const exact = found.length > MAX_MATCHES ? await search(query.exact) : found.filter(query.isExact);
  return [...exact, ...found.filter(isOther)];
}

/** Surnames at the board that are spelled nearly like the one typed, itself left out. */
async function nearSurnames(
  request: Extract<LookupRequest, { by: 'person' }>,
  nearTerms: NearTerms,
): Promise<string[]> {
  const body = nearSurnamesBody(request.board, request.lastName);
  const near = body === undefined ? [] : await nearTerms(body);
  return near.map((term) => term.slice(term.indexOf('/') + 1));
}

/** How many numbers are offered in place of one that no license has. */
const MAX_NEAR_NUMBERS = 3;

function numbersOf(licenses: readonly StoredLicense[]): string[] {
  return licenses.map((license) => license.license_number);
}

type NumberOutcome = Extract<LookupOutcome, { outcome: 'record' | 'number_not_found' }>;

function byNumber(
  request: Extract<LookupRequest, { by: 'number' }>,
  sameKey: readonly StoredLicense[],
): NumberOutcome {
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
    const { holder } = request;
    return { outcome: 'record', record: only, ...(holder && { nameMatch: isHolder(only, holder) }) };
  }
  if (atBoard.length > 0) return numberMiss(request.number, 'not_a_business', []);
  if (candidates.length === 0) return numberMiss(request.number, 'unknown', []);
  const forms = businessOnly ? sameKey.filter(({ keys }) => keys.kind === 'business') : sameKey;
  return { ...numberMiss(request.number, 'other_board', forms), boards: boardsOf(candidates) };
}

function boardsOf(licenses: readonly StoredLicense[]): string[] {
  return [...new Set(licenses.map(({ board }) => board))].toSorted();
}

function isHolder(license: StoredLicense, typed: HolderTyped): boolean {
  return 'businessName' in typed
    ? license.keys.kind === 'business' && isTradeName(license.full_name, typed.businessName)
    : license.keys.kind === 'person' && isHoldersName(license.full_name, typed.lastName, typed.firstName);
}

function numberMiss(
  typed: string,
  miss: NumberMiss,
  existing: readonly StoredLicense[],
): Extract<LookupOutcome, { outcome: 'number_not_found' }> {
  const didYouMean = nearest(typed, numbersOf(existing), MAX_NEAR_NUMBERS);
  return { outcome: 'number_not_found', miss, didYouMean };
}

function matches(found: readonly StoredLicense[]): LookupOutcome {
  const [only, another] = found;
  if (only === undefined) return NO_MATCH;
  if (another === undefined) return { outcome: 'record', record: only };
  return {
    outcome: 'matches',
    records: found.slice(0, MAX_MATCHES),
    truncated: found.length > MAX_MATCHES,
  };
}

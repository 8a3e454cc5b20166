import type { Board } from './boards.ts';
import type { StoredLicense } from './document.ts';
import { isExactNumber } from './number.ts';
import {
  businessQuery,
  MAX_MATCHES,
  type Narrowing,
  numberQuery,
  personQuery,
  type SearchBody,
} from './queries.ts';
import type { LicenseRecord } from './record.ts';

/** What a door asks: by number (at one board or statewide), by person, or by business. */
export type LookupRequest =
  | {
      readonly by: 'number';
      readonly number: string;
      readonly board?: Board | undefined;
      readonly businessOnly: boolean;
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
  | { readonly outcome: 'record'; readonly record: LicenseRecord }
  | { readonly outcome: 'matches'; readonly records: readonly LicenseRecord[]; readonly truncated: boolean }
  | { readonly outcome: 'no_match' }
  | {
      readonly outcome: 'number_not_found';
      readonly miss: NumberMiss;
      /** Written forms that exist, never with their holders. */
      readonly didYouMean: readonly string[];
      /** For `other_board`: where the number is. */
      readonly board?: string;
    };

/** Sends one search body to one publication. */
export type Search = (body: SearchBody) => Promise<readonly StoredLicense[]>;

/** Answers a lookup from the one publication that `search` asks. */
export async function lookUp(request: LookupRequest, search: Search): Promise<LookupOutcome> {
  switch (request.by) {
    case 'number': {
      const query = numberQuery(request.number);
      return byNumber(request, query === undefined ? [] : await search(query));
    }
    case 'person':
      return byName(
        personQuery(request.board, request.lastName, request.firstName, request.narrowing),
        search,
      );
    case 'business':
      return byName(businessQuery(request.board, request.name, request.narrowing), search);
  }
}

function byNumber(
  request: Extract<LookupRequest, { by: 'number' }>,
  sameKey: readonly StoredLicense[],
): LookupOutcome {
  const { board, businessOnly } = request;
  const exact = sameKey.filter((license) => isExactNumber(request.number, license.license_number));
  const candidates = exact.length > 0 ? exact : sameKey;
  const atBoard =
    board === undefined ? candidates : candidates.filter(({ board: name }) => name === board.name);
  const eligible = businessOnly ? atBoard.filter(({ keys }) => keys.kind === 'business') : atBoard;
  const [only, another] = eligible;
  if (another !== undefined) return numberMiss('ambiguous', eligible);
  if (only !== undefined) return { outcome: 'record', record: only };
  if (atBoard.length > 0) return numberMiss('not_a_business', []);
  const [elsewhere] = candidates;
  if (elsewhere === undefined) return numberMiss('unknown', []);
  return { ...numberMiss('other_board', candidates), board: elsewhere.board };
}

function numberMiss(
  miss: NumberMiss,
  existing: readonly StoredLicense[],
): Extract<LookupOutcome, { outcome: 'number_not_found' }> {
  const didYouMean = existing.slice(0, 3).map((license) => license.license_number);
  return { outcome: 'number_not_found', miss, didYouMean };
}

async function byName(body: SearchBody | undefined, search: Search): Promise<LookupOutcome> {
  const found = body === undefined ? [] : await search(body);
  const [only, another] = found;
  if (only === undefined) return { outcome: 'no_match' };
  if (another === undefined) return { outcome: 'record', record: only };
  return {
    outcome: 'matches',
    records: found.slice(0, MAX_MATCHES),
    truncated: found.length > MAX_MATCHES,
  };
}

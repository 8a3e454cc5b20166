import type { LicenseRecord } from './license-record.ts';
import type { LookupRequest } from './lookup-request.ts';

/** The most matches that a search returns (SEARCH-05, MCP-05). */
export const MAX_MATCHES = 100;

/** Why a lookup by number has no record: no board has it, several licenses have it, or only another board or a person. */
export const NUMBER_NOT_FOUND_REASONS = ['unknown', 'ambiguous', 'other_board', 'not_a_business'] as const;

export type NumberNotFoundReason = (typeof NUMBER_NOT_FOUND_REASONS)[number];

/** The result of a lookup in one publication. Finding nothing is a result, not an error. */
export type LookupOutcome =
  | {
      readonly outcome: 'record';
      readonly record: LicenseRecord;
      /** Whether the name sent with the number is the holder's; absent without such a name. */
      readonly nameMatch?: boolean;
    }
  | { readonly outcome: 'matches'; readonly records: readonly LicenseRecord[]; readonly truncated: boolean }
  | {
      readonly outcome: 'no_match';
      readonly request: Extract<LookupRequest, { by: 'person' | 'business' }>;
      /** Set when licenses have the name, but the filters exclude them all. */
      readonly nameExists?: true;
      /** Set when licenses have the surname, but the given name or the filters exclude them all. */
      readonly surnameExists?: true;
      /**
       * Business names, surnames, or `SURNAME, GIVEN NAME` that exist there and may be meant, best first. They are only
       * suggested.
       */
      readonly didYouMean: readonly string[];
    }
  | {
      readonly outcome: 'number_not_found';
      readonly request: Extract<LookupRequest, { by: 'number' }>;
      readonly reason: NumberNotFoundReason;
      /** Existing numbers, never with their holders. */
      readonly didYouMean: readonly string[];
      /** For `other_board` and `ambiguous`: the boards that have the number. */
      readonly boards?: readonly string[];
    };

import type { LicenseRecord } from './record.ts';

/** The most matches that a search returns (specification 8.3; the design says the same for REST). */
export const MAX_MATCHES = 100;

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

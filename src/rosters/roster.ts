import type { LicenseRecord } from '../licenses/license-record.ts';
import type { LookupOutcome } from '../licenses/lookup-outcome.ts';
import type { LookupRequest } from '../licenses/lookup-request.ts';
import type { NotFound } from '../licenses/not-found.ts';

/** The most items of one roster. */
export const MAX_ITEMS = 1000;

/** How many matches of a name an item lists, unless the roster says otherwise, and the most that it may say. */
export const DEFAULT_LISTED_MATCHES = 5;
export const MAX_LISTED_MATCHES = 20;

/** How many items without a license get suggestions. Each costs as much as several items. */
export const MAX_ITEMS_WITH_SUGGESTIONS = 50;

/** One lookup of a roster, or what is wrong with it. */
export interface RosterItem {
  /** The caller's own name for the item. */
  readonly reference: string | null;
  readonly request: LookupRequest | InvalidItem;
}

/** An item that cannot be looked up. */
export interface InvalidItem {
  readonly by: 'nothing';
  /** What is wrong and what to send instead. */
  readonly detail: string;
}

/** Many lookups that are answered together, from one publication. */
export interface Roster {
  readonly items: readonly RosterItem[];
  /** The most matches of a name that an item lists, 1 to `MAX_LISTED_MATCHES`. */
  readonly maxMatches: number;
}

/** What found a license: its number, or a name of which it is the only match. */
export const FOUND_BY = ['number', 'name'] as const;

export type FoundBy = (typeof FOUND_BY)[number];

/** How a lookup of a roster ended. */
export type ItemOutcome =
  | {
      readonly outcome: 'found';
      readonly record: LicenseRecord;
      readonly foundBy: FoundBy;
      /** Whether the name sent with the number is the holder's; absent without such a name. */
      readonly nameMatch: boolean | undefined;
    }
  | { readonly outcome: 'ambiguous'; readonly matches: readonly LicenseRecord[]; readonly truncated: boolean }
  | { readonly outcome: 'not_found'; readonly reason: NotFound; readonly suggestionsOmitted: boolean }
  | { readonly outcome: 'invalid'; readonly detail: string };

/** The answer to one item of a roster. */
export type RosterResult = ItemOutcome & {
  /** The item's place in the roster, from 0. */
  readonly index: number;
  readonly reference: string | null;
};

/** How many items of a roster ended in each way; `clear` is how many of the found have no cautions. */
export interface RosterSummary extends Readonly<Record<ItemOutcome['outcome'], number>> {
  readonly clear: number;
}

/** How many items a roster has. */
export function itemsOf({ found, ambiguous, not_found, invalid }: RosterSummary): number {
  return found + ambiguous + not_found + invalid;
}

const GROUPED = new Intl.NumberFormat('en-US');

/** `12 clear, 14 need attention, 3 not found, 1 not understood`: what needs attention was found with cautions, or several match. */
export function summaryInWords({ found, clear, ambiguous, not_found, invalid }: RosterSummary): string {
  const parts = [
    [clear, 'clear'],
    [found - clear + ambiguous, found - clear + ambiguous === 1 ? 'needs attention' : 'need attention'],
    [not_found, 'not found'],
    [invalid, 'not understood'],
  ] as const;
  return parts.map(([count, words]) => `${GROUPED.format(count)} ${words}`).join(', ');
}

/** What a lookup's outcome is to a roster, which lists at most `maxMatches` matches of a name. */
export function itemOutcome(outcome: LookupOutcome, foundBy: FoundBy, maxMatches: number): ItemOutcome {
  switch (outcome.outcome) {
    case 'record':
      return { outcome: 'found', record: outcome.record, foundBy, nameMatch: outcome.nameMatch };
    case 'matches':
      return {
        outcome: 'ambiguous',
        matches: outcome.records.slice(0, maxMatches),
        truncated: outcome.truncated || outcome.records.length > maxMatches,
      };
    case 'no_match':
    case 'number_not_found':
      return { outcome: 'not_found', reason: outcome, suggestionsOmitted: false };
  }
}

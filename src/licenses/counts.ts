import { z } from 'zod';

/** Adds to the count of a name. Names may be any text, and an object has a `constructor` before it is counted. */
export function addTo(counts: Map<string, number>, name: string, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

/** Stored counts by name. `z.record` would leave out the name `__proto__`. */
export const countsByName = z.custom<Readonly<Record<string, number>>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(Number.isSafeInteger),
  'must be whole numbers by name',
);

/** How many items of a roster ended in each way; `clear` is how many of the found have no cautions. */
export type RosterSummary = Readonly<
  Record<'found' | 'clear' | 'ambiguous' | 'not_found' | 'invalid', number>
>;

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

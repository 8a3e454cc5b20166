import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { median } from '../rounds.ts';

/**
 * The results of a lookup. "Somebody else's" is another license that has exactly what was typed. "Wrong" is a license
 * that does not have it, or, if a name was sent, somebody else's license without the warning that the name differs.
 */
export const VERDICTS = ['found', 'offered', "somebody else's", 'missed', 'wrong'] as const;

export type Verdict = (typeof VERDICTS)[number];

const habit = z.strictObject({
  name: z.string(),
  lookups: z.int(),
  verdicts: z.partialRecord(z.enum(VERDICTS), z.int()),
});

export type Habit = z.output<typeof habit>;

const cost = z.strictObject({
  name: z.string(),
  /** The milliseconds of each lookup, once as a hit and once as a miss. */
  hits: z.array(z.number()),
  misses: z.array(z.number()),
  /** The number of misses with a suggestion. */
  suggested: z.int(),
});

export type Cost = z.output<typeof cost>;

/** The result of `npm run bench matching`. */
export const matchingReport = z.strictObject({
  rows: z.int(),
  habits: z.array(habit),
  mistakes: z.array(habit),
  costs: z.array(cost),
});

export type MatchingReport = z.output<typeof matchingReport>;

function share(count: number, of: number): string {
  return count === 0 ? '0' : `${count} (${((100 * count) / of).toFixed(1)} %)`;
}

function habitTable(habits: readonly Habit[]): string {
  const rows = habits.map(({ name, lookups, verdicts }) => [
    name,
    String(lookups),
    ...VERDICTS.map((verdict) => share(verdicts[verdict] ?? 0, lookups)),
  ]);
  return markdownTable(['habit', 'lookups', ...VERDICTS], rows, 'numbers');
}

/** The tables for docs/generated/matching.md. */
export const matchingHabitsText = ({ habits }: MatchingReport) => habitTable(habits);
export const matchingMistakesText = ({ mistakes }: MatchingReport) => habitTable(mistakes);

export function matchingCostText({ costs }: MatchingReport): string {
  const rows = costs.map(({ name, hits, misses, suggested }) => {
    const [hit, miss] = [median(hits), median(misses)];
    return [
      name,
      hit.toFixed(2),
      miss.toFixed(2),
      (miss / hit).toFixed(2),
      `${suggested} of ${misses.length}`,
    ];
  });
  const header = ['lookup', 'hit, median ms', 'miss, median ms', 'ratio', 'misses with a suggestion'];
  return markdownTable(header, rows, 'numbers');
}

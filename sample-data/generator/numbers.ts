import { z } from 'zod';
import numbersJson from '../data/numbers.json' with { type: 'json' };
import type { PlannedType } from './plan.ts';
import { below, chance, pick, type Random } from './random.ts';

const numbering = z.strictObject({
  first: z.number().int().nonnegative(),
  last: z.number().int().positive(),
  /** The number of digits, including leading zeros. */
  widths: z.array(z.number().int().positive()).min(1),
  /** The share with a hyphen after the prefix. */
  hyphened: z.number().min(0).max(1).default(0),
});

/** Keyed by prefix. */
const NUMBERINGS = z.record(z.string(), numbering).parse(numbersJson);
const PLAIN: z.output<typeof numbering> = { first: 1000, last: 99_999, widths: [5, 6], hyphened: 0 };

/** Returns the next license number of one type. It never repeats a number. */
export type NextNumber = (random: Random) => string;

/**
 * The numbers of all license types. Types that share a prefix (both the speech and the psychology board use `SP.`)
 * share one run of ascending values, so that no two numbers are equal, even when leading zeros are ignored.
 */
export function numberRuns(types: readonly PlannedType[]): ReadonlyMap<PlannedType, NextNumber> {
  const byPrefix = Map.groupBy(types, ({ type }) => type.prefix);
  return new Map(
    [...byPrefix.values()].flatMap((sharing) => {
      const total = sharing.reduce((sum, { count }) => sum + count, 0);
      let given = 0;
      return sharing.map((planned) => {
        const run = numberRun(planned.type.prefix, total, given);
        given += planned.count;
        return [planned, run] as const;
      });
    }),
  );
}

function numberRun(prefix: string, total: number, given: number): NextNumber {
  const { first, last, widths, hyphened } = NUMBERINGS[prefix] ?? PLAIN;
  const step = Math.max(1, Math.floor((last - first) / total));
  let from = first + given * step;
  return (random) => {
    const digits = String(from + below(random, step)).padStart(pick(random, widths), '0');
    from += step;
    return hyphened > 0 && chance(random, hyphened) ? `${prefix}-${digits}` : `${prefix}${digits}`;
  };
}

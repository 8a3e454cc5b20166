import { z } from 'zod';
import { median } from '../median.ts';

/** What each contender measured, round by round. */
export type Rounds<Measured> = Readonly<Record<string, readonly Measured[]>>;

/** The schema of rounds, from that of what one round measured. */
export function roundsOf<Schema extends z.ZodType>(measured: Schema) {
  return z.record(z.string(), z.array(measured).readonly()).readonly();
}

/** The median of a contender's rounds. */
export function medianOf<Measured>(
  rounds: Rounds<Measured>,
  name: string,
  of: (measured: Measured) => number,
): number {
  return median((rounds[name] ?? []).map(of));
}

/** One contender's figure divided by the other's, round by round. */
export function ratiosOf<Measured>(
  rounds: Rounds<Measured>,
  [one, other]: readonly [string, string],
  of: (measured: Measured) => number,
): number[] {
  const others = rounds[other] ?? [];
  return (rounds[one] ?? []).flatMap((each, round) => {
    const against = others[round];
    return against === undefined ? [] : [of(each) / of(against)];
  });
}

/** The median of the ratios, and their range: `0.88 × (0.83 to 1.09)`. */
export function times(ratios: readonly number[]): string {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(2)} × (${least.toFixed(2)} to ${most.toFixed(2)})`;
}

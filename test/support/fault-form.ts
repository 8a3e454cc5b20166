const isLong = process.env.LONG === '1';

/** Chooses the amount of work: the short form, or the long form in `npm run test:long`. */
export const inForm = <Value>({ short, long }: { readonly short: Value; readonly long: Value }): Value =>
  isLong ? long : short;

/** Declares tests that run only in the long form. */
export function inLongFormOnly(declareTests: () => void): void {
  if (isLong) declareTests();
}

/** The seed of every random choice in a test. It is the same in each run, unless SEED is set. */
export const SEED = Number(process.env.SEED ?? 1);

const isLong = process.env.LONG === '1';

/** How much is done: a little of each, all of it in `npm run test:long`. */
export function inForm<Value>({ short, long }: { readonly short: Value; readonly long: Value }): Value {
  return isLong ? long : short;
}

/** Declares tests that only the long form runs. */
export function inLongFormOnly(declareTests: () => void): void {
  if (isLong) declareTests();
}

/** What every random choice of a test is drawn from: the same in each run, unless SEED says another. */
export const SEED = Number(process.env.SEED ?? 1);

/** What random moments are drawn from; `FAULTS_SEED` repeats those of an earlier run. */
const SEED = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 1_000_000));

let isUsed = false;

/** The seed of this run. A test that fails after it was used says how to repeat its random moments. */
export function faultSeed(): number {
  isUsed = true;
  return SEED;
}

/** How to repeat the random moments of this file; `undefined` where it has none. */
export function seedNote(): string | undefined {
  return isUsed ? `FAULTS_SEED=${SEED} repeats the random moments of this run.` : undefined;
}

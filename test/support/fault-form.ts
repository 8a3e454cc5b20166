import { appendFile } from 'node:fs/promises';
import { describe, test } from '@jest/globals';
import { type RecordedFault, TABLE_VARIABLE } from './fault-table.ts';

const isFull = process.env.FAULTS === 'full';

/** How much is done: a little of each, all of it with `FAULTS=full`. */
export function inForm<Value>({ short, full }: { readonly short: Value; readonly full: Value }): Value {
  return isFull ? full : short;
}

/** Tests of the long form alone. Otherwise they are skipped, and their names say why. */
export function describeInLongForm(why: string, name: string, tests: () => void): void {
  if (isFull) describe(name, tests);
  else describe.skip(`${name} (skipped: ${why}; FAULTS=full runs it)`, tests);
}

/** What random moments are drawn from; `FAULTS_SEED` repeats those of an earlier run. */
const SEED = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 1_000_000));

let isUsed = false;

/** The seed of this run. A test that fails after it was used says how to repeat its random moments. */
export function faultSeed(): number {
  isUsed = true;
  return SEED;
}

/** How to repeat the random moments of this file; `undefined` where it has none. */
function seedNote(): string | undefined {
  return isUsed ? `FAULTS_SEED=${SEED} repeats the random moments of this run.` : undefined;
}

/** What a test saw of one fault: nothing here is written before the test has seen it. */
export type ObservedFault = Pick<RecordedFault, 'hit' | 'seconds' | 'outcome'>;

/**
 * A test that breaks something on purpose. What it saw goes into the table of the long form.
 *
 * @param fault the table's line, which several tests may share
 * @param name what sets this test apart from the others of the line
 */
export function faultTest(
  fault: string,
  name: string,
  breakAndRecover: () => Promise<ObservedFault>,
  timeoutMs: number,
): void {
  test(
    name === '' ? fault : `${fault}: ${name}`,
    async () => {
      try {
        await record({ fault, hasPassed: true, ...(await breakAndRecover()) });
      } catch (error) {
        await record({ fault, hasPassed: false, hit: '', outcome: '' });
        const note = seedNote();
        throw note === undefined ? error : new Error(note, { cause: error });
      }
    },
    timeoutMs,
  );
}

async function record(seen: RecordedFault): Promise<void> {
  const file = process.env[TABLE_VARIABLE];
  if (file !== undefined) await appendFile(file, `${JSON.stringify(seen)}\n`);
}

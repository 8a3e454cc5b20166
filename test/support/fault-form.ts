import { appendFile } from 'node:fs/promises';
import { test } from '@jest/globals';
import { type RecordedFault, TABLE_VARIABLE } from './fault-table.ts';

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
  timeoutMs = 300_000,
): void {
  test(
    name === '' ? fault : `${fault}: ${name}`,
    async () => {
      try {
        await record({ fault, hasPassed: true, ...(await breakAndRecover()) });
      } catch (error) {
        await record({ fault, hasPassed: false, hit: '', outcome: '' });
        throw error;
      }
    },
    timeoutMs,
  );
}

async function record(seen: RecordedFault): Promise<void> {
  const file = process.env[TABLE_VARIABLE];
  if (file !== undefined) await appendFile(file, `${JSON.stringify(seen)}\n`);
}

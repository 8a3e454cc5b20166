import { appendFile } from 'node:fs/promises';
import { describe, test } from '@jest/globals';
import { type RecordedFault, TABLE_VARIABLE } from './fault-record.ts';
import { seedNote } from './fault-seed.ts';

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

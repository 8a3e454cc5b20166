import { appendFile } from 'node:fs/promises';
import { describe, test } from '@jest/globals';
import { type RecordedFault, TABLE_VARIABLE } from './fault-record.ts';

const isFull = process.env.FAULTS === 'full';

/** How much is done: a little of each in `npm test`, all of it in `npm run test:faults`. */
export function inForm<Value>({ short, full }: { readonly short: Value; readonly full: Value }): Value {
  return isFull ? full : short;
}

/** Tests that `npm run test:faults` alone runs, on every machine; `npm test` skips them and says why. */
export function describeInLongForm(why: string, name: string, tests: () => void): void {
  if (isFull) describe(name, tests);
  else describe.skip(`${name} (skipped: ${why}; npm run test:faults runs it)`, tests);
}

/** What was seen of one fault. */
export interface Recovery {
  /** From the fault to the end of the publication. */
  readonly seconds?: number;
  /** How it ended, beside what is checked after every fault. */
  readonly outcome: string;
}

/**
 * A test that breaks something on purpose. What it saw goes into the table of `npm run test:faults`.
 *
 * @param fault the table's line, which several tests may share
 * @param name what sets this test apart from the others of the line
 */
export function faultTest(
  fault: string,
  name: string,
  breakAndRecover: () => Promise<Recovery>,
  timeoutMs: number,
): void {
  test(
    name === '' ? fault : `${fault}: ${name}`,
    async () => {
      try {
        const { seconds, outcome } = await breakAndRecover();
        await record({ fault, hasPassed: true, outcome, ...(seconds === undefined ? {} : { seconds }) });
      } catch (error) {
        await record({ fault, hasPassed: false, outcome: '' });
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

import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than any wait in a test, even on a busy machine. */
const WITHIN_MS = 120_000;

/** Waits until the condition holds. */
export async function eventually(what: string, isSo: () => Promise<boolean> | boolean, everyMs = 50) {
  for (const deadline = Date.now() + WITHIN_MS; !(await isSo()); await sleep(everyMs))
    if (Date.now() > deadline) throw new Error(`In two minutes it never came to this: ${what}.`);
}

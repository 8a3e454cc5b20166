import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than anything that a test waits for takes, even on a busy machine. */
const WITHIN_MS = 120_000;

/** Waits until this is so. */
export async function eventually(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  everyMs = 50,
): Promise<void> {
  for (const deadline = Date.now() + WITHIN_MS; !(await isSo()); await sleep(everyMs)) {
    if (Date.now() > deadline) throw new Error(`In two minutes it never came to this: ${what}.`);
  }
}

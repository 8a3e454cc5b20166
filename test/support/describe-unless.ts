import { describe } from '@jest/globals';

/** Tests that need something of the machine; where it is missing they are skipped, and their name says why. */
export function describeUnless(missing: string | undefined, name: string, tests: () => void): void {
  if (missing === undefined) describe(name, tests);
  else describe.skip(`${name} (skipped: ${missing})`, tests);
}

import { describe, test } from '@jest/globals';
import { isInstalled } from '../../scripts/program-path.ts';

/** Why this machine can't run a program; `undefined` where it can. */
export function missing(program: string, debianPackage = program): string | undefined {
  if (isInstalled(program)) return undefined;
  return `${program} is missing; install it (Debian: apt-get install ${debianPackage})`;
}

/**
 * Tests that need a program of the machine. Where it is missing they are skipped, and their name says so; with
 * CI=true they fail instead, so that no run of CI passes without them.
 *
 * @param missing what is missing and how to install it; `undefined` where everything is there
 */
export function describeUnless(missing: string | undefined, name: string, tests: () => void): void {
  if (missing === undefined) describe(name, tests);
  else if (process.env.CI === 'true') {
    describe(name, () => {
      test('finds what it needs on this machine', () => {
        throw new Error(`With CI=true nothing is skipped: ${missing}.`);
      });
    });
  } else describe.skip(`${name} (skipped: ${missing})`, tests);
}

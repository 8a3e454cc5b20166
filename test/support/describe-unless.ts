import { describe, test } from '@jest/globals';
import { isInstalled } from '../../scripts/program-path.ts';

/** The reason why this machine cannot run a program; `undefined` if it can. */
export function missing(program: string, debianPackage = program): string | undefined {
  if (isInstalled(program)) return undefined;
  return `${program} is missing; install it (Debian: apt-get install ${debianPackage})`;
}

/**
 * Declares tests that need a program on the machine. If the program is missing, they are skipped and their name says
 * so. With CI=true they fail instead, so that CI never passes without them.
 *
 * @param missing what is missing and how to install it; `undefined` if nothing is missing
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

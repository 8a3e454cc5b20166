import { spawnSync } from 'node:child_process';
import { installDebianPackage } from './debian-packages.ts';
import { isInstalled } from './program-path.ts';
import { print } from './terminal.ts';

/** A program that tests need beside Node, OpenSearch and Redis. */
interface TestProgram {
  readonly isThere: () => boolean;
  readonly debianPackages: readonly string[];
}

const TEST_PROGRAMS: readonly TestProgram[] = [
  {
    isThere: () => Boolean(process.env.CHROMIUM_PATH) || isInstalled('chromium'),
    debianPackages: ['chromium'],
  },
  { isThere: () => isInstalled('curl'), debianPackages: ['curl'] },
  { isThere: () => isInstalled('openssl'), debianPackages: ['openssl'] },
  { isThere: () => isInstalled('promtool'), debianPackages: ['prometheus'] },
  { isThere: hasPip, debianPackages: ['python3', 'python3-pip'] },
];

function hasPip(): boolean {
  return spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
}

/** Installs a package; a failure is no end, for the tests that miss it say so. */
async function install(name: string): Promise<void> {
  try {
    const isTried = await installDebianPackage(name, print);
    if (!isTried) print(`${name} is missing and can't be installed here: that needs root and apt-get.`);
  } catch (error) {
    print(`${name} could not be installed: ${error instanceof Error ? error.message : error}`);
  }
}

for (const { isThere, debianPackages } of TEST_PROGRAMS) {
  if (isThere()) continue;
  for (const name of debianPackages) await install(name);
}

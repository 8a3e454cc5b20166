import { spawnSync } from 'node:child_process';
import { installDebianPackage } from './debian-packages.ts';
import { print } from './processes.ts';
import { isInstalled } from './program-path.ts';

const hasPip = () => spawnSync('python3', ['-m', 'pip', '--version']).status === 0;

/** What tests need beside Node, OpenSearch and Redis: Debian's packages, and whether what they bring is there. */
const TEST_PROGRAMS: readonly (readonly [packages: string[], isThere: boolean])[] = [
  [['chromium'], Boolean(process.env.CHROMIUM_PATH) || isInstalled('chromium')],
  [['curl'], isInstalled('curl')],
  [['openssl'], isInstalled('openssl')],
  [['prometheus'], isInstalled('promtool')],
  [['python3', 'python3-pip'], hasPip()],
];

for (const name of TEST_PROGRAMS.flatMap(([packages, isThere]) => (isThere ? [] : packages))) {
  // A failure is no end, for the tests that miss it say so.
  const isInstalledNow = await installDebianPackage(name, print).catch((error) => print(String(error)));
  if (isInstalledNow === false) {
    print(`${name} is missing and can't be installed here: that needs root and apt-get.`);
  }
}

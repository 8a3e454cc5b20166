import { spawnSync } from 'node:child_process';
import { print, run } from './processes.ts';
import { isInstalled, isRoot } from './program-path.ts';

/**
 * Installs a Debian package if possible, that is, as root on a machine with apt. The installation is never interrupted.
 *
 * @returns whether an installation was attempted
 */
export async function installDebianPackage(name: string): Promise<boolean> {
  if (!isRoot() || !isInstalled('apt-get')) return false;
  print(`Installing Debian's ${name} …`);
  // RUNLEVEL=1: the package must not start a system service.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', name], { env });
  try {
    await install();
  } catch {
    await run('apt-get', ['update'], { env });
    await install();
  }
  return true;
}

/**
 * Installs the programs that tests need besides Node, OpenSearch and Redis. A failure does not stop the run: tests that
 * miss a program say so.
 */
async function installTestPrograms(): Promise<void> {
  const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
  const programs: [packages: string[], isThere: boolean][] = [
    [['chromium'], Boolean(process.env.CHROMIUM_PATH) || isInstalled('chromium')],
    [['curl'], isInstalled('curl')],
    [['openssl'], isInstalled('openssl')],
    [['prometheus'], isInstalled('promtool')],
    [['python3', 'python3-pip'], hasPip],
  ];
  for (const name of programs.flatMap(([packages, isThere]) => (isThere ? [] : packages))) {
    const isTried = await installDebianPackage(name).catch((error) => print(String(error)));
    if (isTried === false)
      print(`${name} is missing and can't be installed here: that needs root and apt-get.`);
  }
}

if (import.meta.main) await installTestPrograms();

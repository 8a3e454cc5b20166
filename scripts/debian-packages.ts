import { run } from './processes.ts';
import { isInstalled, isRoot } from './program-path.ts';

/**
 * Installs a Debian package where that is possible: as root on a machine with apt. Never interrupted half-way.
 *
 * @returns whether it could be tried
 */
export async function installDebianPackage(name: string, report: (line: string) => void): Promise<boolean> {
  if (!isRoot() || !isInstalled('apt-get')) return false;
  report(`Installing Debian's ${name} …`);
  // RUNLEVEL=1: the package must not start a service of the system's own.
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

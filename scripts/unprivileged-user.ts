import { run, runProgram, StartError } from './processes.ts';
import { HAS_SETPRIV, isRoot } from './program-path.ts';

/** The id of `nobody` on every Linux. */
const ID = '65534';
const IDENTITY = ['--reuid', ID, '--regid', ID, '--clear-groups'];

/**
 * A checkout may be in a folder that only root can enter, such as /root or a temporary folder with mode 0700. In that
 * case the user keeps root's right to access files. Without `no_setuid_fixup`, Java would wrongly find that it may not
 * open a file.
 */
const REACHING_ALL = [
  '--securebits=+no_setuid_fixup',
  '--inh-caps=+dac_override',
  '--ambient-caps=+dac_override',
];

/**
 * Lets a server that refuses to run as root run as an unprivileged user.
 *
 * @param owned folders that the user will own
 * @param files files that the user must be able to read
 * @returns arguments for `setpriv`; empty when this process does not run as root
 */
export async function privilegesOfNobody(
  owned: readonly string[],
  files: readonly string[],
): Promise<readonly string[]> {
  if (!isRoot()) return [];
  if (!HAS_SETPRIV) {
    throw new StartError('A server does not run as root: run this as another user, or install `setpriv`.');
  }
  await run('chown', ['-R', '-h', `${ID}:${ID}`, ...owned]);
  const script = 'for file; do test -r "$file" || exit 1; done';
  const reads = await runProgram(['sh', '-c', script, 'sh', ...files], { privileges: IDENTITY });
  return reads.code === 0 ? IDENTITY : [...IDENTITY, ...REACHING_ALL];
}

import { lstat } from 'node:fs/promises';
import { StartError } from './processes.ts';
import { hasSetpriv, isRoot } from './program-path.ts';
import { run } from './programs.ts';

const USER = 'nobody';

/** What is needed to start a process as an unprivileged user. */
export interface UnprivilegedUser {
  /** Makes a folder and all in it the user's own. */
  own(folder: string): Promise<void>;
  /** Arguments for `setpriv`, that make a process the user's and let it reach all of these files. */
  privilegesToReach(files: readonly string[]): Promise<readonly string[]>;
}

/**
 * An unprivileged user to start OpenSearch as, which refuses to run as root.
 *
 * @returns `undefined` when this process isn't root's: then it can start OpenSearch as itself
 */
export async function unprivilegedUser(): Promise<UnprivilegedUser | undefined> {
  if (!isRoot()) return undefined;
  if (!hasSetpriv()) {
    throw new StartError('OpenSearch does not run as root: run this as another user, or install `setpriv`.');
  }
  const [uid, gid] = [await run('id', ['-u', USER]), await run('id', ['-g', USER])];
  const identity = ['--reuid', uid, '--regid', gid, '--clear-groups'];
  return {
    own: (folder) => own(folder, Number(uid), Number(gid)),
    privilegesToReach: (files) => privilegesToReach(files, identity),
  };
}

async function own(folder: string, uid: number, gid: number): Promise<void> {
  const owner = await lstat(folder);
  if (owner.uid !== uid || owner.gid !== gid) await run('chown', ['-R', '-h', `${uid}:${gid}`, folder]);
}

/**
 * A checkout may lie where only root can enter, such as /root or a temporary folder with mode 0700. There
 * the user gets, besides its own rights, the one of passing through folders; in a container that may not
 * give this away, the wider one.
 */
const CAPABILITIES = [undefined, 'dac_read_search', 'dac_override'] as const;

/** Without `no_setuid_fixup` files can be opened, but Java's question whether they may be is answered with no. */
function keeping(capability: string): readonly string[] {
  return ['--securebits=+no_setuid_fixup', `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`];
}

async function privilegesToReach(
  files: readonly string[],
  identity: readonly string[],
): Promise<readonly string[]> {
  const script = 'for file; do test -r "$file" || exit 1; done';
  for (const capability of CAPABILITIES) {
    const privileges = [...identity, ...(capability === undefined ? [] : keeping(capability))];
    const reached = await run('sh', ['-c', script, 'sh', ...files], { privileges }).then(
      () => true,
      () => false,
    );
    if (reached) return privileges;
  }
  throw new StartError(
    `The user ${USER}, who runs OpenSearch, cannot reach ${files.join(' and ')}: set STATE_DIR to a folder that all may enter, such as one in /var/tmp.`,
  );
}

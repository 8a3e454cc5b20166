import { isInstalled } from './program-path.ts';

/** The groups of the processes that were started here and still run. A group's id is that of its first process. */
const running = new Set<number>();

/**
 * The command, which the kernel ends should this process be killed without a chance to stop it.
 *
 * @param privileges arguments for `setpriv`, to start it as another user
 */
export function endingWithThisProcess(
  command: readonly [command: string, ...parameters: string[]],
  privileges: readonly string[] = [],
): readonly [command: string, ...parameters: string[]] {
  if (!hasSetpriv()) return command;
  return ['setpriv', ...privileges, '--pdeathsig', 'TERM', '--', ...command];
}

let setprivFound: boolean | undefined;

/** Whether `setpriv` (util-linux) is there to change a process's user. */
export function hasSetpriv(): boolean {
  setprivFound ??= process.platform === 'linux' && isInstalled('setpriv');
  return setprivFound;
}

/** Whether this process may do all that the administrator may. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Keeps a process that was started with a group of its own (`detached`) for `killAll` until it has ended. */
export function rememberGroup(pid: number | undefined, ended: Promise<unknown>): void {
  if (pid === undefined) return;
  running.add(pid);
  void ended.then(() => running.delete(pid));
}

/** Kills at once, without a chance to tidy up, all that was started here and still runs. */
export function killAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
}

/**
 * Waits until a group's first process has ended.
 *
 * @param deadlineMs the group is killed when this has passed; when left out, it may take its time
 */
export async function endOrKill(
  pid: number | undefined,
  ended: Promise<unknown>,
  deadlineMs: number | undefined,
): Promise<void> {
  const kill = () => signalGroup(pid, 'SIGKILL');
  const timer = deadlineMs === undefined ? undefined : setTimeout(kill, deadlineMs);
  await ended;
  clearTimeout(timer);
}

/** Sends a signal to a group that was started here, unless its first process has ended. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !running.has(pid)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** Something needed can't be had. The message says in words what to do and is shown without a stack. */
export class StartError extends Error {}

const LINES_KEPT = 20;
const TERMINATION_MS = 5_000;

/** A process that was started here, in a process group of its own: a terminal's Ctrl-C doesn't reach it. */
export interface RunningProcess {
  readonly name: string;
  /** Resolves once it has ended, with how: `exit code 1`, `SIGKILL`. Never rejects. */
  readonly ended: Promise<string>;
  /** The last lines it printed. */
  lastLines(): string;
  /** Asks it to end, and kills it and what it started when the deadline has passed. */
  stop(deadlineMs: number): Promise<void>;
  /** Kills it and what it started at once, as a crash would, and waits until it has gone. */
  kill(): Promise<void>;
}

/** How a process is started. */
export interface ProcessOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** What it prints is appended to this file. */
  readonly logFile?: string;
  readonly onLine?: (line: string) => void;
  /** It prints to the terminal itself; nothing of it is read here. */
  readonly ownsTerminal?: boolean;
  /** Arguments for `setpriv`, to start it as somebody else. */
  readonly privileges?: readonly string[];
}

/** How a command is run to its end. */
export interface RunOptions extends ProcessOptions {
  /** What to call it in an error; the command itself when left out. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

const running = new Set<ChildProcess>();

/** Kills at once, without a chance to tidy up, all that was started here and still runs. */
export function killAll(): void {
  for (const child of running) signalGroup(child, 'SIGKILL');
}

/** Starts a process that is meant to stay. */
export function startProcess(
  name: string,
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): RunningProcess {
  const lines: string[] = [];
  const log = options.logFile === undefined ? undefined : openLog(options.logFile);
  const child = spawnDetached(command, args, options, (line) => {
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
    log?.write(`${line}\n`);
    options.onLine?.(line);
  });
  const ended = endOf(child).finally(() => log?.end());
  return {
    name,
    ended,
    lastLines: () => lines.join('\n'),
    stop: (deadlineMs) => terminate(child, ended, deadlineMs),
    kill: async () => {
      if (running.has(child)) signalGroup(child, 'SIGKILL');
      await ended;
    },
  };
}

/**
 * Runs a command to its end.
 *
 * @param signal ends the command early; leave it out for what must not be interrupted
 * @returns what it printed, complaints on stderr aside
 * @throws {StartError} with its last lines, when it fails
 */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  options.signal?.throwIfAborted();
  const lines: string[] = [];
  const output: string[] = [];
  const child = spawnDetached(command, args, options, (line, stream) => {
    lines.push(line);
    if (stream === 'stdout') output.push(line);
    options.onLine?.(line);
  });
  const ended = endOf(child);
  const interrupt = () => void terminate(child, ended, TERMINATION_MS);
  options.signal?.addEventListener('abort', interrupt);
  const timer = options.deadlineMs === undefined ? undefined : setTimeout(interrupt, options.deadlineMs);
  const end = await ended;
  clearTimeout(timer);
  options.signal?.removeEventListener('abort', interrupt);
  options.signal?.throwIfAborted();
  if (end === 'exit code 0') return output.join('\n');

  const failed = `${options.name ?? command} failed (${end})`;
  throw new StartError([failed, ...lines.slice(-LINES_KEPT)].join('\n  '));
}

/** Whether a command can be found in PATH. */
export function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', command], { stdio: 'ignore' }).status === 0;
}

/** Whether this process may do all that the administrator may. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Waits until a started process is ready.
 *
 * @throws {StartError} with its last lines, when it ends first or isn't ready in time
 */
export async function waitUntilReady(
  started: RunningProcess,
  isReady: () => Promise<boolean>,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal: AbortSignal },
): Promise<void> {
  let end: string | undefined;
  void started.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + deadlineMs;
  while (!(await isReady())) {
    signal.throwIfAborted();
    if (end !== undefined) throw startFailure(started, `ended while it was starting (${end})`);
    if (Date.now() > deadline) {
      throw startFailure(started, `was not ready after ${Math.round(deadlineMs / 1000)} seconds`);
    }
    await sleep(100);
  }
}

function startFailure(started: RunningProcess, what: string): StartError {
  const lines = started.lastLines().replaceAll('\n', '\n  ');
  return new StartError(`${started.name} ${what}. Its last lines:\n  ${lines}`);
}

function openLog(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  return createWriteStream(file, { flags: 'a' });
}

function spawnDetached(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
  onLine: (line: string, stream: 'stdout' | 'stderr') => void,
): ChildProcess {
  const [file, ...rest] = endingWithThisProcess([command, ...args], options.privileges ?? []);
  const child = spawn(file, rest, {
    detached: true,
    stdio: options.ownsTerminal === true ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  running.add(child);
  for (const stream of ['stdout', 'stderr'] as const) {
    const input = child[stream];
    if (input !== null) createInterface({ input }).on('line', (line) => onLine(line, stream));
  }
  return child;
}

/** The command, told by the kernel to end should this process be killed without a chance to stop it. */
function endingWithThisProcess(
  [command, ...args]: readonly [string, ...string[]],
  privileges: readonly string[],
): readonly [string, ...string[]] {
  if (!hasSetpriv()) return [command, ...args];
  return ['setpriv', ...privileges, '--pdeathsig', 'TERM', '--', command, ...args];
}

let setprivFound: boolean | undefined;

/** Whether `setpriv` (util-linux) is there to change a process's user. */
export function hasSetpriv(): boolean {
  setprivFound ??= process.platform === 'linux' && isInstalled('setpriv');
  return setprivFound;
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const end = (how: string) => {
      running.delete(child);
      resolve(how);
    };
    child.on('error', (error) => end(error.message));
    child.on('close', (code, signal) => end(signal ?? `exit code ${code}`));
  });
}

async function terminate(child: ChildProcess, ended: Promise<string>, deadlineMs: number): Promise<void> {
  if (!running.has(child)) return;
  signalGroup(child, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), deadlineMs);
  await ended;
  clearTimeout(timer);
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended already.
  }
}

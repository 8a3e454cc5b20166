import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { endingWithThisProcess, endOrKill, rememberGroup, signalGroup } from './process-groups.ts';

/** Something needed can't be had. The message says in words what to do and is shown without a stack. */
export class StartError extends Error {}

const LAST_LINES = 20;

/** How many of a process's last characters are kept: it may print more than a string can hold. */
const MAX_OUTPUT = 8_000_000;

/** Far more than a start takes, also on a busy machine. */
const PRINTED_WITHIN_MS = 120_000;

/** A process that was started here, in a process group of its own: a terminal's Ctrl-C doesn't reach it. */
export interface RunningProcess {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves once it and its output have ended, with how: `exit code 1`, `SIGKILL`. Never rejects. */
  readonly ended: Promise<string>;
  /** What it has printed. */
  output(): string;
  /** The last lines it printed. */
  lastLines(): string;
  /** Waits until it has printed this. @throws {Error} with its output when it ends or two minutes pass first */
  printed(text: string): Promise<void>;
  /**
   * Asks it to end and waits until it has.
   *
   * @param deadlineMs it and what it started are killed when this has passed; when left out, it may take its time
   */
  stop(deadlineMs?: number): Promise<void>;
  /** Kills it alone (SIGKILL), as a crash would, and waits until it has gone. @throws {Error} when it had ended before */
  kill(): Promise<void>;
}

/** How a process is started. */
export interface ProcessOptions {
  /** Its whole environment; that of this process when left out. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** What it prints is appended to this file. */
  readonly logFile?: string;
  readonly onLine?: (line: string) => void;
  /** It prints to the terminal itself; nothing of it is read here. */
  readonly ownsTerminal?: boolean;
  /** Whether what it started is asked to end with it, because it would leave that running. */
  readonly stopsGroup?: boolean;
  /** Arguments for `setpriv`, to start it as somebody else. */
  readonly privileges?: readonly string[];
}

/** Starts a process that is meant to stay. */
export function startProcess(
  name: string,
  command: string,
  parameters: readonly string[],
  options: ProcessOptions = {},
): RunningProcess {
  const child = spawnInGroup([command, ...parameters], options);
  const { output, hasEnded } = collected(child, options);
  const exited = endOf(child, 'exit');
  rememberGroup(child.pid, exited);
  const ended = endOf(child, 'close').finally(hasEnded);

  async function printed(text: string): Promise<void> {
    const deadline = Date.now() + PRINTED_WITHIN_MS;
    while (!output().includes(text)) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        throw new Error(`${name} did not print "${text}":\n${output()}`);
      }
      await sleep(20);
    }
  }

  async function stop(deadlineMs?: number): Promise<void> {
    if (options.stopsGroup === true) signalGroup(child.pid, 'SIGTERM');
    else child.kill('SIGTERM');
    await endOrKill(child.pid, exited, deadlineMs);
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    const end = await exited;
    if (end !== 'SIGKILL') throw new Error(`${name} had ended before it was killed: ${end}.`);
  }
  const lastLines = () => output().trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  return { name, child, ended, output, lastLines, printed, stop, kill };
}

/**
 * Waits until a started process is ready.
 *
 * @throws {StartError} with its last lines, when it ends first or isn't ready in time
 */
export async function waitUntilReady(
  started: RunningProcess,
  isReady: () => Promise<boolean>,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal?: AbortSignal },
): Promise<void> {
  let end: string | undefined;
  void started.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + deadlineMs;
  while (!(await isReady())) {
    signal?.throwIfAborted();
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

/** execa would end the process alone at a deadline; here its whole group is killed. */
function spawnInGroup(
  command: readonly [string, ...string[]],
  { env, cwd, ownsTerminal = false, privileges }: ProcessOptions,
): ChildProcess {
  const [file, ...parameters] = endingWithThisProcess(command, privileges);
  return spawn(file, parameters, {
    detached: true,
    stdio: ownsTerminal ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** Keeps what a process prints, and hands it to its log file and its listener. */
function collected(child: ChildProcess, { logFile, onLine }: ProcessOptions) {
  const log = logFile === undefined ? undefined : openLog(logFile);
  // Joined only when it is asked for: to cut one long string at each piece took a third of a core in benches.
  const pieces: string[] = [];
  let kept = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log?.write(text);
      pieces.push(text);
      kept += text.length;
      while (kept > MAX_OUTPUT) kept -= pieces.shift()?.length ?? 0;
    });
    if (stream !== null && onLine !== undefined) createInterface({ input: stream }).on('line', onLine);
  }
  return { output: () => pieces.join(''), hasEnded: () => log?.end() };
}

function openLog(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  return createWriteStream(file, { flags: 'a' });
}

/** How a process ended; with `close`, once its output has ended too, which a child of it may keep open. */
function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once(event, (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}

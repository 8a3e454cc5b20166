import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEndOfTestFile } from './clean-up.ts';
import { HAS_SETPRIV } from './program-path.ts';

/**
 * Something that the command needs is unavailable. The message tells the user what to do and is printed without a
 * stack.
 */
export class StartError extends Error {}

const LAST_LINES = 20;

/**
 * How many characters of a process's output are kept, counted from its end. A process may print more than a string can
 * hold.
 */
const MAX_OUTPUT = 8_000_000;

/** Far longer than any process takes to start, even on a busy machine. */
const PRINTED_WITHIN_MS = 120_000;

/**
 * Far longer than any program in a test takes, but shorter than the time limit of a test, so that the program's output
 * is shown.
 */
const ENDS_WITHIN_MS = 200_000;

const TERMINATION_MS = 5_000;

/** Longer than an API or a worker may take to stop. */
const STOPPED_WITHIN_MS = 30_000;

/** Far longer than it takes to read the output of an ended process. */
const OUTPUT_READ_WITHIN_MS = 2_000;

/** A process started here in its own process group, so that Ctrl-C in a terminal does not reach it. */
export interface RunningProcess {
  readonly name: string;
  readonly child: ChildProcess;
  /**
   * Resolves when the process and its output have ended, with how it ended: `exit code 1`, `SIGKILL`. Never rejects.
   */
  readonly ended: Promise<string>;
  /** The output so far, of both streams or of one. */
  output(stream?: 'stdout' | 'stderr'): string;
  /** The last lines of its output. */
  lastLines(): string;
  /** Waits until it has printed this text. @throws {StartError} when it ends first; after two minutes it is stopped */
  printed(text: string): Promise<void>;
  /**
   * Asks the process to end, and waits until it has ended and its output is read. It does not wait for a child that
   * keeps the output open.
   *
   * @param deadlineMs kills the process and its children after this time; without it, there is no time limit
   */
  stop(deadlineMs?: number): Promise<void>;
  /**
   * Kills only this process (SIGKILL), like a crash, and waits until it is gone.
   *
   * @throws {Error} when it had ended before
   */
  kill(): Promise<void>;
}

/** The options of a process to start. */
export interface ProcessOptions {
  /** The complete environment; by default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Text for standard input. */
  readonly input?: string;
  /** The output is appended to this file. */
  readonly logFile?: string | undefined;
  readonly onLine?: (line: string) => void;
  /** The process prints directly to the terminal; its output is not read here. */
  readonly ownsTerminal?: boolean;
  /** Whether its children are also asked to end, because it would leave them running. */
  readonly stopsGroup?: boolean;
  /** Arguments for `setpriv`, to run it as another user. */
  readonly privileges?: readonly string[];
}

/** Prints one line. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The process groups that were started here and still run. The id of a group is that of its first process. */
const running = new Set<number>();

/** Starts a process in its own group. */
export function startProcess(
  name: string,
  command: string,
  parameters: readonly string[],
  options: ProcessOptions = {},
): RunningProcess {
  const child = spawnInGroup([command, ...parameters], options);
  const { output, hasEnded } = collected(child, {
    ...options,
    logFile: testLog([command, ...parameters]) ?? options.logFile,
  });
  const exited = endOf(child, 'exit');
  const { pid } = child;
  if (pid !== undefined) {
    running.add(pid);
    void exited.then(() => running.delete(pid));
  }
  const ended = endOf(child, 'close').finally(hasEnded);

  async function stop(deadlineMs?: number): Promise<void> {
    if (options.stopsGroup === true) signalGroup(pid, 'SIGTERM');
    else child.kill('SIGTERM');
    const timer =
      deadlineMs === undefined ? undefined : setTimeout(() => signalGroup(pid, 'SIGKILL'), deadlineMs);
    await exited;
    clearTimeout(timer);
    await Promise.race([ended, sleep(OUTPUT_READ_WITHIN_MS, undefined, { ref: false })]);
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    const end = await exited;
    if (end !== 'SIGKILL') throw new Error(`${name} had ended before it was killed: ${end}.`);
  }
  const lastLines = () => output().trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  atEndOfTestFile(() => stop(STOPPED_WITHIN_MS));
  const started = { name, child, ended, output, lastLines, stop, kill };
  const printed = async (text: string) => {
    await waitUntilReady(started, async () => output().includes(text), { deadlineMs: PRINTED_WITHIN_MS });
  };
  return { ...started, printed };
}

/** The exit code and the output of a program. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The complete output, in the order in which it arrived. */
  readonly output: string;
}

/** The options for running a program until it ends. */
interface RunOptions extends Omit<ProcessOptions, 'logFile' | 'stopsGroup'> {
  /** The time limit, after which the program is ended. */
  readonly withinMs?: number;
  /** Ends the program early. Left out for a program that must not be interrupted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a program until it ends, as a user's shell would.
 *
 * @param options.variables its environment, besides PATH and HOME
 */
export async function runProgram(
  command: readonly [command: string, ...parameters: string[]],
  {
    variables = {},
    withinMs = ENDS_WITHIN_MS,
    ...options
  }: Omit<RunOptions, 'env'> & { readonly variables?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...variables };
  const { child, output } = await runToEnd(command, { env, withinMs, ...options });
  return { code: child.exitCode, stdout: output('stdout'), stderr: output('stderr'), output: output() };
}

/**
 * Runs a command that must succeed.
 *
 * @returns its standard output
 * @throws {StartError} with its last lines, when it fails
 */
export async function run(
  command: string,
  parameters: readonly string[],
  { name = command, ...options }: RunOptions & { readonly name?: string } = {},
): Promise<string> {
  options.signal?.throwIfAborted();
  const program = await runToEnd([command, ...parameters], options);
  options.signal?.throwIfAborted();
  if (program.child.exitCode === 0) return program.output('stdout').trimEnd();
  const lines = program.lastLines().replaceAll('\n', '\n  ');
  throw new StartError(`${name} failed (${await program.ended})\n  ${lines}`.trimEnd());
}

/** Runs a command in its own group. The group is ended at the deadline or on an interrupt. */
async function runToEnd(
  [command, ...parameters]: readonly [command: string, ...parameters: string[]],
  { withinMs, signal, ...options }: RunOptions,
): Promise<RunningProcess> {
  const program = startProcess(command, command, parameters, { ...options, stopsGroup: true });
  const interrupt = () => void program.stop(TERMINATION_MS);
  signal?.addEventListener('abort', interrupt);
  const timer = withinMs === undefined ? undefined : setTimeout(interrupt, withinMs);
  await program.ended;
  clearTimeout(timer);
  signal?.removeEventListener('abort', interrupt);
  return program;
}

/**
 * Waits until a started process is ready.
 *
 * @throws {StartError} with its last lines, when it ends first or is not ready in time; in the latter case it has been
 * stopped
 */
export async function waitUntilReady<Started extends Omit<RunningProcess, 'printed'>>(
  started: Started,
  isReady: () => Promise<boolean>,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal?: AbortSignal },
): Promise<Started> {
  let end: string | undefined;
  void started.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + deadlineMs;
  let problem: string | undefined;
  while (problem === undefined && signal?.aborted !== true) {
    // Output printed before the end still counts.
    if (end !== undefined) problem = `ended while it was starting (${end})`;
    else if (Date.now() > deadline) problem = `was not ready after ${Math.round(deadlineMs / 1000)} seconds`;
    if (await isReady()) return started;
    await sleep(50);
  }
  await started.stop(TERMINATION_MS);
  signal?.throwIfAborted();
  const lines = started.lastLines().replaceAll('\n', '\n  ');
  throw new StartError(`${started.name} ${problem}. Its last lines:\n  ${lines}`);
}

/** Describes how a process ended that should have kept running, with its last lines. */
export async function endInWords(process: RunningProcess): Promise<string> {
  const how = await process.ended;
  return `${process.name} has ended (${how}). Its last lines:\n${process.lastLines()}`;
}

/** Kills all processes that were started here and still run, without letting them clean up. */
export function killAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
}

/** Sends a signal to a process group, unless its first process has ended. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !running.has(pid)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

/** Starts a process in its own group. If this process is killed and cannot stop it, the kernel ends it. */
function spawnInGroup(
  command: readonly [string, ...string[]],
  { env, cwd, input, ownsTerminal = false, privileges = [] }: ProcessOptions,
): ChildProcess {
  const [file, ...parameters]: readonly [string, ...string[]] = HAS_SETPRIV
    ? ['setpriv', ...privileges, '--pdeathsig', 'TERM', '--', ...command]
    : command;
  const printing = ownsTerminal ? 'inherit' : 'pipe';
  const child = spawn(file, parameters, {
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', printing, printing],
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  });
  // The process may end before it has read all its input.
  child.stdin?.on('error', () => undefined).end(input);
  return child;
}

/** Keeps a process's output, and passes it to its log file and listener. */
function collected(child: ChildProcess, { logFile, onLine }: ProcessOptions) {
  const log = logFile === undefined ? undefined : openLog(logFile);
  // The pieces are joined only on request: truncating one long string at each piece took a third of a core in
  // benchmarks.
  const pieces: { readonly from: 'stdout' | 'stderr'; readonly text: string }[] = [];
  let kept = 0;
  for (const from of ['stdout', 'stderr'] as const) {
    const stream = child[from];
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log?.write(text);
      pieces.push({ from, text });
      kept += text.length;
      while (kept > MAX_OUTPUT) kept -= pieces.shift()?.text.length ?? 0;
    });
    if (stream !== null && onLine !== undefined) createInterface({ input: stream }).on('line', onLine);
  }
  const output = (stream?: 'stdout' | 'stderr') =>
    pieces.map(({ from, text }) => (from === (stream ?? from) ? text : '')).join('');
  return { output, hasEnded: () => log?.end() };
}

const TEST_LOGS = Symbol.for('test-logs');

/** From now on, the output of processes started here goes into this folder. The tests' runtime does the same. */
export function keepLogsIn(folder: string): void {
  Reflect.set(globalThis, TEST_LOGS, folder);
}

let logs = 0;

/** The log file for a process started by a test. It is kept if the test file fails. */
function testLog(command: readonly string[]): string | undefined {
  const folder: unknown = Reflect.get(globalThis, TEST_LOGS);
  if (typeof folder !== 'string') return undefined;
  logs += 1;
  const program = command.find((part) => /\.[jt]s$/.test(part)) ?? command[0] ?? '';
  const file = join(folder, `${String(logs).padStart(3, '0')}-${basename(program)}.log`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `$ ${command.join(' ')}\n`);
  return file;
}

function openLog(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  return createWriteStream(file, { flags: 'a' });
}

/**
 * Resolves with how a process ended. With `close`, it also waits for the end of the output, which a child may keep
 * open.
 */
function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once(event, (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}

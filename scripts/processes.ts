import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEndOfTestFile } from './clean-up.ts';
import { HAS_SETPRIV } from './program-path.ts';

/** Something needed can't be had. The message says in words what to do and is shown without a stack. */
export class StartError extends Error {}

const LAST_LINES = 20;

/** How many of a process's last characters are kept: it may print more than a string can hold. */
const MAX_OUTPUT = 8_000_000;

/** Far longer than a start takes, even on a busy machine. */
const PRINTED_WITHIN_MS = 120_000;

/** Far more than any program of a test takes, and less than a test may: so its output is seen. */
const ENDS_WITHIN_MS = 200_000;

const TERMINATION_MS = 5_000;

/** Longer than an API or a worker may take. */
const STOPPED_WITHIN_MS = 30_000;

/** Far longer than it takes to read what an ended process has printed. */
const OUTPUT_READ_WITHIN_MS = 2_000;

/** A process that was started here, in a process group of its own: a terminal's Ctrl-C doesn't reach it. */
export interface RunningProcess {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves once it and its output have ended, with how: `exit code 1`, `SIGKILL`. Never rejects. */
  readonly ended: Promise<string>;
  /** What it has printed, to both streams or to one. */
  output(stream?: 'stdout' | 'stderr'): string;
  /** The last lines it printed. */
  lastLines(): string;
  /** Waits until it has printed this. @throws {StartError} when it ends, or is stopped after two minutes */
  printed(text: string): Promise<void>;
  /**
   * Asks it to end and waits until it has and its output is read, unless a child of it keeps the output open.
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
  /** What it reads from standard input. */
  readonly input?: string;
  /** What it prints is appended to this file. */
  readonly logFile?: string | undefined;
  readonly onLine?: (line: string) => void;
  /** It prints to the terminal itself; nothing of it is read here. */
  readonly ownsTerminal?: boolean;
  /** Whether what it started is asked to end with it, because it would leave that running. */
  readonly stopsGroup?: boolean;
  /** Arguments for `setpriv`, to start it as somebody else. */
  readonly privileges?: readonly string[];
}

/** Prints one line. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The groups of the processes that were started here and still run. A group's id is that of its first process. */
const running = new Set<number>();

/** Starts a process in a group of its own. */
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

/** How a program ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** All that it printed, in the order in which it came. */
  readonly output: string;
}

/** How a program is run to its end. */
interface RunOptions extends Omit<ProcessOptions, 'logFile' | 'stopsGroup'> {
  /** The program is ended after this many milliseconds. */
  readonly withinMs?: number;
  /** Ends it early; left out for what must not be interrupted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a program to its end, as a user's shell would.
 *
 * @param options.variables its environment, beside PATH and HOME
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
 * @returns what it printed, complaints on stderr aside
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

/** Runs a command in a group of its own, which is ended at the deadline or when it is interrupted. */
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
 * @throws {StartError} with its last lines, when it ends first or isn't ready in time; then it has been stopped
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
    // What it printed before it ended counts.
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

/** How a process that should have stayed ended, with its last lines. */
export async function endInWords(process: RunningProcess): Promise<string> {
  const how = await process.ended;
  return `${process.name} has ended (${how}). Its last lines:\n${process.lastLines()}`;
}

/** Kills at once, without a chance to tidy up, all that was started here and still runs. */
export function killAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
}

/** Sends a signal to a group, unless its first process has ended. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !running.has(pid)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}

/** The kernel ends the process should this one be killed without a chance to stop it. */
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
  // It may end before it has read all.
  child.stdin?.on('error', () => undefined).end(input);
  return child;
}

/** Keeps what a process prints, and hands it to its log file and its listener. */
function collected(child: ChildProcess, { logFile, onLine }: ProcessOptions) {
  const log = logFile === undefined ? undefined : openLog(logFile);
  // Joined only when it is asked for: to cut one long string at each piece took a third of a core in benches.
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

/** From now on, what a process that is started here prints goes into this folder. The tests' runtime does the same. */
export function keepLogsIn(folder: string): void {
  Reflect.set(globalThis, TEST_LOGS, folder);
}

let logs = 0;

/** Where the output of a process goes that a test starts: it is kept if the test file fails. */
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

/** How a process ended; with `close`, once its output has ended too, which a child of it may keep open. */
function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once(event, (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}

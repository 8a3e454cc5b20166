import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { endingWithThisProcess, endOrKill, rememberGroup, signalGroup } from './process-groups.ts';
import { StartError } from './processes.ts';

/** Far more than any program of a test takes, also on a busy machine. */
const ENDS_WITHIN_MS = 280_000;

const TERMINATION_MS = 5_000;
const LAST_LINES = 20;

/** How a program ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** All that it printed, in the order in which it came. */
  readonly output: string;
}

/** How a program is run to its end, beside its environment. */
interface EndingOptions {
  readonly cwd?: string;
  /** What it reads from standard input. */
  readonly input?: string;
  /** The program is ended after this many milliseconds. */
  readonly withinMs?: number;
  readonly onLine?: (line: string) => void;
  /** It prints to the terminal itself; nothing of it is read here. */
  readonly ownsTerminal?: boolean;
  /** Ends it early; left out for what must not be interrupted. */
  readonly signal?: AbortSignal;
  /** Arguments for `setpriv`, to start it as somebody else. */
  readonly privileges?: readonly string[];
}

interface ProgramOptions extends EndingOptions {
  /** Beside these it has only PATH and HOME. */
  readonly variables?: NodeJS.ProcessEnv;
}

interface RunOptions extends EndingOptions {
  /** What to call it in an error; the command itself when left out. */
  readonly name?: string;
  /** Its whole environment; that of this process when left out. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end, as a user's shell would. */
export async function runProgram(
  command: readonly [command: string, ...parameters: string[]],
  { variables = {}, withinMs = ENDS_WITHIN_MS, ...options }: ProgramOptions = {},
): Promise<CommandResult> {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...variables };
  const { end: _, ...result } = await ended(command, env, { withinMs, ...options });
  return result;
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
  { name = command, env = process.env, ...options }: RunOptions = {},
): Promise<string> {
  options.signal?.throwIfAborted();
  const { code, stdout, output, end } = await ended([command, ...parameters], env, options);
  options.signal?.throwIfAborted();
  if (code === 0) return stdout.trimEnd();

  const lines = output.trimEnd().split('\n').slice(-LAST_LINES);
  throw new StartError([`${name} failed (${end})`, ...lines].join('\n  ').trimEnd());
}

/** Runs a command in a group of its own, which is ended at the deadline or when it is interrupted. */
async function ended(
  command: readonly [command: string, ...parameters: string[]],
  env: NodeJS.ProcessEnv,
  { cwd, input, withinMs, onLine, ownsTerminal = false, signal, privileges }: EndingOptions,
): Promise<CommandResult & { readonly end: string }> {
  const [file, ...parameters] = endingWithThisProcess(command, privileges);
  const printing = ownsTerminal ? 'inherit' : 'pipe';
  const child = execa(file, parameters, {
    ...{ detached: true, reject: false, all: true, stripFinalNewline: false },
    ...{ env, extendEnv: false, stdout: printing, stderr: printing },
    ...(input === undefined ? { stdin: 'ignore' } : { input }),
    ...(cwd === undefined ? {} : { cwd }),
  });
  rememberGroup(child.pid, child);
  if (onLine !== undefined && child.all !== undefined)
    createInterface({ input: child.all }).on('line', onLine);
  const interrupt = () => {
    signalGroup(child.pid, 'SIGTERM');
    void endOrKill(child.pid, child, TERMINATION_MS);
  };
  signal?.addEventListener('abort', interrupt);
  const timer = withinMs === undefined ? undefined : setTimeout(interrupt, withinMs);
  const { exitCode, signal: killed, stdout, stderr, all, originalMessage } = await child;
  clearTimeout(timer);
  signal?.removeEventListener('abort', interrupt);
  return {
    code: exitCode ?? null,
    stdout: stdout ?? '',
    stderr: stderr ?? '',
    output: all ?? '',
    end: exitCode === undefined ? (killed ?? originalMessage ?? 'not started') : `exit code ${exitCode}`,
  };
}

import { type ProcessOptions, StartError, startProcess } from './processes.ts';

/** Far more than any program of a test takes, also on a busy machine. */
const ENDS_WITHIN_MS = 280_000;

const TERMINATION_MS = 5_000;

/** How a program ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** All that it printed, in the order in which it came. */
  readonly output: string;
}

/** How a program is run to its end. */
interface EndingOptions extends Omit<ProcessOptions, 'env' | 'logFile' | 'stopsGroup'> {
  /** The program is ended after this many milliseconds. */
  readonly withinMs?: number;
  /** Ends it early; left out for what must not be interrupted. */
  readonly signal?: AbortSignal;
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
  const { child, output } = await ended(command, { env, withinMs, ...options });
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
  { name = command, ...options }: RunOptions = {},
): Promise<string> {
  options.signal?.throwIfAborted();
  const program = await ended([command, ...parameters], options);
  options.signal?.throwIfAborted();
  if (program.child.exitCode === 0) return program.output('stdout').trimEnd();

  const lines = program.lastLines().replaceAll('\n', '\n  ');
  throw new StartError(`${name} failed (${await program.ended})\n  ${lines}`.trimEnd());
}

/** Runs a command in a group of its own, which is ended at the deadline or when it is interrupted. */
async function ended(
  [command, ...parameters]: readonly [command: string, ...parameters: string[]],
  { withinMs, signal, ...options }: EndingOptions & Pick<ProcessOptions, 'env'>,
) {
  const program = startProcess(command, command, parameters, { ...options, stopsGroup: true });
  const interrupt = () => void program.stop(TERMINATION_MS);
  signal?.addEventListener('abort', interrupt);
  const timer = withinMs === undefined ? undefined : setTimeout(interrupt, withinMs);
  await program.ended;
  clearTimeout(timer);
  signal?.removeEventListener('abort', interrupt);
  return program;
}

import { ConfigError } from '../src/config.ts';
import { killAll, print, StartError } from './processes.ts';

/** The operator interrupted the command. */
class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('Interrupted.');
    this.exitCode = exitCode;
  }
}

/** A single Ctrl-C arrives twice: from the terminal and forwarded by npm. Two signals within this time count as one. */
const SAME_KEY_PRESS_MS = 400;

/**
 * Runs a command until it ends or fails, and sets the exit code. An error that tells the user what to do is printed
 * without its stack.
 *
 * @param command gets a signal that Ctrl-C aborts; returns the exit code
 */
export async function runCommand(command: (signal: AbortSignal) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command(watchInterrupts());
  } catch (error) {
    process.exitCode = error instanceof Interrupted ? error.exitCode : 1;
    const isInWords = error instanceof StartError || error instanceof ConfigError;
    if (isInWords || error instanceof Interrupted) print(error.message);
    else print(error instanceof Error ? `${error.stack}` : String(error));
  }
}

/**
 * Returns a signal that is aborted with an `Interrupted` reason by Ctrl-C, SIGTERM or a closed terminal. The second
 * interrupt kills all started processes and exits at once.
 */
function watchInterrupts(): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  const onSignal = (_name: NodeJS.Signals, number: number) => {
    const exitCode = 128 + number;
    if (!controller.signal.aborted) {
      first = Date.now();
      controller.abort(new Interrupted(exitCode));
    } else if (Date.now() - first > SAME_KEY_PRESS_MS) {
      killAll();
      process.exit(exitCode);
    }
  };
  // If the terminal is gone, output is lost, but everything must still be stopped in order.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(name, onSignal);
  return controller.signal;
}

/** Rejects with the signal's reason when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

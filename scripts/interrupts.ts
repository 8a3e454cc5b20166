import { killAll } from './processes.ts';

/** The operator asked for the end. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('interrupted');
    this.exitCode = exitCode;
  }
}

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** One Ctrl-C arrives twice, from the terminal and forwarded by npm: so near together they are one. */
const SAME_KEY_PRESS_MS = 400;

/**
 * Turns Ctrl-C (and SIGTERM, and a closed terminal) into an aborted signal whose reason is `Interrupted`.
 * The second time kills all that was started and exits at once.
 */
export function watchInterrupts(): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  const onSignal = (name: keyof typeof EXIT_CODES) => {
    if (!controller.signal.aborted) {
      first = Date.now();
      controller.abort(new Interrupted(EXIT_CODES[name]));
    } else if (Date.now() - first > SAME_KEY_PRESS_MS) {
      killAll();
      process.exit(EXIT_CODES[name]);
    }
  };
  // With the terminal gone, what is printed is lost, but all must still be stopped in order.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  process.on('SIGHUP', () => onSignal('SIGHUP'));
  process.on('SIGINT', () => onSignal('SIGINT'));
  process.on('SIGTERM', () => onSignal('SIGTERM'));
  return controller.signal;
}

/** Rejects with the signal's reason once it is aborted. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

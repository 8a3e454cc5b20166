import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { ConfigError } from '../config.ts';

/** Of every process; each adds it to its own metrics. */
export const uncaughtErrors = new Counter({
  name: 'licenses_uncaught_errors_total',
  help: 'Errors that no code expected, in an event handler or a timer; each is a bug, and its stack is in the log',
  registers: [],
});

/** The text of an error for the log: its stack where it has one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Ends a process that can't start. Node itself would print the error with all its properties: those of an error of
 * OpenSearch or Redis have the password.
 */
export function endUnstarted(error: unknown): never {
  process.stderr.write(`${error instanceof ConfigError ? error.message : stackOf(error)}\n`);
  process.exit(1);
}

/**
 * Ends the process in order after an error that nothing has caught, a rejected promise that nobody waits for included.
 * Nobody knows what such an error has left half done, so the process must not go on; whatever supervises it starts it
 * again. Errors that follow are logged and counted.
 *
 * @param end answers what is under way, for a bounded time, and ends the process with exit code 1
 */
export function endOnUncaughtError(log: Logger, end: () => Promise<void>): void {
  process.on('uncaughtException', (error, origin) => {
    uncaughtErrors.inc();
    log.fatal({ origin, stack: stackOf(error) }, 'uncaught error; the process ends');
    end().catch((failure: unknown) => {
      log.fatal({ stack: stackOf(failure) }, 'the process could not end in order');
      process.exit(1);
    });
  });
}

/** The name of an error that a publication's child process did not catch, as its worker gets it. */
export const UNCAUGHT = 'UncaughtError';

/** For a child process that BullMQ ends itself after such an error; the worker counts it by its name. */
export function nameUncaughtErrors(log: Logger): void {
  process.prependListener('uncaughtException', (error, origin) => {
    log.fatal({ origin, stack: stackOf(error) }, 'uncaught error; the publication starts again');
    if (error instanceof Error) error.name = UNCAUGHT;
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { ConfigError } from '../config.ts';
import { uncaughtErrors } from './registry.ts';

/**
 * Log lines are written in batches, after at most half a second and when the process ends. If nobody reads them, 16 MB
 * are kept and the rest is lost.
 */
const BUFFER = {
  dest: 1,
  sync: false,
  minLength: 8192,
  periodicFlush: 500,
  maxLength: 16 * 1024 * 1024,
} as const;

const ENDS_WITHIN_MS = 1000;

/** A buffered log to standard output. @param name the name of the process in each line */
export function bufferedLog(name: string, level: string) {
  const lines = pino.destination(BUFFER);
  const flushed = () => new Promise<void>((resolve) => lines.flush(() => resolve()));
  /** A flush during a write resolves after that write and leaves up to `minLength` newer bytes, so it is repeated. */
  async function flushedAll(): Promise<void> {
    await flushed();
    await flushed();
  }
  return {
    // For a fatal error, pino would call `flushSync`, which blocks the process while nobody reads its log.
    log: pino({ level, name }, { write: lines.write.bind(lines) }),
    /** Writes the remaining lines, for at most a second, and closes the log. */
    end: async () => {
      // Lines left in the buffer at exit would be written again and again until somebody reads them.
      await Promise.race([flushedAll(), sleep(ENDS_WITHIN_MS)]);
      lines.destroy();
    },
  };
}

const MINUTE_MS = 60_000;

/**
 * Reports an event that may happen many times a second: the first time at once, then at most once a minute.
 *
 * @param report gets the number of events since the last report, and the facts of the latest event
 */
export function onceAMinute<Facts = void>(report: (times: number, last: Facts) => void) {
  let times = 0;
  let timer: NodeJS.Timeout | undefined;
  let reportLast = (): void => undefined;
  function reportTimes(): void {
    timer = times === 0 ? undefined : setTimeout(reportTimes, MINUTE_MS).unref();
    if (times > 0) reportLast();
    times = 0;
  }
  return (last: Facts): void => {
    times += 1;
    reportLast = () => report(times, last);
    if (timer === undefined) reportTimes();
  };
}

/** The text of an error for the log: its stack if it has one, else its message. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Ends a process that cannot start. Node itself would print the error with all its properties, and errors of OpenSearch
 * or Redis include the password.
 */
export function endUnstarted(error: unknown): never {
  process.stderr.write(`${error instanceof ConfigError ? error.message : stackOf(error)}\n`);
  process.exit(1);
}

interface OrderlyEnd {
  /** Finishes the requests that are under way, and closes everything. */
  readonly close: () => Promise<void>;
  readonly withinMs: number;
  /** The log message if stopping takes too long. The process then ends with exit code 1. */
  readonly late: string;
  /** Writes the rest of the log. */
  readonly writeLog?: () => Promise<void>;
}

/**
 * Stops the process in order when it is interrupted, or after an uncaught error, including an unhandled promise
 * rejection. Such an error may leave work half done, so the process must not continue; its supervisor starts it again.
 * Errors that follow are logged and counted.
 *
 * @returns a function that stops the process in the same way
 */
export function endInOrder(
  log: Logger,
  { close, withinMs, late, writeLog = async () => undefined }: OrderlyEnd,
): () => Promise<void> {
  let exitCode = 0;
  let ended: Promise<void> | undefined;
  async function end(): Promise<void> {
    setTimeout(async () => {
      log.error(late);
      await writeLog();
      process.exit(1);
    }, withinMs);
    await close();
    await writeLog();
    process.exit(exitCode);
  }
  const endOnce = () => {
    ended ??= end();
    return ended;
  };
  process.on('uncaughtException', (error, origin) => {
    uncaughtErrors.inc();
    log.fatal({ origin, stack: stackOf(error) }, 'uncaught error; the process ends');
    exitCode = 1;
    endOnce().catch((failure: unknown) => {
      log.fatal({ stack: stackOf(failure) }, 'the process could not end in order');
      process.exit(1);
    });
  });
  process.once('SIGINT', endOnce);
  return endOnce;
}

/** The name of an error that was not caught in a publication's child process. The worker recognizes it by this name. */
export const UNCAUGHT = 'UncaughtError';

/** For a child process that BullMQ itself ends after an uncaught error. The worker counts such an error by its name. */
export function nameUncaughtErrors(log: Logger): void {
  process.prependListener('uncaughtException', (error, origin) => {
    log.fatal({ origin, stack: stackOf(error) }, 'uncaught error; the publication starts again');
    if (error instanceof Error) error.name = UNCAUGHT;
  });
}

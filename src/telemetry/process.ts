import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { ConfigError } from '../config.ts';
import { uncaughtErrors } from './registry.ts';

/**
 * Log lines are written together, after half a second at most and when the process ends. If nobody reads them, 16 MB are
 * kept and the rest is lost.
 */
const BUFFER = {
  dest: 1,
  sync: false,
  minLength: 8192,
  periodicFlush: 500,
  maxLength: 16 * 1024 * 1024,
} as const;

const ENDS_WITHIN_MS = 1000;

/** A log that is written to standard output in pieces. @param name what each line says of the process */
export function bufferedLog(name: string, level: string) {
  const lines = pino.destination(BUFFER);
  const flushed = () => new Promise<void>((resolve) => lines.flush(() => resolve()));
  /** While a write is under way, a flush resolves after that write and leaves what came since, up to `minLength`. */
  async function flushedAll(): Promise<void> {
    await flushed();
    await flushed();
  }
  return {
    // For a fatal error, pino would call `flushSync`, which blocks the process while nobody reads its log.
    log: pino({ level, name }, { write: lines.write.bind(lines) }),
    /** Writes the remaining lines, for at most a second, and ends. */
    end: async () => {
      // What is left in the buffer when the process exits would be written again and again until somebody reads it.
      await Promise.race([flushedAll(), sleep(ENDS_WITHIN_MS)]);
      lines.destroy();
    },
  };
}

const MINUTE_MS = 60_000;

/**
 * Reports what may happen many times a second: the first time at once, then once a minute.
 *
 * @param report gets how often it has happened since the report before, and what is known of the last time
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

interface OrderlyEnd {
  /** Answers what is under way, and closes everything. */
  readonly close: () => Promise<void>;
  readonly withinMs: number;
  /** What the log says where it takes longer; the process then ends with exit code 1. */
  readonly late: string;
  /** Writes what is left of the log. */
  readonly writeLog?: () => Promise<void>;
}

/**
 * Ends the process in order when it is interrupted, and after an error that nothing has caught, a rejected promise that
 * nobody waits for included. Nobody knows what such an error has left half done, so the process must not go on;
 * whatever supervises it starts it again. Errors that follow are logged and counted.
 *
 * @returns ends the process, too
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

/** The name of an error that a publication's child process did not catch, as its worker gets it. */
export const UNCAUGHT = 'UncaughtError';

/** For a child process that BullMQ ends itself after such an error; the worker counts it by its name. */
export function nameUncaughtErrors(log: Logger): void {
  process.prependListener('uncaughtException', (error, origin) => {
    log.fatal({ origin, stack: stackOf(error) }, 'uncaught error; the publication starts again');
    if (error instanceof Error) error.name = UNCAUGHT;
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';

/**
 * Log lines are written together, at the latest after half a second and when the process ends. Where nobody reads
 * them, 16 MB are kept and the rest is lost.
 */
const BUFFER = {
  dest: 1,
  sync: false,
  minLength: 8192,
  periodicFlush: 500,
  maxLength: 16 * 1024 * 1024,
} as const;

const ENDS_WITHIN_MS = 1000;

/** A log that is written to standard output in pieces. */
export interface BufferedLog {
  readonly log: Logger;
  /** Writes the remaining lines, for at most a second, and ends. */
  end(): Promise<void>;
  /** Ends at once and drops the remaining lines. */
  destroy(): void;
}

/** @param name what each line says of the process */
export function bufferedLog(name: string, level: string): BufferedLog {
  const lines = pino.destination(BUFFER);
  return {
    log: pino({ level, name }, lines),
    end: async () => {
      // What is left in the buffer when the process exits would be written again and again until somebody reads it.
      await Promise.race([
        new Promise<void>((resolve) => lines.flush(() => resolve())),
        sleep(ENDS_WITHIN_MS),
      ]);
      lines.destroy();
    },
    destroy: () => lines.destroy(),
  };
}

const MINUTE_MS = 60_000;

/**
 * Reports what may happen many times a second: the first time at once, then once a minute.
 *
 * @param report gets how often it has happened since the report before
 */
export function onceAMinute(report: (times: number) => void): () => void {
  let times = 0;
  let timer: NodeJS.Timeout | undefined;
  function reportTimes(): void {
    timer = times === 0 ? undefined : setTimeout(reportTimes, MINUTE_MS).unref();
    if (times > 0) report(times);
    times = 0;
  }
  return () => {
    times += 1;
    if (timer === undefined) reportTimes();
  };
}

import { resolve } from 'node:path';

/** Settings of a process whose clock is wrong by so many milliseconds. */
export function shiftedClock(ms: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${resolve(import.meta.dirname, 'shifted-clock.ts')}`,
    CLOCK_SHIFT_MS: String(ms),
  };
}

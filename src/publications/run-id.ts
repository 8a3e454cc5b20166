import { randomBytes } from 'node:crypto';

/** A new id, unique for each call and sorted by time: lower-case letters and digits. */
export function newRunId(now: number = Date.now()): string {
  return `${now.toString(36)}${randomBytes(4).toString('hex')}`;
}

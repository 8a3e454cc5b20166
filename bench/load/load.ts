import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';

/** The order for the generator process: one load against one server. */
export const load = z.object({
  /** `http://host:port`. */
  origin: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  /** One body for each request. With GET, what follows `path`. */
  asks: z.array(z.string()),
  method: z.enum(['GET', 'POST']),
  /** What every good answer has. */
  status: z.int(),
  expected: z.string(),
  connections: z.int(),
  /** Requests a second, evenly spaced whatever the answers take; as fast as they are answered when left out. */
  rate: z.number().optional(),
  /** Goes on for so long, asking the same again; each ask is sent once when left out. */
  seconds: z.number().optional(),
});

export type Load = z.output<typeof load>;

/** What came of a load. */
const loadResult = z.object({
  seconds: z.number(),
  answers: z.int(),
  /** Answers without the status or the text expected. */
  wrong: z.int(),
  /** Milliseconds; with a rate, a request that had to wait for its turn counts from when it was due. */
  p50: z.number(),
  p99: z.number(),
  bytes: z.int(),
  /** CPU seconds of the generator itself. */
  cpuSeconds: z.number(),
});

export type LoadResult = z.output<typeof loadResult>;

/** The load, made by a process of its own. */
export async function generated(task: Load): Promise<LoadResult> {
  const child = fork(join(import.meta.dirname, 'generator.ts'));
  child.send(task);
  const ended = once(child, 'exit').then(() => {
    throw new Error('The load generator has ended without a result.');
  });
  const [message] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return loadResult.parse(message);
}

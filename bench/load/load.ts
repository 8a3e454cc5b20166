import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';

/** The task of the generator process: one load on one server. */
export const load = z.object({
  /** `http://host:port`. */
  origin: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  /** The body of each request. For GET, the text after `path`. */
  asks: z.array(z.string()),
  method: z.enum(['GET', 'POST']),
  /** The status of a correct response. `expected` is a text that its body contains. */
  status: z.int(),
  expected: z.string(),
  connections: z.int(),
  /** Requests per second, evenly spaced. If left out, each connection sends as soon as it has its response. */
  rate: z.number().optional(),
  /** The duration, during which asks are repeated. If left out, each ask is sent once. */
  seconds: z.number().optional(),
});

export type Load = z.output<typeof load>;

/** The result of a load. */
const loadResult = z.object({
  seconds: z.number(),
  answers: z.int(),
  /** The number of responses without the expected status or text. */
  wrong: z.int(),
  /** Milliseconds. With a rate, the time of a late request counts from when it was due. */
  p50: z.number(),
  p99: z.number(),
  bytes: z.int(),
  /** CPU seconds of the generator itself. */
  cpuSeconds: z.number(),
});

export type LoadResult = z.output<typeof loadResult>;

/** Runs a load in a separate process. */
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

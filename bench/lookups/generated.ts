import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Load, type LoadResult, loadResult } from './load.ts';

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

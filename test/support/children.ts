import { readdir, readFile } from 'node:fs/promises';
import { childrenOf } from '../../bench/usage.ts';
import { eventually } from './eventually.ts';

/** The children of a process, once it has started one (Linux). */
export async function startedChildrenOf(parent: number): Promise<number[]> {
  await eventually('it has a child', async () => (await childrenOf(parent)).length > 0, 10);
  return childrenOf(parent);
}

/**
 * Kills a process's children (SIGKILL) and waits until they are gone.
 *
 * @returns the number of children
 * @throws {Error} when there are none, because the test would then not cause a fault
 */
export async function killChildrenOf(parent: number): Promise<number> {
  const children = await childrenOf(parent);
  if (children.length === 0) throw new Error(`Process ${parent} has no child: nothing could be killed.`);
  for (const id of children) process.kill(id, 'SIGKILL');
  await untilGone(children);
  return children.length;
}

/** Waits until these processes no longer run. */
export async function untilGone(ids: readonly number[]): Promise<void> {
  for (const id of ids) await eventually(`process ${id} is gone`, async () => !(await isRunning(id)), 10);
}

/** Whether a process runs. An ended process that its parent has not collected yet does not count as running. */
async function isRunning(id: number): Promise<boolean> {
  const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => undefined);
  return status !== undefined && !/^State:\s*[ZX]/m.test(status);
}

/** The ids of this machine's processes with this variable in their environment (Linux). */
export async function processesWith(variable: string, value: string): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (id: string) => readFile(`/proc/${id}/environ`, 'utf8').catch(() => '');
  const environments = await Promise.all(ids.map(read));
  return ids.filter((_, at) => environments[at]?.split('\0').includes(`${variable}=${value}`)).map(Number);
}

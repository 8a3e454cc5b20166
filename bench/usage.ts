import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';

/** Process ids of servers, by name. */
export type Servers = Readonly<Record<string, readonly number[]>>;

/** Linux reports CPU time in hundredths of a second, whatever the kernel's own tick. */
const TICKS_A_SECOND = 100;

/** The CPU seconds of processes since their start, user and system (Linux); 0 for a process that has ended. */
export function cpuSeconds(pids: readonly number[]): Promise<number> {
  return sumOf(pids, async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_A_SECOND;
  });
}

/** The resident memory of processes in MiB (Linux); 0 for a process that has ended. */
export function residentMebibytes(pids: readonly number[]): Promise<number> {
  return sumOf(pids, async (pid) => kibibytesIn(`/proc/${pid}/status`, 'VmRSS').then((size) => size / 1024));
}

async function kibibytesIn(file: string, name: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

async function sumOf(pids: readonly number[], read: (pid: number) => Promise<number>): Promise<number> {
  return (await Promise.all(pids.map(read))).reduce((sum, each) => sum + each, 0);
}

/** The ids of the child processes that were started by a process's first thread (Linux). */
export async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [...list.matchAll(/\d+/g)].map(([id]) => Number(id));
}

/** The process ids of OpenSearch's nodes. */
export async function openSearchPids(client: Client): Promise<number[]> {
  const { body } = await client.nodes.info({ metric: ['process'] });
  return Object.values(body.nodes).flatMap((node) => node.process?.id ?? []);
}

/** Waits for the work, and takes samples meanwhile. */
export async function sampledWhile<Result>(
  work: Promise<Result>,
  read: () => Promise<number>,
  everyMs: number,
): Promise<{ readonly result: Result; readonly samples: readonly number[] }> {
  const samples: number[] = [];
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  // The caller gets the error when it awaits the result.
  ended.catch(() => undefined);
  while (!isDone) {
    samples.push(await read());
    await Promise.race([sleep(everyMs), ended]);
  }
  return { result: await ended, samples };
}

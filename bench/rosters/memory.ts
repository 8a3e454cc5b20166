import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Asked } from '../lookups/asked.ts';
import { type Contender, measure } from './measure.ts';

const SECONDS = 30;
const SAMPLED_EVERY_MS = 100;
const CLIENTS = 8;

/** Resident memory of a process in MiB (Linux); 0 once it has ended. */
export async function residentMebibytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** The most resident memory of the API in MiB while eight clients send rosters of names with 20 matches each. */
export async function memoryOfManyMatches(
  roster: Contender,
  asked: readonly Asked[],
  apiPid: number,
): Promise<number> {
  const common: Contender = {
    ...roster,
    ask: (licenses) => ({
      max_matches: 20,
      items: licenses.map(({ board, lastName }) => ({ board, last_name: lastName })),
    }),
    load: { ...roster.load, expected: '"results"', connections: CLIENTS },
  };
  let isDone = false;
  const load = measure(common, asked, { seconds: SECONDS }).finally(() => {
    isDone = true;
  });
  let most = 0;
  while (!isDone) {
    most = Math.max(most, await residentMebibytes(apiPid));
    await sleep(SAMPLED_EVERY_MS);
  }
  await load;
  return most;
}

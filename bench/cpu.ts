import { readFile } from 'node:fs/promises';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';

/** Linux counts CPU time in hundredths of a second, whatever the kernel's own tick. */
const TICKS_A_SECOND = 100;

/** CPU seconds that a process has used since its start, user and system (Linux); 0 once it has ended. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return 0;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

const processStats = z.object({
  nodes: z.record(
    z.string(),
    z.object({ process: z.object({ cpu: z.object({ total_in_millis: z.int() }) }) }),
  ),
});

/** CPU seconds that OpenSearch's nodes have used since their start. */
export async function openSearchCpuSeconds(client: Client): Promise<number> {
  const { body } = await client.nodes.stats({ metric: ['process'] });
  const milliseconds = Object.values(processStats.parse(body).nodes).map(
    (node) => node.process.cpu.total_in_millis,
  );
  return milliseconds.reduce((sum, each) => sum + each, 0) / 1000;
}

/** The process ids of OpenSearch's nodes. */
export async function openSearchPids(client: Client): Promise<number[]> {
  const { body } = await client.nodes.info({ metric: ['process'] });
  return Object.values(body.nodes).flatMap((node) => node.process?.id ?? []);
}

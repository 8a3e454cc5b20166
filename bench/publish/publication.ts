import { readFile } from 'node:fs/promises';
import { childrenOf } from '../../scripts/children.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { cpuSeconds, openSearchCpuSeconds } from '../cpu.ts';
import { published } from '../published.ts';
import type { Published } from '../reports/publish.ts';
import type { Bench } from './bench.ts';

const MEMORY_EVERY_MS = 100;

/**
 * One publication by a worker of its own, from request to flipped alias, and what its processes held at most.
 *
 * @param start starts the worker; by default that of this checkout
 */
export async function publication(
  { environment, files }: Pick<Bench, 'environment' | 'files'>,
  start: (variables: Record<string, string>) => Promise<RunningProcess> = startWorker,
): Promise<Published> {
  const { store, client, config, variables } = environment;
  const worker = await start(variables);
  let most = 0;
  const workerProcesses = async () => {
    const pid = worker.child.pid ?? 0;
    return [pid, ...(await childrenOf(pid))];
  };
  const watch = setInterval(async () => {
    const processes = await workerProcesses();
    const resident = await Promise.all(processes.map(residentKibibytes));
    most = Math.max(
      most,
      resident.reduce((sum, each) => sum + each, 0),
    );
  }, MEMORY_EVERY_MS);
  try {
    const cpuBefore = await openSearchCpuSeconds(client);
    const startedAt = performance.now();
    const result = await published(config, files, { force: 'bench' });
    const seconds = (performance.now() - startedAt) / 1000;
    const openSearchCpu = (await openSearchCpuSeconds(client)) - cpuBefore;
    const workerCpu = (await Promise.all((await workerProcesses()).map(cpuSeconds))).reduce(
      (sum, each) => sum + each,
      0,
    );
    const documents = result.licenses + result.endorsements;
    const details = await publicationDetails(store, result.publication);
    return {
      rate: documents / seconds,
      openSearchCpu: (openSearchCpu * 1e6) / documents,
      workerCpu: (workerCpu * 1e6) / documents,
      mebibytes: most / 1024,
      seconds,
      steps: details.summary.seconds ?? {},
    };
  } finally {
    clearInterval(watch);
    await worker.stop();
  }
}

async function residentKibibytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}

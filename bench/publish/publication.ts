import type { TestEnvironment } from '../../scripts/environment.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import { print } from '../../scripts/processes.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { type DayFiles, published } from '../published.ts';
import type { Published } from '../reports/publish.ts';
import { childrenOf, cpuSeconds, openSearchPids, residentMebibytes, sampledWhile } from '../usage.ts';

const MEMORY_EVERY_MS = 100;

/**
 * Measures one publication by a new worker, from the request to the switched alias, and the worker's peak memory.
 *
 * @param name the name to print
 * @param start starts the worker; by default the one of this checkout
 */
export async function publication(
  { store, client, config, variables }: TestEnvironment,
  files: DayFiles,
  name: string,
  start = startWorker,
): Promise<Published> {
  const worker = await start(variables);
  const workerPids = async () => {
    const pid = worker.child.pid ?? 0;
    return [pid, ...(await childrenOf(pid))];
  };
  try {
    const pids = await openSearchPids(client);
    const cpuBefore = await cpuSeconds(pids);
    const startedAt = performance.now();
    const { result, samples } = await sampledWhile(
      published(config, files, { force: 'bench' }),
      async () => residentMebibytes(await workerPids()),
      MEMORY_EVERY_MS,
    );
    const seconds = (performance.now() - startedAt) / 1000;
    const documents = result.licenses + result.endorsements;
    const micros = (cpu: number) => (cpu * 1e6) / documents;
    const took = {
      rate: documents / seconds,
      openSearchCpu: micros((await cpuSeconds(pids)) - cpuBefore),
      workerCpu: micros(await cpuSeconds(await workerPids())),
      mebibytes: Math.max(...samples),
      seconds,
      steps: (await publicationDetails(store, result.publication)).summary.seconds ?? {},
    };
    const each = Object.entries(took.steps).map(([step, seconds]) => `${step} ${seconds} s`);
    print(
      `${name}: ${Math.round(took.rate)} documents/s in ${seconds.toFixed(1)} s, ${Math.round(took.mebibytes)} MiB, ` +
        `CPU of a document: OpenSearch ${took.openSearchCpu.toFixed(1)} µs, worker ${took.workerCpu.toFixed(1)} µs; ${each.join(', ')}`,
    );
    return took;
  } finally {
    await worker.stop();
  }
}

import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { type ProxyStep, pass, startProxy } from './proxy.ts';
import { type DatasetFiles, publishByCommand } from './publishing.ts';

/** An installation whose workers reach OpenSearch through a proxy that can watch for requests and disturb them. */
export type Installation = Awaited<ReturnType<typeof installation>>;

/** A new installation without workers. */
export async function installation(settings: Record<string, string> = {}) {
  const environment = await testEnvironment(settings);
  const queue = publishQueue(environment.config);
  atEndOfTestFile(() => queue.close());
  const workers: RunningProcess[] = [];
  let step: ProxyStep = pass;
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, (request) => step(request));
  return {
    environment,
    queue,
    /** The workers started since `stopWorkers` was last called. */
    workers: workers as readonly RunningProcess[],
    /** Starts a worker that reaches OpenSearch through the proxy. */
    startWorker: async (more: Record<string, string> = {}): Promise<RunningProcess> => {
      const worker = await startWorker({ ...environment.variables, OPENSEARCH_URL: proxy.url, ...more });
      workers.push(worker);
      return worker;
    },
    /** Sets how the proxy handles workers' requests to OpenSearch from now on. */
    disturb: (next: ProxyStep) => {
      step = next;
    },
    /** Runs the work at the next matching request, before OpenSearch gets it. Settles when the work is done. */
    at: (request: RegExp, work: (path: string) => unknown) =>
      new Promise<void>((resolve, reject) => {
        step = async (each) => {
          if (request.test(`${each.method} ${each.path}`)) {
            step = pass;
            await (async () => work(each.path))().then(() => resolve(), reject);
          }
          return each.forward();
        };
      }),
    stopWorkers: async (): Promise<void> => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    },
  };
}

/** Runs `licenses publish --json` with these files. The number of licenses of a board may have changed a lot. */
export const publish = ({ environment }: Pick<Installation, 'environment'>, files: DatasetFiles) =>
  publishByCommand(environment.variables, files, '--json', '--accept', 'board_changed');

import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { licenses, startWorker } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { startProxy } from './proxy.ts';
import type { DatasetFiles } from './publishing.ts';

/** An installation whose workers reach OpenSearch through a proxy that can wait for requests and disturb them. */
export type Installation = Awaited<ReturnType<typeof installation>>;

/** A new installation without workers. */
export async function installation() {
  const environment = await testEnvironment();
  const queue = publishQueue(environment.config);
  atEndOfTestFile(() => queue.close());
  let workers: RunningProcess[] = [];
  let awaited: { request: RegExp; work: (path: string) => Promise<void> } | undefined;
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
    if (awaited?.request.test(`${request.method} ${request.path}`)) {
      const { work } = awaited;
      awaited = undefined;
      await work(request.path);
    }
    return request.forward();
  });

  async function stopWorkers(): Promise<void> {
    const stopping = workers;
    workers = [];
    await Promise.all(stopping.map((worker) => worker.stop()));
  }
  return {
    environment,
    queue,
    /** Starts a worker that reaches OpenSearch through the proxy. */
    startWorker: async (settings: Record<string, string> = {}): Promise<RunningProcess> => {
      const variables = { ...environment.variables, OPENSEARCH_URL: proxy.url, ...settings };
      const worker = await startWorker(variables);
      workers.push(worker);
      return worker;
    },
    /** Does something at the next request of this kind, before OpenSearch gets it. Settles when it is done. */
    at: (request: RegExp, work: (path: string) => unknown) =>
      new Promise<void>((resolve, reject) => {
        awaited = {
          request,
          work: async (path) => {
            try {
              await work(path);
              resolve();
            } catch (error) {
              reject(error);
            }
          },
        };
      }),
    stopWorkers,
    cleanUp: async () => {
      await stopWorkers();
      await queue.close();
      await proxy.close();
      await environment.cleanUp();
    },
  };
}

/** Runs `licenses publish --json` with these files, of which a board may have many more or fewer licenses. */
export function publish(
  { environment }: Pick<Installation, 'environment'>,
  { individual, business }: DatasetFiles,
) {
  return licenses(
    environment.variables,
    ...['publish', '--individual', individual, '--business', business, '--json', '--accept', 'board_changed'],
  );
}

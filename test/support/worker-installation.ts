import type { Queue } from 'bullmq';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startWorker } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { licensesOf, writeDay } from './day-files.ts';
import { startProxy, type WebServer } from './proxy.ts';
import type { DatasetFiles } from './publishing.ts';

const NURSING = 'Nursing Board';

/** An installation whose workers reach OpenSearch through a proxy that can wait for requests and disturb them. */
export interface Installation {
  readonly environment: TestEnvironment;
  readonly queue: Queue;
  /** Starts a worker that reaches OpenSearch through the proxy. It is stopped at the end of the test. */
  startWorker(settings?: Record<string, string>): Promise<RunningProcess>;
  /** Does something at the next request of this kind, before OpenSearch gets it. Settles when it is done. */
  at(request: RegExp, work: (path: string) => unknown): Promise<void>;
  stopWorkers(): Promise<void>;
  cleanUp(): Promise<void>;
}

/** A new installation without workers. */
export async function installation(): Promise<Installation> {
  const environment = await testEnvironment();
  const queue = publishQueue(environment.config);
  atEndOfTestFile(() => queue.close());
  let workers: RunningProcess[] = [];
  let awaited: { request: RegExp; work: (path: string) => Promise<void> } | undefined;
  const proxy: WebServer = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
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
    startWorker: async (settings = {}) => {
      const variables = { ...environment.variables, OPENSEARCH_URL: proxy.url, ...settings };
      const worker = await startWorker(variables);
      workers.push(worker);
      return worker;
    },
    at: (request, work) =>
      new Promise((resolve, reject) => {
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

/** Files of this date with this many nurses. */
export function filesOf({ environment }: Installation, date: string, nurses = 20): Promise<DatasetFiles> {
  return writeDay(environment.folder, `${date}-${nurses}`, {
    date,
    individual: licensesOf(NURSING, 'RN.', nurses),
    business: licensesOf('Board of Pharmacy', '02', 3),
  });
}

import { z } from 'zod';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { environmentAt } from '../../scripts/environment.ts';
import { startSample } from '../../scripts/welcome.ts';
import { liveLicensesIndex } from '../../src/publications/metadata.ts';
import { apiClient } from './api.ts';
import { type WebServer, webServer } from './proxy.ts';
import { startService, type TestService } from './service.ts';

/** The data of each shared service: the fixtures, the sample data of `npm start`, or the days of the evaluation. */
const DATA: Readonly<Record<SharedData, Parameters<typeof startService>[0]>> = {
  fixtures: {
    settings: { MCP_ALLOWED_HOSTS: 'licenses.example', MCP_ALLOWED_ORIGINS: 'https://assistant.example' },
  },
  sample: { files: (folder) => writeSampleData({ directory: folder, ...startSample() }) },
  evaluation: { files: evaluationDays },
};

const sharedData = z.enum(['fixtures', 'sample', 'evaluation']);

export type SharedData = z.output<typeof sharedData>;

/** An API process that test files may only read from. */
export type ReadService = Pick<TestService, 'environment' | 'rest' | 'stop'>;

/** The environment variable with the URL at which test files ask for a shared service. */
export const SERVICES_VARIABLE = 'TEST_SERVICES';

/**
 * An API process for test files that only read, with limits that no test reaches. All files of a run share it, each
 * with its own key.
 */
export async function sharedService(data: SharedData = 'fixtures'): Promise<ReadService> {
  const services = process.env[SERVICES_VARIABLE];
  if (services === undefined) return startService(DATA[data]);
  const response = await fetch(`${services}/${data}`);
  const environment = await environmentAt(z.record(z.string(), z.string()).parse(await response.json()));
  return { environment, rest: await apiClient(environment), stop: () => environment.cleanUp() };
}

/** An API process that answers from the sample data of `npm start`. */
export type SampleService = Awaited<ReturnType<typeof startSampleService>>;

/** @returns the service, its address, and the run date of the sample data, `YYYY-MM-DD` */
export async function startSampleService() {
  const service = await sharedService('sample');
  const { config, store } = service.environment;
  const live = await liveLicensesIndex(store);
  return { ...service, url: `http://127.0.0.1:${config.PORT}`, date: live?.metadata.date ?? '' };
}

/** Starts each service when the first test file asks for it. @param begin called before the first service starts */
export async function serveServices(begin: () => void): Promise<WebServer> {
  const services = new Map<string, Promise<TestService>>();
  const server = await webServer(async ({ url = '' }, response) => {
    if (services.size === 0) begin();
    const starting = services.get(url) ?? startService(DATA[sharedData.parse(url.slice(1))]);
    services.set(url, starting);
    try {
      response.end(JSON.stringify((await starting).environment.variables));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  return {
    ...server,
    close: async () => {
      await server.close();
      for (const service of services.values())
        await service.then(({ stop }) => stop()).catch(() => undefined);
    },
  };
}

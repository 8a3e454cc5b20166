import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { type ApiClient, apiClient } from './api.ts';
import { FIXTURES } from './fixtures.ts';
import { type ProxyStep, startProxy } from './proxy.ts';
import { type DatasetFiles, publishFiles } from './publishing.ts';

/** Limits that no test reaches by accident. */
export const HIGH_LIMITS = {
  REST_REQUESTS_PER_MINUTE: '1000000',
  MCP_REQUESTS_PER_MINUTE: '1000000',
  WEB_REQUESTS_PER_MINUTE: '1000000',
};

/** An API process that answers from published files, with all that it needs. */
export interface TestService {
  readonly environment: TestEnvironment;
  /** The process that was started last. */
  readonly api: RunningProcess;
  readonly rest: ApiClient;
  /** Starts the process again, as after a release. */
  restartApi(): Promise<void>;
  /** Stops the process and removes what was made; so does the end of the test file. */
  stop(): Promise<void>;
}

interface ServiceOptions {
  /** Settings beside the test environment's; limits are high unless given here. */
  readonly settings?: Record<string, string>;
  /** What to publish, of one day, of several or of none: the fixtures, unless given. */
  readonly files?: (folder: string) => Promise<DatasetFiles | readonly DatasetFiles[]>;
  /** What happens to the requests of the process to OpenSearch. */
  readonly proxied?: ProxyStep | undefined;
}

/** A new environment with published files, and an API process on it. */
export async function startService({
  settings = {},
  files = async () => FIXTURES,
  proxied,
}: ServiceOptions = {}): Promise<TestService> {
  const environment = await testEnvironment({ ...HIGH_LIMITS, ...settings });
  for (const day of [await files(environment.folder)].flat()) await publishFiles(environment, day);
  const proxy = proxied && (await startProxy(environment.config.OPENSEARCH_URL, proxied));
  const variables = { ...environment.variables, ...(proxy && { OPENSEARCH_URL: proxy.url }) };
  let api = await startApi(variables);
  return {
    environment,
    get api() {
      return api;
    },
    rest: await apiClient(environment),
    restartApi: async () => {
      await api.stop();
      api = await startApi(variables);
    },
    stop: async () => {
      await api.stop();
      await environment.cleanUp();
    },
  };
}

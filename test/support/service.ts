import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { apiClient } from './api.ts';
import { FIXTURES } from './fixtures.ts';
import { type ProxyStep, startProxy } from './proxy.ts';
import { type DatasetFiles, publishFiles } from './publishing.ts';

/** Limits that no test reaches by accident. */
export const HIGH_LIMITS = {
  REST_REQUESTS_PER_MINUTE: '1000000',
  MCP_REQUESTS_PER_MINUTE: '1000000',
  WEB_REQUESTS_PER_MINUTE: '1000000',
};

/** An API process that answers from published files, with everything it needs. */
export type TestService = Awaited<ReturnType<typeof startService>>;

interface ServiceOptions {
  /** Additional settings. Limits are high unless set here. */
  readonly settings?: Record<string, string>;
  /** The files to publish: of one day, several days or none. Default: the fixtures. */
  readonly files?: (folder: string) => Promise<DatasetFiles | readonly DatasetFiles[]>;
  /** Handles the process's requests to OpenSearch. */
  readonly proxied?: ProxyStep | undefined;
}

/** A new environment with published files, and an API process that uses it. */
export async function startService({ settings, files, proxied }: ServiceOptions = {}) {
  const environment = await testEnvironment({ ...HIGH_LIMITS, ...settings });
  for (const day of [(await files?.(environment.folder)) ?? FIXTURES].flat())
    await publishFiles(environment, day);
  const proxy = proxied && (await startProxy(environment.config.OPENSEARCH_URL, proxied));
  const variables = { ...environment.variables, ...(proxy && { OPENSEARCH_URL: proxy.url }) };
  let api = await startApi(variables);
  return {
    environment,
    /** The process that was started last. */
    get api() {
      return api;
    },
    rest: await apiClient(environment),
    /** Restarts the process, as after a release. */
    restartApi: async () => {
      await api.stop();
      api = await startApi(variables);
    },
    /** Stops the process and removes what was created. The end of the test file does the same. */
    stop: async () => {
      await api.stop();
      await environment.cleanUp();
    },
  };
}

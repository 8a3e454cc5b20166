import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { type ApiClient, apiClient } from './api.ts';
import { FIXTURES } from './fixtures.ts';
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
  readonly api: RunningProcess;
  readonly rest: ApiClient;
  /** Stops the process and removes what was made. */
  stop(): Promise<void>;
}

interface ServiceOptions {
  /** Settings beside the test environment's; limits are high unless given here. */
  readonly settings?: Record<string, string>;
  /** What to publish, of one day or of several: the fixtures, unless given. */
  readonly files?: (folder: string) => Promise<DatasetFiles | readonly DatasetFiles[]>;
}

/** A new environment with published files, and an API process on it. */
export async function startService({ settings = {}, files }: ServiceOptions = {}): Promise<TestService> {
  const environment = await testEnvironment({ ...HIGH_LIMITS, ...settings });
  const days = [files === undefined ? FIXTURES : await files(environment.folder)].flat();
  for (const day of days) await publishFiles(environment, day);
  const api = await startApi(environment.variables);
  const rest = await apiClient(environment);
  return {
    environment,
    api,
    rest,
    stop: async () => {
      await api.stop();
      await environment.cleanUp();
    },
  };
}

import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { type ApiClient, apiClient } from './api.ts';
import { type DayRow, licensesOf, writeDay } from './day-files.ts';
import type { WebServer } from './proxy.ts';
import { publishFiles } from './publishing.ts';

export const NURSING = 'Nursing Board';
export const NURSES = licensesOf(NURSING, 'RN.', 20);
export const PHARMACIES = licensesOf('Board of Pharmacy', '02', 5);

/** An API whose feed a test reads, and the days that it publishes. */
export interface FeedService {
  readonly environment: TestEnvironment;
  readonly rest: ApiClient;
  /**
   * Publishes these nurses on the next day of November 2026, with the same pharmacies each day.
   *
   * @returns the publication's id
   * @throws {Error} when it does not go live
   */
  publishDay(nurses: readonly DayRow[], options?: { readonly isGuarded?: boolean }): Promise<string>;
  /** Starts the API process again, as after a release. */
  restartApi(): Promise<void>;
  stop(): Promise<void>;
}

/** @param proxied starts what the API asks in place of OpenSearch */
export async function startFeedService(
  settings: Record<string, string> = {},
  proxied?: (openSearchUrl: string) => Promise<WebServer>,
): Promise<FeedService> {
  const environment = await testEnvironment(settings);
  const proxy = await proxied?.(environment.config.OPENSEARCH_URL);
  const variables = { ...environment.variables, ...(proxy && { OPENSEARCH_URL: proxy.url }) };
  let api = await startApi(variables);
  let day = 0;
  return {
    environment,
    rest: await apiClient(environment),
    publishDay: async (individual, { isGuarded = false } = {}) => {
      day += 1;
      const date = `2026-11-${String(day).padStart(2, '0')}`;
      const files = await writeDay(environment.folder, `day-${day}`, {
        date,
        individual,
        business: PHARMACIES,
      });
      const result = await publishFiles(environment, files, { isGuarded });
      if (result.state !== 'live') throw new Error(JSON.stringify(result));
      return result.publication;
    },
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

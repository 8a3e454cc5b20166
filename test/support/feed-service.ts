import { writeFile } from 'node:fs/promises';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { type ApiClient, apiClient } from './api.ts';
import { type DayRow, licensesOf, writeDay } from './day-files.ts';
import { daysAfter } from './days.ts';
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
   * Publishes these nurses on the next day, with the same pharmacies each day.
   *
   * @param options `written` gives the file of the nurses in place of the usual one
   * @returns the publication's id
   * @throws {Error} when it does not go live
   */
  publishDay(
    nurses: readonly DayRow[],
    options?: {
      readonly isGuarded?: boolean;
      readonly accept?: string[];
      readonly written?: (date: string) => string | Buffer;
    },
  ): Promise<string>;
  /** The run date of the last of them. */
  lastDate(): string;
  /** Starts the API process again, as after a release. */
  restartApi(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param proxied starts what the API asks in place of OpenSearch
 * @param before the day before the first that is published
 */
export async function startFeedService(
  settings: Record<string, string> = {},
  proxied?: (openSearchUrl: string) => Promise<WebServer>,
  before = '2026-10-31',
): Promise<FeedService> {
  const environment = await testEnvironment(settings);
  const proxy = await proxied?.(environment.config.OPENSEARCH_URL);
  const variables = { ...environment.variables, ...(proxy && { OPENSEARCH_URL: proxy.url }) };
  let api = await startApi(variables);
  let date = before;
  return {
    environment,
    rest: await apiClient(environment),
    publishDay: async (individual, { isGuarded = false, accept = [], written } = {}) => {
      date = daysAfter(date, 1);
      const days = { date, individual, business: PHARMACIES };
      const files = await writeDay(environment.folder, `day-${date}`, days);
      if (written !== undefined) await writeFile(files.individual, written(date));
      const result = await publishFiles(environment, files, { isGuarded, accept });
      if (result.state !== 'live') throw new Error(JSON.stringify(result));
      return result.publication;
    },
    lastDate: () => date,
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

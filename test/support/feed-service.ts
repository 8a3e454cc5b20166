import { writeFile } from 'node:fs/promises';
import { type DayRow, licensesOf } from './day-files.ts';
import { daysAfter } from './days.ts';
import type { ProxyStep } from './proxy.ts';
import { filesOf } from './publication-days.ts';
import { expectLive, type PublishingOptions, publishFiles } from './publishing.ts';
import { startService } from './service.ts';

export const NURSING = 'Nursing Board';
export const NURSES = licensesOf(NURSING, 'RN.', 20);
export const PHARMACIES = licensesOf('Board of Pharmacy', '02', 5);

/** An API whose feed a test reads, with functions that publish days. */
export type FeedService = Awaited<ReturnType<typeof startFeedService>>;

/**
 * @param proxied handles the API's requests to OpenSearch
 * @param before the day before the first day to publish
 */
export async function startFeedService(
  settings: Record<string, string> = {},
  proxied?: ProxyStep,
  before = '2026-10-31',
) {
  const service = await startService({ settings, proxied, files: async () => [] });
  const { environment, rest, restartApi, stop } = service;
  let date = before;
  return {
    ...{ environment, rest, restartApi, stop },
    /** Waits until the latest API process has printed this text. */
    printed: (text: string) => service.api.printed(text),
    /** The run date of the last published day. */
    lastDate: () => date,
    /**
     * Publishes these nurses on the next day, with the same pharmacies every day.
     *
     * @param options.written a file to use for the nurses instead of the usual one
     * @returns the publication's id
     * @throws {Error} when it does not go live
     */
    publishDay: async (
      individual: readonly DayRow[],
      { written, ...options }: PublishingOptions & { readonly written?: (date: string) => string } = {},
    ): Promise<string> => {
      date = daysAfter(date, 1);
      const files = await filesOf(environment, date, { individual, business: PHARMACIES });
      if (written !== undefined) await writeFile(files.individual, written(date));
      return (await expectLive(publishFiles(environment, files, options))).publication;
    },
  };
}

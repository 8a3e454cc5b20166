import { QueueEvents } from 'bullmq';
import type { SampleDataFiles } from '../sample-data/write-sample-data.ts';
import type { Config } from '../src/config.ts';
import { type PublishResult, publishResult } from '../src/publications/history.ts';
import { PUBLISH_QUEUE, publishQueue, queueOptions, requestPublication } from '../src/publications/job.ts';

import type { BulkOperation } from '../workers/publish/batch.ts';
import { parseFile } from '../workers/publish/parse.ts';
import { openSource } from '../workers/publish/sources.ts';
import { Tally } from '../workers/publish/tally.ts';

/** The paths of a day's files. */
export type DayFiles = Pick<SampleDataFiles, 'individual' | 'business'>;

/** Publishes a day's files with the running worker. */
export async function published(
  config: Config,
  files: DayFiles,
  options: { readonly force?: string } = {},
): Promise<Extract<PublishResult, { state: 'live' }>> {
  const queue = publishQueue(config);
  const events = new QueueEvents(PUBLISH_QUEUE, queueOptions(config));
  try {
    await events.waitUntilReady();
    const { individual, business } = files;
    const requested = await requestPublication(queue, { individual, business, ...options });
    if (requested.state === 'busy') throw new Error('Another publication is under way.');
    const result = publishResult.parse(await requested.job.waitUntilFinished(events));
    if (result.state !== 'live') throw new Error(JSON.stringify(result));
    return result;
  } finally {
    await events.close();
    await queue.close();
  }
}

/** Parses a day's files with the service's own parser, batch by batch. */
export async function* parsed(
  files: DayFiles,
  date: string,
): AsyncGenerator<readonly BulkOperation[], void, undefined> {
  for (const name of ['individual', 'business'] as const) {
    const source = await openSource(name, { path: files[name] });
    yield* parseFile(source, date, { tally: new Tally(), onRejected: () => undefined });
  }
}

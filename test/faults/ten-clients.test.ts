/** @long @room publishing */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QueueEvents } from 'bullmq';
import { z } from 'zod';
import { PUBLISH_QUEUE, queueOptions } from '../../src/publications/job.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { type BulkProxy, bulkProxy } from '../support/bulk-faults.ts';
import { type Publisher, publisher } from '../support/publisher.ts';

const CLIENTS = 10;
const ROWS = 2000;
const ROUNDS = 3;
const JOINED_WITHIN_MS = 150_000;

let publications: Publisher;
let proxy: BulkProxy;
let events: QueueEvents;

beforeAll(async () => {
  publications = await publisher({ rows: ROWS });
  const { config } = publications.environment;
  proxy = await bulkProxy(config.OPENSEARCH_URL);
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
  events = new QueueEvents(PUBLISH_QUEUE, queueOptions(config));
  await events.waitUntilReady();
});
afterAll(() => events.close());

const answer = z.object({ state: z.literal('live'), publication: z.string() });

/** Waits until this many commands have joined a publication in progress. */
function joined(count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    const tooLate = setTimeout(
      () => reject(new Error(`Only ${seen} clients asked during the load.`)),
      JOINED_WITHIN_MS,
    );
    const onJoined = () => {
      seen += 1;
      if (seen < count) return;
      clearTimeout(tooLate);
      events.off('deduplicated', onJoined);
      resolve();
    };
    events.on('deduplicated', onJoined);
  });
}

for (let round = 1; round <= ROUNDS; round += 1) {
  test(`the same files submitted by ten clients simultaneously: round ${round}`, async () => {
    const { store } = publications.environment;
    const before = await readEvents(store);
    proxy.disturb('hold');
    const others = joined(CLIENTS - 1);
    const asking = Promise.all(Array.from({ length: CLIENTS }, () => publications.publish('second')));
    await others.finally(() => proxy.disturb('none'));
    const asked = await asking;
    expect(asked.map(({ code }) => code)).toEqual(asked.map(() => 0));
    const answers = asked.map(({ stdout }) => answer.parse(JSON.parse(stdout)));
    const ids = [...new Set(answers.map(({ publication }) => publication))];
    expect(ids).toHaveLength(1);

    const written = (await readEvents(store)).slice(before.length);
    expect(written.filter(({ event }) => event === 'loading')).toHaveLength(1);
    await publications.expectRecovered('second');
  });
}

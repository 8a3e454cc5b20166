/** @room outages @long */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { QueueEvents } from 'bullmq';
import { z } from 'zod';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { PUBLISH_QUEUE, queueOptions } from '../../src/publications/job.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { isIndexNotFound } from '../../src/storage/errors.ts';
import { BULK_FAULTS, type BulkFault, type BulkProxy, bulkProxy, isBulk } from '../support/bulk-faults.ts';
import { livePublished } from '../support/complete-publication.ts';
import { eventually } from '../support/eventually.ts';
import { expectLiveResult, publisher } from '../support/publisher.ts';
import { publishFiles } from '../support/publishing.ts';

const ROWS = 10_000;
const DISTURBED_MS = 10_000;
const GIVE_UP_AFTER_MS = 1500;
const CLIENTS = 10;

const EVERY_FAULT: readonly BulkFault[] = [
  ...(['refuse all', 'refuse half', 'lose the answer', 'disk full'] as const),
  ...(['disk full for half', 'unavailable', 'reset'] as const),
];

const publications = await publisher(ROWS);
let proxy: BulkProxy;

beforeEach(() => publications.makeReady());

/** Has a worker publish through a proxy with these faults. */
async function throughFaults<Result>(faults: readonly BulkFault[], work: () => Promise<Result>) {
  proxy = await bulkProxy(publications.environment.config.OPENSEARCH_URL, faults);
  try {
    await publications.restart({ OPENSEARCH_URL: proxy.url });
    return await work();
  } finally {
    await publications.restart();
  }
}

/** Publishes the second day while `meanwhile` runs. Expects that documents had to be sent again. */
async function publishThrough(faults: readonly BulkFault[], meanwhile: () => Promise<void>): Promise<void> {
  await throughFaults(faults, async () => {
    const { ended } = await publications.begin('second');
    await meanwhile();
    expectLiveResult(await ended);
    const sent = proxy.requests.reduce((sum, items) => sum + items, 0);
    if (proxy.refused() === 0) throw new Error('The fault hit nothing: every bulk request was taken.');
    expect(sent).toBeGreaterThan(publications.documents);
  });
  await publications.expectRecovered('second');
}

const untilAsked = () => eventually('a load has begun', () => proxy.requests.length > 0, 10);

test(`each kind of refused or lost bulk request once in a load: ${EVERY_FAULT.join(', ')}`, async () => {
  await publishThrough(EVERY_FAULT, async () => undefined);
  expect(proxy.refused()).toBeGreaterThanOrEqual(EVERY_FAULT.length);
});

test.each(EVERY_FAULT)(`every bulk request disturbed for ${DISTURBED_MS / 1000} s: %s`, (fault) =>
  publishThrough([], async () => {
    proxy.disturb(fault);
    await untilAsked();
    await sleep(DISTURBED_MS);
    proxy.disturb('none');
  }),
);

/** Sets or removes the block that OpenSearch puts on every index of a node whose disk is nearly full. */
async function setDiskBlock(isFull: boolean): Promise<void> {
  const { client, config } = publications.environment;
  try {
    await client.indices.putSettings({
      index: `${config.INDEX_PREFIX}*`,
      body: { 'index.blocks.read_only_allow_delete': isFull ? true : null },
    });
  } catch (error) {
    // One of the indices was pruned meanwhile.
    if (!isIndexNotFound(error)) throw error;
    await setDiskBlock(isFull);
  }
}

test(`every index blocked as at OpenSearch's flood-stage disk watermark: for ${DISTURBED_MS / 1000} s`, () =>
  publishThrough([], async () => {
    proxy.disturb('hold');
    await untilAsked();
    await setDiskBlock(true);
    proxy.disturb('none');
    await sleep(DISTURBED_MS);
    await setDiskBlock(false);
  }));

test('a disk that stays full', async () => {
  const { environment, files } = publications;
  const before = await livePublished(environment);
  let refused = 0;
  const publishing = publishFiles(environment, files.second, {
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    through: (request) => {
      if (!isBulk(request)) return request.forward();
      refused += 1;
      return BULK_FAULTS['disk full'](request);
    },
  });
  await expect(publishing).rejects.toThrow('disk usage exceeded flood-stage watermark');
  expect(refused).toBeGreaterThan(1);
  const indices = await licensesIndices(environment.store);
  expect(indices.filter(({ metadata }) => metadata.verified_at === undefined)).toEqual([]);
  expect(await livePublished(environment)).toEqual(before);
  await publications.expectRecovered('first');
});

const answer = z.object({ state: z.literal('live'), publication: z.string() });

test.each([1, 2, 3])('the same files submitted by ten clients simultaneously: round %d', async () => {
  const { store, config } = publications.environment;
  const events = new QueueEvents(PUBLISH_QUEUE, queueOptions(config));
  atEndOfTestFile(() => events.close());
  await events.waitUntilReady();
  let joined = 0;
  events.on('deduplicated', () => {
    joined += 1;
  });
  const before = await readEvents(store);
  const asked = await throughFaults([], async () => {
    proxy.disturb('hold');
    const asking = Promise.all(Array.from({ length: CLIENTS }, () => publications.publish('second')));
    await eventually('the others have joined', () => joined >= CLIENTS - 1);
    proxy.disturb('none');
    return asking;
  });
  expect(asked.map(({ code }) => code)).toEqual(asked.map(() => 0));
  const answers = asked.map(({ stdout }) => answer.parse(JSON.parse(stdout)));
  expect(new Set(answers.map(({ publication }) => publication)).size).toBe(1);
  const written = (await readEvents(store)).slice(before.length);
  expect(written.filter(({ event }) => event === 'loading')).toHaveLength(1);
  await publications.expectRecovered('second');
});

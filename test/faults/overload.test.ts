/** @room outages @long */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
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

const EVERY_FAULT: readonly BulkFault[] = [
  ...(['refuse all', 'refuse half', 'lose the answer', 'disk full'] as const),
  ...(['disk full for half', 'unavailable', 'reset'] as const),
];

const publications = await publisher(ROWS);
let proxy: BulkProxy;

beforeEach(() => publications.makeReady());

/**
 * Publishes the second day through a proxy with these faults while `meanwhile` runs. Expects that documents had to be
 * sent again.
 */
async function publishThrough(faults: readonly BulkFault[], meanwhile: () => Promise<void>): Promise<void> {
  proxy = await bulkProxy(publications.environment.config.OPENSEARCH_URL, faults);
  try {
    await publications.restart({ OPENSEARCH_URL: proxy.url });
    const { ended } = await publications.begin('second');
    await meanwhile();
    expectLiveResult(await ended);
  } finally {
    await publications.restart();
  }
  const sent = proxy.requests.reduce((sum, items) => sum + items, 0);
  if (proxy.refused() === 0) throw new Error('The fault hit nothing: every bulk request was taken.');
  expect(sent).toBeGreaterThan(publications.documents);
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

/** @room outages @long */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { isIndexNotFound } from '../../src/storage/errors.ts';
import { BULK_FAULTS, type BulkFault, type BulkProxy, bulkProxy, isBulk } from '../support/bulk-faults.ts';
import { livePublished } from '../support/complete-publication.ts';
import { inForm } from '../support/fault-form.ts';
import { throughProxy } from '../support/proxy.ts';
import { type Publisher, publisher } from '../support/publisher.ts';
import { publishFiles } from '../support/publishing.ts';

const ROWS = inForm({ short: 4000, long: 10_000 });
const DISTURBED_MS = inForm({ short: 1000, long: 10_000 });
const GIVE_UP_AFTER_MS = 1500;
const LOADING_WITHIN_MS = 30_000;

const EVERY_FAULT: readonly BulkFault[] = [
  'refuse all',
  'refuse half',
  'lose the answer',
  'disk full',
  'disk full for half',
  'unavailable',
  'reset',
];

let publications: Publisher;
let proxy: BulkProxy;

beforeAll(async () => {
  publications = await publisher({ rows: ROWS });
});
beforeEach(() => publications.makeReady());

/**
 * Publishes the second day through a proxy with these faults while `meanwhile` runs.
 * Expects that documents had to be sent again.
 */
async function publishThrough(faults: readonly BulkFault[], meanwhile: () => Promise<void>): Promise<void> {
  const { environment, documents } = publications;
  proxy = await bulkProxy(environment.config.OPENSEARCH_URL, faults);
  try {
    await publications.startWorker({ OPENSEARCH_URL: proxy.url });
    const publication = await publications.begin('second');
    await meanwhile();
    await publications.expectPublished(publication);
    const sent = proxy.requests.reduce((sum, items) => sum + items, 0);
    if (proxy.refused() === 0) throw new Error('The fault hit nothing: every bulk request was taken.');
    expect(sent).toBeGreaterThan(documents);
  } finally {
    await publications.startWorker();
    await proxy.close();
  }
  await publications.expectRecovered('second');
}

async function untilAsked(): Promise<void> {
  const deadline = Date.now() + LOADING_WITHIN_MS;
  while (proxy.requests.length === 0) {
    if (Date.now() > deadline) throw new Error('No load began.');
    await sleep(10);
  }
}

test(`each kind of refused or lost bulk request once in a load: ${EVERY_FAULT.join(', ')}`, async () => {
  await publishThrough(EVERY_FAULT, async () => undefined);
  expect(proxy.refused()).toBeGreaterThanOrEqual(EVERY_FAULT.length);
});

for (const fault of inForm<readonly BulkFault[]>({ short: [], long: EVERY_FAULT })) {
  test(`every bulk request disturbed for ${DISTURBED_MS / 1000} s: ${fault}`, () =>
    publishThrough([], async () => {
      proxy.disturb(fault);
      await untilAsked();
      await sleep(DISTURBED_MS);
      proxy.disturb('none');
    }));
}

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
  const publishing = throughProxy(
    environment,
    (request) => {
      if (!isBulk(request)) return request.forward();
      refused += 1;
      return BULK_FAULTS['disk full'](request);
    },
    (through) => publishFiles(through, files.second, { giveUpAfterMs: GIVE_UP_AFTER_MS }),
  );
  await expect(publishing).rejects.toThrow('disk usage exceeded flood-stage watermark');
  expect(refused).toBeGreaterThan(1);
  const indices = await licensesIndices(environment.store);
  expect(indices.filter(({ metadata }) => metadata.verified_at === undefined)).toEqual([]);
  expect(await livePublished(environment)).toEqual(before);
  await publications.expectRecovered('first');
});

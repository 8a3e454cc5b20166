import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { isIndexNotFound, openSearchClient } from '../../src/search/client.ts';
import { type BulkFault, type BulkProxy, bulkProxy } from '../support/bulk-proxy.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type Publisher, publisher } from '../support/publisher.ts';
import { publishFiles } from '../support/publishing.ts';

const ROWS = inForm({ short: 5000, full: 40_000 });
const DISTURBED_MS = inForm({ short: 1000, full: 10_000 });
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
}, 120_000);
beforeEach(() => publications.makeReady(), 60_000);
afterAll(() => publications.stop());

/** Publishes the large files through a proxy with these faults; it ends when what is done meanwhile has ended. */
async function publishThrough(faults: readonly BulkFault[], meanwhile: () => Promise<void>): Promise<number> {
  proxy = await bulkProxy(publications.environment.config.OPENSEARCH_URL, faults);
  try {
    await publications.startWorker({ OPENSEARCH_URL: proxy.url });
    const publication = await publications.begin('large');
    await meanwhile();
    await publications.expectPublished(publication);
    const seconds = (Date.now() - publication.takenAt) / 1000;
    await publications.startWorker();
    await publications.expectRecovered('large');
    return seconds;
  } finally {
    await proxy.close();
  }
}

async function untilAsked(): Promise<void> {
  const deadline = Date.now() + LOADING_WITHIN_MS;
  while (proxy.requests.length === 0) {
    if (Date.now() > deadline) throw new Error('No load began.');
    await sleep(10);
  }
}

faultTest(
  'each kind of refusal and loss once in a load',
  EVERY_FAULT.join(', '),
  async () => ({
    seconds: await publishThrough(EVERY_FAULT, async () => undefined),
    outcome: 'sent again, each document once; live',
  }),
  120_000,
);

for (const fault of inForm<readonly BulkFault[]>({ short: [], full: EVERY_FAULT })) {
  faultTest(
    `every bulk request disturbed for ${DISTURBED_MS / 1000} s: ${fault}`,
    '',
    async () => ({
      seconds: await publishThrough([], async () => {
        proxy.disturb(fault);
        await untilAsked();
        await sleep(DISTURBED_MS);
        proxy.disturb('none');
      }),
      outcome: 'the load waits and goes on; live',
    }),
    120_000,
  );
}

/** What OpenSearch itself does to every index of a node whose disk is nearly full, and takes back by itself. */
async function setDiskBlock(isFull: boolean): Promise<void> {
  const { client, config } = publications.environment;
  try {
    await client.indices.putSettings({
      index: `${config.INDEX_PREFIX}*`,
      body: { 'index.blocks.read_only_allow_delete': isFull ? true : null },
    });
  } catch (error) {
    // One of them was pruned meanwhile.
    if (!isIndexNotFound(error)) throw error;
    await setDiskBlock(isFull);
  }
}

faultTest(
  "OpenSearch's own block of every index at its flood stage",
  `for ${DISTURBED_MS / 1000} s`,
  async () => ({
    seconds: await publishThrough([], async () => {
      await untilAsked();
      await setDiskBlock(true);
      await sleep(DISTURBED_MS);
      await setDiskBlock(false);
    }),
    outcome: 'the load waits and goes on; live',
  }),
  120_000,
);

faultTest(
  'a disk that stays full',
  '',
  async () => {
    const { environment, files } = publications;
    const full = await bulkProxy(environment.config.OPENSEARCH_URL);
    full.disturb('disk full');
    const client = openSearchClient({ ...environment.config, OPENSEARCH_URL: full.url }, 30_000);
    try {
      const publishing = publishFiles({ ...environment, client }, files.large, {
        giveUpAfterMs: GIVE_UP_AFTER_MS,
      });
      await expect(publishing).rejects.toThrow('disk usage exceeded flood-stage watermark');
    } finally {
      await client.close();
      await full.close();
    }
    const indices = await licensesIndices(environment.client, environment.config.INDEX_PREFIX);
    expect(indices.filter(({ metadata }) => metadata.verified_at === undefined)).toEqual([]);
    await publications.expectRecovered('small');
    return { outcome: 'fails with the reason, the live publication as it was' };
  },
  60_000,
);

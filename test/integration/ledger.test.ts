import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import {
  type PublishResult,
  publicationDetails,
  publicationHistory,
  reconcileLedger,
} from '../../src/publications/history.ts';
import { appendEvent, readEvents } from '../../src/publications/ledger.ts';
import { indicesUnderAlias, licensesIndices, newId } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { licensesOf } from '../support/day-files.ts';
import { takeEpoch } from '../support/epoch.ts';
import { cut, throughProxy } from '../support/proxy.ts';
import { filesOf, newEnvironment, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const HOUR_MS = 3_600_000;

/** The events of the ledger in order, each as `publication event`. */
async function eventsIn({ store }: TestEnvironment): Promise<string[]> {
  const events = await readEvents(store);
  return events.map(({ publication, event }) => `${publication} ${event}`);
}

test('a publication lists queued first, also where the worker began before the client wrote it', async () => {
  const { store } = await newEnvironment();
  await appendEvent(store, { publication: 'fast', event: 'reading' });
  await appendEvent(store, { publication: 'fast', event: 'queued' });
  const { summary, events } = await publicationDetails(store, 'fast');
  expect(events.map(({ event }) => event)).toEqual(['queued', 'reading']);
  expect(summary.state).toBe('reading');
});

describe('a ledger written by processes whose clocks differ', () => {
  test('orders events by when they were appended, not by their timestamps', async () => {
    const { store } = await newEnvironment();
    const now = Date.now();
    const append = (publication: string, event: 'queued' | 'reading' | 'loading' | 'refused', hours = 0) =>
      appendEvent(store, { publication, event, at: new Date(now + hours * HOUR_MS).toISOString() });
    await append('early', 'queued');
    await append('early', 'reading', -1);
    await append('early', 'loading', -1);
    await append('late', 'queued', -2);
    await append('early', 'refused', -1);
    await append('late', 'reading', 1);

    const { publications } = await publicationHistory(store);
    expect(publications.map(({ publication, state }) => [publication, state])).toEqual([
      ['late', 'reading'],
      ['early', 'refused'],
    ]);
    const events = await readEvents(store);
    expect(events.map(({ publication, event }) => `${publication} ${event}`)).toEqual([
      ...'early queued|early reading|early loading|late queued|early refused'.split('|'),
      ...'late reading'.split('|'),
    ]);
  });
});

describe('the ledger of a publication', () => {
  /** The proxy delays the bulk requests of licenses by this much. */
  const LOADS_FOR_MS = 300;
  let environment: TestEnvironment;
  let result: PublishResult;
  let tookMs: number;
  const requests: string[] = [];

  beforeAll(async () => {
    environment = await newEnvironment();
    const files = await filesOf(environment, '2026-11-20', {
      individual: [
        ...licensesOf(NURSING, 'RN.', 20),
        ...licensesOf('Medical Board', '35.', 5).map((row) => ({ ...row, status: 'In Review' })),
        { board: NURSING, number: 'RN.1', status: '' },
        { board: NURSING, number: 'RN.2', status: 'Inactive', expires: 'never' },
      ],
    });
    const startedAt = Date.now();
    result = await throughProxy(
      environment,
      async (request) => {
        requests.push(request.path);
        if (/licenses-[^/]+\/_bulk/.test(request.path)) await sleep(LOADS_FOR_MS);
        return request.forward();
      },
      (through) => publishFiles(through, files),
    );
    tookMs = Date.now() - startedAt;
  });

  test('has each step in order', async () => {
    const { events } = await publicationDetails(environment.store, result.publication);
    expect(events.map(({ event }) => event)).toEqual('reading loading verifying verifying live'.split(' '));
  });

  test('goes live once all of its shards are there', () => {
    const waited = requests.findIndex((path) => /_cluster\/health\/[^/]*licenses-\d.*green/.test(path));
    expect(waited).toBeGreaterThan(requests.findIndex((path) => path.includes('_bulk')));
    expect(waited).toBeLessThan(requests.findIndex((path) => path.startsWith('/_aliases')));
  });

  test('has its counts by board, and its files', async () => {
    const { summary } = await publicationDetails(environment.store, result.publication);
    expect(summary).toMatchObject({
      state: 'live',
      date: '2026-11-20',
      counts: { rows: 29, licenses: 28, endorsements: 0, rejected: 1 },
      boards: { [NURSING]: 21, 'Medical Board': 5, [PHARMACY]: 2 },
      sources: { individual: expect.stringMatching(/^individual-/), business: expect.any(String) },
      sha256: { individual: expect.stringMatching(/^[0-9a-f]{64}$/), business: expect.any(String) },
      service_version: expect.any(String),
    });
  });

  test('has the duration of each step, together at most the duration of the publication', async () => {
    const { summary } = await publicationDetails(environment.store, result.publication);
    const { seconds = {} } = summary;
    expect(Object.keys(seconds).toSorted()).toEqual([
      ...'comparing|going live|loading|making durable|reading|verifying'.split('|'),
    ]);
    const total = Object.values(seconds).reduce((sum, each) => sum + each, 0);
    expect(Math.min(...Object.values(seconds))).toBeGreaterThanOrEqual(0);
    expect(seconds.loading).toBeGreaterThanOrEqual(LOADS_FOR_MS / 1000);
    // Each duration is rounded to a tenth of a second.
    expect(total).toBeLessThanOrEqual(tookMs / 1000 + 0.3);
  });

  test('does not exist for an unknown id', async () => {
    await expect(publicationDetails(environment.store, 'unheard-of')).rejects.toThrow(
      'The ledger has no publication unheard-of.',
    );
  });
});

test('a publication killed between its flip and its last ledger event is live, and is recorded once', async () => {
  const environment = await newEnvironment();
  const { store } = environment;
  const first = await published(environment, '2026-11-20');
  const publication = newId();
  const files = await filesOf(environment, '2026-11-21');
  const publishing = throughProxy(
    environment,
    (request) => (request.body.includes('"event":"live"') ? cut(request) : request.forward()),
    (through) => publishFiles(through, files, { publication }),
  );
  await expect(publishing).rejects.toThrow();
  const begun = ['reading', 'loading', 'verifying', 'verifying'];
  const eventsOf = async () =>
    (await publicationDetails(store, publication)).events.map(({ event }) => event);
  expect(await eventsOf()).toEqual(begun);
  const [index = '', ...others] = await indicesUnderAlias(store);
  expect([index === first.index, others]).toEqual([false, []]);

  // It counts as live because of the alias.
  const { live: now, publications } = await publicationHistory(store);
  expect(now).toMatchObject({ publication, state: 'live', date: '2026-11-21' });
  expect(publications.map(({ state }) => state)).toEqual(['live', 'superseded']);
  await takeEpoch(store, 'another');
  expect(await prune(store, 1)).toEqual([first.index]);

  const before = await eventsIn(environment);
  for (const _time of [1, 2]) await reconcileLedger(store);
  expect((await eventsIn(environment)).slice(before.length)).toEqual([
    `${publication} live`,
    `${first.publication} superseded`,
  ]);
  expect((await publicationDetails(store, publication)).summary).toMatchObject({
    counts: { rows: 22, licenses: 22 },
    boards: { [NURSING]: 20, [PHARMACY]: 2 },
    sha256: { individual: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });

  // Its second attempt does not load it again.
  const again = await publishFiles(environment, files, { publication });
  expect(again).toMatchObject({
    state: 'live',
    publication,
    index,
    date: '2026-11-21',
    rows: 22,
    licenses: 22,
  });
  expect(await eventsOf()).toEqual([...begun, 'live']);
  expect((await licensesIndices(store)).map((each) => each.index)).toEqual([index]);

  await published(environment, '2026-11-22');
  expect((await rollBack(store)).to.metadata.publication).toBe(publication);
});

const AT = '2026-11-20T00:00:00.000Z';

/** So many labels, as of a file whose STATUS column has free text. */
function labels(count: number): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${at} ${'free text '.repeat(20)}`, at]),
  );
}

test('the ledger is read by pages, in order, without the labels that an earlier version wrote unbounded', async () => {
  const environment = await newEnvironment();
  const { client, store } = environment;
  const index = store.names.ledger;
  const unknown_labels = labels(4000);
  for (let large = 0; large < 5; large += 1)
    await client.index({
      index,
      body: { publication: `large${large}`, at: AT, event: 'refused', unknown_labels },
    });
  const ids = Array.from({ length: 2500 }, (_, at) => `run${at}`);
  await client.bulk({
    index,
    refresh: true,
    body: ids.flatMap((publication) => [{ index: {} }, { publication, at: AT, event: 'queued' }]),
  });

  let bytes = 0;
  const { publications } = await throughProxy(
    environment,
    async (request) => {
      const answer = await request.forward();
      bytes += answer.body.length;
      return answer;
    },
    (through) => publicationHistory(through.store),
  );
  const listed = publications.map(({ publication }) => publication).filter((id) => id.startsWith('run'));
  expect(listed).toEqual(ids.toReversed());
  expect(publications.find(({ publication }) => publication === 'large3')).toMatchObject({
    state: 'refused',
  });
  expect(bytes).toBeLessThan(2_000_000);
});

test('an event is bounded, however much went wrong', async () => {
  const { store } = await newEnvironment();
  await appendEvent(store, {
    publication: 'wide',
    event: 'refused',
    unknown_labels: { constructor: 3 },
    reasons: Array(1000).fill('y'.repeat(100_000)),
  });
  const [event] = await readEvents(store, 'wide');
  expect(JSON.stringify(event).length).toBeLessThan(100_000);
  expect(event?.unknown_labels).toMatchObject({ constructor: 3 });
});

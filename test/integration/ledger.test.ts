import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { publicationDetails, publicationHistory, reconcileLedger } from '../../src/publications/history.ts';
import { appendEvent, readEvents } from '../../src/publications/ledger.ts';
import { indicesUnderAlias, newId } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import type { Store } from '../../src/storage/store.ts';
import { licensesOf } from '../support/day-files.ts';
import { takeEpoch } from '../support/epoch.ts';
import { cut, throughProxy } from '../support/proxy.ts';
import { filesOf, newEnvironment, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const HOUR_MS = 3_600_000;
const AT = '2026-11-20T00:00:00.000Z';

/** The events of the ledger in order, each as `publication event`. */
const eventsIn = async (store: Store) =>
  (await readEvents(store)).map(({ publication, event }) => `${publication} ${event}`);

test('a publication lists queued first, also where the worker began before the client wrote it', async () => {
  const { store } = await newEnvironment();
  await appendEvent(store, { publication: 'fast', event: 'reading' });
  await appendEvent(store, { publication: 'fast', event: 'queued' });
  const { summary, events } = await publicationDetails(store, 'fast');
  expect([events.map(({ event }) => event), summary.state]).toEqual([['queued', 'reading'], 'reading']);
});

test('events are in the order in which they were appended, whatever the clocks of the processes said', async () => {
  const { store } = await newEnvironment();
  const appended = [
    ['early', 'queued', 0],
    ['early', 'reading', -1],
    ['early', 'loading', -1],
    ['late', 'queued', -2],
    ['early', 'refused', -1],
    ['late', 'reading', 1],
  ] as const;
  const now = Date.now();
  for (const [publication, event, hours] of appended)
    await appendEvent(store, { publication, event, at: new Date(now + hours * HOUR_MS).toISOString() });
  expect((await publicationHistory(store)).publications).toMatchObject([
    { publication: 'late', state: 'reading' },
    { publication: 'early', state: 'refused' },
  ]);
  expect(await eventsIn(store)).toEqual(appended.map(([publication, event]) => `${publication} ${event}`));
});

test('the ledger has each step of a publication, how long it took, what it counted, and its files', async () => {
  /** The proxy delays the bulk requests of licenses by this much. */
  const LOADS_FOR_MS = 300;
  const requests: string[] = [];
  const environment = await newEnvironment();
  const { store } = environment;
  const files = await filesOf(environment, '2026-11-20', {
    individual: [
      ...licensesOf(NURSING, 'RN.', 20),
      ...licensesOf('Medical Board', '35.', 5).map((row) => ({ ...row, status: 'In Review' })),
      { board: NURSING, number: 'RN.1', status: '' },
      { board: NURSING, number: 'RN.2', status: 'Inactive', expires: 'never' },
    ],
  });
  const startedAt = Date.now();
  const { publication } = await publishFiles(environment, files, {
    through: async (request) => {
      requests.push(request.path);
      if (/licenses-[^/]+\/_bulk/.test(request.path)) await sleep(LOADS_FOR_MS);
      return request.forward();
    },
  });
  const tookMs = Date.now() - startedAt;

  const { summary, events } = await publicationDetails(store, publication);
  expect(events.map(({ event }) => event)).toEqual('reading loading verifying verifying live'.split(' '));
  expect(summary).toMatchObject({
    ...{ state: 'live', date: '2026-11-20', service_version: expect.any(String) },
    counts: { rows: 29, licenses: 28, endorsements: 0, rejected: 1 },
    boards: { [NURSING]: 21, 'Medical Board': 5, [PHARMACY]: 2 },
    sources: { individual: expect.stringMatching(/^individual-/), business: expect.any(String) },
    sha256: { individual: expect.stringMatching(/^[0-9a-f]{64}$/), business: expect.any(String) },
  });
  const { seconds = {} } = summary;
  expect(Object.keys(seconds).toSorted()).toEqual([
    ...'comparing|going live|loading|making durable|reading|verifying'.split('|'),
  ]);
  const durations = Object.values(seconds);
  expect(Math.min(...durations)).toBeGreaterThanOrEqual(0);
  expect(seconds.loading).toBeGreaterThanOrEqual(LOADS_FOR_MS / 1000);
  // Each duration is rounded to a tenth of a second.
  expect(durations.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(tookMs / 1000 + 0.3);
  // It goes live once all of its shards are there.
  const waited = requests.findIndex((path) => /_cluster\/health\/[^/]*licenses-\d.*green/.test(path));
  expect(waited).toBeGreaterThan(requests.findIndex((path) => path.includes('_bulk')));
  expect(waited).toBeLessThan(requests.findIndex((path) => path.startsWith('/_aliases')));
  await expect(publicationDetails(store, 'unheard-of')).rejects.toThrow('has no publication unheard-of.');
});

test('a publication killed between its flip and its last ledger event is live, and is recorded once', async () => {
  const environment = await newEnvironment();
  const { store } = environment;
  const first = await published(environment, '2026-11-20');
  const publication = newId();
  const publishing = publishFiles(environment, await filesOf(environment, '2026-11-21'), {
    publication,
    through: (request) => (request.body.includes('"event":"live"') ? cut(request) : request.forward()),
  });
  await expect(publishing).rejects.toThrow();
  const { events } = await publicationDetails(store, publication);
  expect(events.map(({ event }) => event)).toEqual(['reading', 'loading', 'verifying', 'verifying']);
  const under = await indicesUnderAlias(store);
  expect([under.length, under.includes(first.index)]).toEqual([1, false]);

  // It counts as live because of the alias.
  const { live: now, publications } = await publicationHistory(store);
  expect(now).toMatchObject({ publication, state: 'live', date: '2026-11-21' });
  expect(publications.map(({ state }) => state)).toEqual(['live', 'superseded']);
  await takeEpoch(store, 'another');
  expect(await prune(store, 1)).toEqual([first.index]);

  const before = await eventsIn(store);
  for (const _time of [1, 2]) await reconcileLedger(store);
  expect((await eventsIn(store)).slice(before.length)).toEqual([
    `${publication} live`,
    `${first.publication} superseded`,
  ]);
});

test('the ledger is read by pages, in order, without the labels that an earlier version wrote unbounded', async () => {
  const environment = await newEnvironment();
  const { client, store } = environment;
  const index = store.names.ledger;
  // As of a file whose STATUS column has free text.
  const labels = Array.from({ length: 4000 }, (_, at) => [`${at} ${'free text '.repeat(20)}`, at]);
  const unknown_labels = Object.fromEntries(labels);
  for (let large = 0; large < 5; large += 1) {
    const body = { publication: `large${large}`, at: AT, event: 'refused', unknown_labels };
    await client.index({ index, body });
  }
  const ids = Array.from({ length: 2500 }, (_, at) => `run${at}`);
  const body = ids.flatMap((publication) => [{ index: {} }, { publication, at: AT, event: 'queued' }]);
  await client.bulk({ index, refresh: true, body });

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
  expect(publications).toContainEqual(expect.objectContaining({ publication: 'large3', state: 'refused' }));
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

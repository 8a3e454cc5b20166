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

function reconcile({ store }: TestEnvironment): Promise<void> {
  return reconcileLedger(store);
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
      'early queued',
      'early reading',
      'early loading',
      'late queued',
      'early refused',
      'late reading',
    ]);
  });

  test('keeps the timestamp of an event, or sets the current time', async () => {
    const { store } = await newEnvironment();
    const before = new Date().toISOString();
    await appendEvent(store, { publication: 'a', event: 'queued', at: before });
    await appendEvent(store, { publication: 'a', event: 'reading' });
    const [queued, reading] = await readEvents(store);
    expect(queued?.at).toBe(before);
    expect(Date.parse(reading?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(before));
  });
});

describe('the ledger of a publication', () => {
  /** The proxy delays the bulk requests of licenses by this much. */
  const LOADS_FOR_MS = 300;
  let environment: TestEnvironment;
  let result: PublishResult;
  let tookMs: number;

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
        if (/licenses-[^/]+\/_bulk/.test(request.path)) await sleep(LOADS_FOR_MS);
        return request.forward();
      },
      (through) => publishFiles(through, files),
    );
    tookMs = Date.now() - startedAt;
  });

  test('has each step in order', async () => {
    const { events } = await publicationDetails(environment.store, result.publication);
    expect(events.map(({ event }) => event)).toEqual([
      'reading',
      'loading',
      'verifying',
      'verifying',
      'live',
    ]);
  });

  test('has its counts by board and by status, and its files', async () => {
    const { summary } = await publicationDetails(environment.store, result.publication);
    expect(summary).toMatchObject({
      state: 'live',
      date: '2026-11-20',
      counts: { rows: 29, licenses: 28, endorsements: 0, rejected: 1 },
      boards: { [NURSING]: 21, 'Medical Board': 5, [PHARMACY]: 2 },
      statuses: { ACTIVE: 22, 'IN REVIEW': 5, '': 1 },
      sources: { individual: expect.stringMatching(/^individual-/), business: expect.any(String) },
      sha256: { individual: expect.stringMatching(/^[0-9a-f]{64}$/), business: expect.any(String) },
      service_version: expect.any(String),
    });
  });

  test('has the duration of each step, together at most the duration of the publication', async () => {
    const { summary } = await publicationDetails(environment.store, result.publication);
    const { seconds = {} } = summary;
    expect(Object.keys(seconds).toSorted()).toEqual([
      'comparing',
      'going live',
      'loading',
      'making durable',
      'reading',
      'verifying',
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

  test('has one event for being superseded', async () => {
    const another = await newEnvironment();
    const first = await published(another, '2026-11-20');
    const next = await published(another, '2026-11-21');
    await reconcile(another);
    await published(another, '2026-11-22');
    const events = await eventsIn(another);
    expect(events.filter((each) => each === `${first.publication} superseded`)).toHaveLength(1);
    expect(events.filter((each) => each === `${next.publication} superseded`)).toHaveLength(1);
    expect((await publicationHistory(another.store)).publications.map(({ state }) => state)).toEqual([
      'live',
      'superseded',
      'superseded',
    ]);
  });
});

describe('a publication killed between its flip and its last ledger event', () => {
  /** Publishes, but the event `live` never reaches the ledger. */
  async function publishedWithoutEvent(
    environment: TestEnvironment,
    date: string,
  ): Promise<{ publication: string }> {
    const publication = newId();
    const files = await filesOf(environment, date);
    const publishing = throughProxy(
      environment,
      (request) => (request.body.includes('"event":"live"') ? cut(request) : request.forward()),
      (through) => publishFiles(through, files, { publication }),
    );
    await expect(publishing).rejects.toThrow();
    const { events } = await publicationDetails(environment.store, publication);
    expect(events.map(({ event }) => event)).toEqual(['reading', 'loading', 'verifying', 'verifying']);
    return { publication };
  }

  test('counts as live because of the alias, and prune keeps it', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const first = await published(environment, '2026-11-20');
    const { publication } = await publishedWithoutEvent(environment, '2026-11-21');
    const under = await indicesUnderAlias(environment.store);
    expect(under).not.toEqual([first.index]);

    const { live: now, publications } = await publicationHistory(environment.store);
    expect(now).toMatchObject({ publication, state: 'live', date: '2026-11-21' });
    expect(publications.map(({ state }) => state)).toEqual(['live', 'superseded']);
    await takeEpoch(store, 'another');
    expect(await prune(store, 1)).toEqual([first.index]);
    expect(await indicesUnderAlias(environment.store)).toEqual(under);
  });

  test('gets its missing ledger events once, and can be rolled back to', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const first = await published(environment, '2026-11-20');
    const { publication } = await publishedWithoutEvent(environment, '2026-11-21');
    const before = await eventsIn(environment);

    await reconcile(environment);
    await reconcile(environment);
    expect((await eventsIn(environment)).slice(before.length)).toEqual([
      `${publication} live`,
      `${first.publication} superseded`,
    ]);
    expect((await publicationDetails(environment.store, publication)).summary).toMatchObject({
      counts: { rows: 22, licenses: 22 },
      boards: { [NURSING]: 20, [PHARMACY]: 2 },
      sha256: { individual: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });

    await published(environment, '2026-11-22');
    const { to } = await rollBack(store);
    expect(to.metadata.publication).toBe(publication);
  });

  test('is not loaded again by its second attempt', async () => {
    const environment = await newEnvironment();
    const { publication } = await publishedWithoutEvent(environment, '2026-11-21');
    const under = await indicesUnderAlias(environment.store);
    const again = await publishFiles(environment, await filesOf(environment, '2026-11-21'), { publication });
    expect(again).toMatchObject({
      state: 'live',
      publication,
      index: under[0],
      date: '2026-11-21',
      rows: 22,
      licenses: 22,
    });
    expect(await indicesUnderAlias(environment.store)).toEqual(under);
    const { events } = await publicationDetails(environment.store, publication);
    expect(events.map(({ event }) => event)).toEqual([
      'reading',
      'loading',
      'verifying',
      'verifying',
      'live',
    ]);
    const indices = await licensesIndices(environment.store);
    expect(indices.map(({ index }) => index)).toEqual(under);
  });
});

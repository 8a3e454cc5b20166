import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { readCsv } from '../../src/dataset/csv.ts';
import { fileText, inspectFile } from '../../src/dataset/source-file.ts';
import { flip, indicesUnderAlias } from '../../src/publications/alias.ts';
import { publicationDetails, publicationHistory } from '../../src/publications/history.ts';
import { appendEvent, readEvents, takeEpoch } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { reconcileLedger } from '../../src/publications/reconcile.ts';
import { writeRejects } from '../../src/publications/rejected-rows.ts';
import type { PublishResult } from '../../src/publications/result.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { newRunId } from '../../src/publications/run-id.ts';
import { openStore } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { type Day, licensesOf, writeDay } from '../support/day-files.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { rejectedOf } from '../support/ledger.ts';
import { openSearchProxy } from '../support/open-search-proxy.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const HOUR_MS = 3_600_000;

const environments: TestEnvironment[] = [];

/** A new environment for one test. */
async function newEnvironment(settings: Record<string, string> = {}): Promise<TestEnvironment> {
  const environment = await testEnvironment(settings);
  environments.push(environment);
  await prepareIndices(environment.store);
  return environment;
}
afterAll(async () => {
  for (const each of environments) await each.cleanUp();
});

const liveResult = z.object({ state: z.literal('live'), publication: z.string(), index: z.string() });
type Live = z.output<typeof liveResult>;

function live({ store }: TestEnvironment): Promise<string[]> {
  return indicesUnderAlias(store);
}

function history({ store }: TestEnvironment) {
  return publicationHistory(store);
}

function details({ store }: TestEnvironment, publication: string) {
  return publicationDetails(store, publication);
}

/** The events of the ledger in order, each as `publication event`. */
async function eventsIn({ store }: TestEnvironment): Promise<string[]> {
  const events = await readEvents(store);
  return events.map(({ publication, event }) => `${publication} ${event}`);
}

function reconcile({ store }: TestEnvironment): Promise<void> {
  return reconcileLedger(store);
}

/** Files of this date with 20 nurses. */
function filesOf({ folder }: TestEnvironment, date: string, more: Partial<Day> = {}): Promise<DatasetFiles> {
  return writeDay(folder, `${date}-${newRunId()}`, {
    date,
    individual: licensesOf(NURSING, 'RN.', 20),
    business: licensesOf(PHARMACY, '02', 2),
    ...more,
  });
}

async function published(environment: TestEnvironment, date: string): Promise<Live> {
  return liveResult.parse(await publishFiles(environment, await filesOf(environment, date)));
}

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
  /** The proxy delays bulk requests by this much. */
  const LOADS_FOR_MS = 1500;
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
    const proxy = await openSearchProxy(environment.config.OPENSEARCH_URL, async (request) => {
      if (request.path.includes('_bulk')) await sleep(LOADS_FOR_MS);
      return request.forward();
    });
    const store = openStore({ ...environment.config, OPENSEARCH_URL: proxy.url }, 30_000);
    const startedAt = Date.now();
    result = await publishFiles({ ...environment, store }, files);
    tookMs = Date.now() - startedAt;
    await store.client.close();
    await proxy.close();
  });

  test('has each step in order', async () => {
    const { events } = await details(environment, result.publication);
    expect(events.map(({ event }) => event)).toEqual(['reading', 'loading', 'verifying', 'live']);
  });

  test('has its counts by board and by status, and its files', async () => {
    const { summary } = await details(environment, result.publication);
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
    const { summary } = await details(environment, result.publication);
    const { seconds = {} } = summary;
    expect(Object.keys(seconds).toSorted()).toEqual([
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
    await expect(details(environment, 'unheard-of')).rejects.toThrow(
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
    expect((await history(another)).publications.map(({ state }) => state)).toEqual([
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
    const { config } = environment;
    const proxy = await openSearchProxy(config.OPENSEARCH_URL, async (request) =>
      request.body.includes('"event":"live"') ? undefined : request.forward(),
    );
    const store = openStore({ ...config, OPENSEARCH_URL: proxy.url }, 30_000);
    const publication = newRunId();
    const files = await filesOf(environment, date);
    try {
      await expect(publishFiles({ ...environment, store }, files, { publication })).rejects.toThrow();
    } finally {
      await store.client.close();
      await proxy.close();
    }
    const { events } = await details(environment, publication);
    expect(events.map(({ event }) => event)).toEqual(['reading', 'loading', 'verifying']);
    return { publication };
  }

  test('counts as live because of the alias, and prune keeps it', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const first = await published(environment, '2026-11-20');
    const { publication } = await publishedWithoutEvent(environment, '2026-11-21');
    const under = await live(environment);
    expect(under).not.toEqual([first.index]);

    const { live: now, publications } = await history(environment);
    expect(now).toMatchObject({ publication, state: 'live', date: '2026-11-21' });
    expect(publications.map(({ state }) => state)).toEqual(['live', 'superseded']);
    await takeEpoch(store, 'another');
    expect(await prune(store, 1)).toEqual([first.index]);
    expect(await live(environment)).toEqual(under);
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
    expect((await details(environment, publication)).summary).toMatchObject({
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
    const under = await live(environment);
    const again = await publishFiles(environment, await filesOf(environment, '2026-11-21'), { publication });
    expect(again).toMatchObject({
      state: 'live',
      publication,
      index: under[0],
      date: '2026-11-21',
      rows: 22,
      licenses: 22,
    });
    expect(await live(environment)).toEqual(under);
    const { events } = await details(environment, publication);
    expect(events.map(({ event }) => event)).toEqual(['reading', 'loading', 'verifying', 'live']);
    const indices = await licensesIndices(environment.store);
    expect(indices.map(({ index }) => index)).toEqual(under);
  });
});

describe('a rollback', () => {
  test('skips publications that were rolled back', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const good = await published(environment, '2026-11-20');
    await published(environment, '2026-11-21');
    await rollBack(store);
    await published(environment, '2026-11-22');
    const { to } = await rollBack(store);
    expect(to.metadata.publication).toBe(good.publication);
    expect(await live(environment)).toEqual([good.index]);
    expect((await history(environment)).publications.map(({ state }) => state)).toEqual([
      'rolled_back',
      'rolled_back',
      'live',
    ]);
  });

  test('can be undone: then neither publication counts as rolled back', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    await published(environment, '2026-11-20');
    const later = await published(environment, '2026-11-21');
    await rollBack(store);
    await rollBack(store, later.publication);
    expect((await history(environment)).publications.map(({ state }) => state)).toEqual([
      'live',
      'superseded',
    ]);
    expect(await rollBack(store)).toMatchObject({
      from: { metadata: { publication: later.publication } },
    });
  });

  test('that is killed after its flip counts as a rollback, and the rolled-back files stay refused', async () => {
    const environment = await newEnvironment();
    const { store } = environment;
    const first = await published(environment, '2026-11-20');
    const files = await filesOf(environment, '2026-11-21');
    const bad = await publishFiles(environment, files);
    const epoch = await takeEpoch(store, 'a rollback that is killed');
    await flip(store, first.index, epoch);

    expect(await publishFiles(environment, files, { isGuarded: true })).toMatchObject({
      state: 'refused',
      reasons: [`rolled_back: Publication ${bad.publication} had the same files and was rolled back.`],
    });
    expect((await details(environment, bad.publication)).summary).toMatchObject({ state: 'rolled_back' });
    expect((await history(environment)).live).toMatchObject({ publication: first.publication });
  });
});

describe('the rows that a publication rejected', () => {
  /** The fields of each row of a CSV file, with the header first. */
  async function parsed(path: string): Promise<(readonly string[])[]> {
    const rows: (readonly string[])[] = [];
    for await (const batch of readCsv(fileText(await inspectFile(path)))) {
      for (const { fields, problem } of batch) {
        expect(problem).toBeUndefined();
        rows.push(fields);
      }
    }
    return rows;
  }

  test('are exported to a CSV file exactly as they were, including quotes', async () => {
    const environment = await newEnvironment();
    const { store, folder } = environment;
    const { publication } = await publishFiles(environment, FIXTURES);
    const path = join(folder, 'rejects.csv');
    expect(await writeRejects(store, publication, path)).toEqual({
      file: path,
      rows: 6,
    });
    const [header, ...rows] = await parsed(path);
    expect(header).toEqual(['FILE', 'LINE', 'REASON', 'ROW']);
    const lines = (await readFile(FIXTURES.individual, 'utf8')).split('\n');
    const rejected = await rejectedOf(environment, publication);
    expect(rows).toEqual(
      rejected.map(({ file, line, reason }) => [file, String(line), reason, lines[line - 1]]),
    );
    expect(rows.map(([, line]) => line)).toEqual(['19', '20', '21', '22', '23', '26']);
    expect(rows[4]?.[3]).toMatch(/^"OPEN, OLGA,Nursing Board/);
  });

  test('are all exported when there are several pages, without those of other publications', async () => {
    const environment = await newEnvironment();
    const { store, folder } = environment;
    await publishFiles(environment, FIXTURES);
    const individual = licensesOf(NURSING, 'RN.', 2500).map((row, at) =>
      at % 2 === 0 ? row : { ...row, name: `"A", "B"\r\nC ${at}`, expires: 'never' },
    );
    const business = [...licensesOf(PHARMACY, '02', 2), { board: PHARMACY, number: '' }];
    const files = await filesOf(environment, '2026-11-21', { individual, business });
    const { publication } = await publishFiles(environment, files);
    const path = join(folder, 'rejects.csv');
    await writeRejects(store, publication, path);
    const [, ...rows] = await parsed(path);
    expect(rows).toHaveLength(1251);
    expect(rows.slice(0, 3).map(([file, line]) => [file, line])).toEqual([
      ['individual', '3'],
      // Each rejected row spans two lines.
      ['individual', '6'],
      ['individual', '9'],
    ]);
    expect(rows[0]?.[3]).toBe(
      '"""A"", ""B""\r\nC 1","Nursing Board","RN.900002","","Active","never","LIMA","2026-11-21"',
    );
    expect(rows.at(-1)).toEqual(['business', '4', 'LICENSE_NUMBER is blank', expect.any(String)]);
  });

  test('are exported as a header alone if there are none', async () => {
    const environment = await newEnvironment();
    const { store, folder } = environment;
    const { publication } = await published(environment, '2026-11-20');
    const path = join(folder, 'none.csv');
    await writeFile(path, 'an earlier file');
    await writeRejects(store, publication, path);
    expect(await readFile(path, 'utf8')).toBe('FILE,LINE,REASON,ROW\n');
  });

  test('are stored exactly once even if OpenSearch refuses them or its responses are lost', async () => {
    const environment = await newEnvironment();
    const { config } = environment;
    const faults = ['refuse', 'lose the answer', 'refuse'];
    const proxy = await openSearchProxy(config.OPENSEARCH_URL, async (request) => {
      if (!request.path.includes('rejected-rows/_bulk')) return request.forward();
      const fault = faults.shift();
      if (fault === 'refuse') return { status: 429, body: '{"error":"by the test"}' };
      const answer = await request.forward();
      return fault === undefined ? answer : undefined;
    });
    const store = openStore({ ...config, OPENSEARCH_URL: proxy.url }, 30_000);
    try {
      const { publication } = await publishFiles({ ...environment, store }, FIXTURES);
      expect(faults).toEqual([]);
      expect(await rejectedOf(environment, publication)).toHaveLength(6);
    } finally {
      await store.client.close();
      await proxy.close();
    }
  });

  test('are not stored twice by a second attempt', async () => {
    const environment = await newEnvironment();
    const publication = newRunId();
    const stop = new AbortController();
    const broken = publishFiles(environment, FIXTURES, {
      publication,
      signal: stop.signal,
      onProgress: ({ step }) => {
        if (step === 'making durable') stop.abort(new Error('killed by the test'));
      },
    });
    await expect(broken).rejects.toThrow('killed by the test');
    const before = await rejectedOf(environment, publication);
    expect(before).toHaveLength(6);

    const again = await publishFiles(environment, FIXTURES, { publication });
    expect(again).toMatchObject({ state: 'live', publication, rejected: 6 });
    expect(await rejectedOf(environment, publication)).toEqual(before);
  });
});

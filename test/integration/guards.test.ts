import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { numberQuery } from '../../src/lookup/license-query.ts';
import { searchLicenses } from '../../src/lookup/opensearch-requests.ts';
import { searchBody } from '../../src/lookup/search-bodies.ts';
import { indicesUnderAlias } from '../../src/publications/alias.ts';
import { publicationDetails, publicationHistory } from '../../src/publications/history.ts';
import { licensesIndices, readMetadata } from '../../src/publications/metadata.ts';
import type { PublishResult } from '../../src/publications/result.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { newRunId } from '../../src/publications/run-id.ts';
import { openStore } from '../../src/storage/store.ts';
import { VerificationError } from '../../workers/publish/verify.ts';
import { type Day, type DayRow, licensesOf, textOf, writeDay } from '../support/day-files.ts';
import { fileServer, served } from '../support/file-server.ts';
import { openSearchProxy } from '../support/open-search-proxy.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';
import { zip } from '../support/zip-file.ts';

const NURSING = 'Nursing Board';
const MEDICAL = 'Medical Board';
const PHARMACY = 'Board of Pharmacy';

/** Many publications are kept, so that each test can roll back to the base. */
const SETTINGS = { KEEP_PUBLICATIONS: '100' };

const nurses = licensesOf(NURSING, 'RN.', 200);
const doctors = licensesOf(MEDICAL, '35.', 60);
const pharmacies = licensesOf(PHARMACY, '02', 60);

/** 320 good rows. */
const BASE: Day = { date: '2026-11-20', individual: [...nurses, ...doctors], business: pharmacies };

/** The base's files of the next day, with these changes. */
function nextDay(changes: Partial<Day> = {}): Day {
  return { ...BASE, date: '2026-11-21', ...changes };
}

let environment: TestEnvironment;
let base: { readonly publication: string; readonly index: string };

const liveResult = z.object({ state: z.literal('live'), publication: z.string(), index: z.string() });

beforeAll(async () => {
  environment = await testEnvironment(SETTINGS);
  const files = await writeDay(environment.folder, 'base', BASE);
  base = liveResult.parse(await publishFiles(environment, files, { isGuarded: true }));
});
afterAll(() => environment.cleanUp());

async function live(): Promise<string[]> {
  return indicesUnderAlias(environment.store);
}

async function indices(): Promise<string[]> {
  const found = await licensesIndices(environment.store);
  return found.map(({ index }) => index);
}

function details({ publication }: PublishResult) {
  return publicationDetails(environment.store, publication);
}

/** Rolls back to the base. */
async function backToBase(): Promise<void> {
  const [index] = await live();
  if (index !== base.index) {
    await rollBack(environment.store, base.publication);
  }
}

beforeEach(backToBase);

/** Publishes files that must be refused, and expects that no index is left of them. */
async function refused(files: DatasetFiles): Promise<readonly string[]> {
  const before = { live: await live(), indices: await indices() };
  const result = await publishFiles(environment, files, { isGuarded: true });
  expect(result).toMatchObject({ state: 'refused' });
  expect({ live: await live(), indices: await indices() }).toEqual(before);
  const { reasons } = z.object({ reasons: z.array(z.string()).min(1) }).parse(result);
  const { summary, events } = await details(result);
  expect(summary).toMatchObject({ state: 'refused', reasons });
  expect(events.map(({ event }) => event)).not.toContain('live');
  return reasons;
}

/** Publishes with force files that the guards refuse. Expects that they are live and the ledger has the force. */
async function forced(files: DatasetFiles, reasons: readonly string[]): Promise<PublishResult> {
  const force = `${newRunId()}, as the test says`;
  const result = await publishFiles(environment, files, { force });
  const { index } = liveResult.parse(result);
  expect(await live()).toEqual([index]);
  const { summary, events } = await details(result);
  expect(summary).toMatchObject({ state: 'live', forced: force });
  const event = events.find((each) => each.event === 'live');
  expect(event).toMatchObject({ forced: force, reasons });
  return result;
}

function without(rows: readonly DayRow[], count: number): readonly DayRow[] {
  return rows.slice(count);
}

/** These rows, with another status, board or date in the first `count`. */
function changed(rows: readonly DayRow[], count: number, change: Partial<DayRow>): readonly DayRow[] {
  return rows.map((row, at) => (at < count ? { ...row, ...change } : row));
}

/** A day's files with the individual file's text changed. */
async function withText(name: string, change: (text: string) => string): Promise<DatasetFiles> {
  const files = await writeDay(environment.folder, name, nextDay());
  await writeFile(files.individual, change(await readFile(files.individual, 'utf8')));
  return files;
}

describe('the guards', () => {
  const day = (name: string, changes: Partial<Day>) => () =>
    writeDay(environment.folder, name, nextDay(changes));

  test.each<[string, () => Promise<DatasetFiles>, string[]]>([
    [
      'the last row is cut off',
      () => withText('cut', (text) => text.slice(0, -30)),
      ['truncated: The individual file ends inside a row'],
    ],
    [
      'a quote is not closed at the end',
      () => withText('open', (text) => `${text}"LAST, LOUISE`),
      ['truncated: The individual file ends inside a row'],
    ],
    [
      'there are fewer licenses in all, though no board lost many',
      day('fewer', {
        individual: [...without(nurses, 5), ...without(doctors, 3)],
        business: without(pharmacies, 3),
      }),
      ['fewer_rows: 309 rows give a license, the live publication has 320'],
    ],
    [
      'one board has fewer licenses, though there are more in all',
      day('board', { individual: [...without(nurses, 51), ...licensesOf(MEDICAL, '35.', 160)] }),
      ['fewer_rows_at_board: Nursing Board has 149 licenses, in the live publication 200'],
    ],
    [
      'a board is missing',
      day('gone', { individual: nurses }),
      [
        'fewer_rows: 260 rows give a license',
        'fewer_rows_at_board: Medical Board has 0 licenses, in the live publication 60',
      ],
    ],
    [
      'more than 0.5 % of the rows are rejected',
      day('aside', { individual: [...changed(nurses, 2, { expires: '2099-02-30' }), ...doctors] }),
      ['rejected: 2 of 320 rows were rejected, more than 0.5 % (GUARD_MAX_REJECTED_PERCENT).'],
    ],
    [
      'a board has a number twice',
      day('twice', { individual: [...BASE.individual, { board: NURSING, number: 'RN.900001' }] }),
      ['duplicates: 1 numbers stand in an earlier row of their board too, more than 0'],
    ],
    [
      'more than 1 % of the rows have an unknown board or status',
      day('unknown', {
        individual: [...changed(nurses, 2, { board: 'Board of Wizardry' }), ...doctors],
        business: changed(pharmacies, 2, { status: 'Hovering' }),
      }),
      ['unknown_labels: 4 of 320 rows have a board or status that is not in the catalog'],
    ],
    [
      'the dates of the files differ',
      day('dates', { date: { individual: '2026-11-21', business: '2026-11-22' } }),
      ['dates_differ: The individual file is of 2026-11-21, the business file of 2026-11-22.'],
    ],
    [
      'the files are older than the live publication',
      day('older', { date: '2026-11-19' }),
      ['older: The files are of 2026-11-19, 1 day older than the live publication of 2026-11-20'],
    ],
  ])('refuse files when %s, unless forced', async (_what, files, starts) => {
    const written = await files();
    const reasons = await refused(written);
    expect(reasons).toEqual(starts.map((start) => expect.stringContaining(start)));
    await forced(written, reasons);
  });

  test('allow files just within the thresholds', async () => {
    const rows = licensesOf(NURSING, 'RN.', 200);
    const files = await writeDay(environment.folder, 'within', {
      date: '2026-11-20',
      individual: [
        ...changed(changed(without(rows, 3), 1, { expires: 'soon' }), 3, { status: 'Hovering' }),
        ...without(doctors, 3),
      ],
      business: without(pharmacies, 2),
    });
    const result = await publishFiles(environment, files, { isGuarded: true });
    expect(result).toMatchObject({ state: 'live', licenses: 311, rejected: 1 });
  });

  test('refuse files that were rolled back, but not corrected files of the same date', async () => {
    const rolledBack = await writeDay(environment.folder, 'rolledBack', nextDay({ date: '2026-11-22' }));
    const first = await publishFiles(environment, rolledBack, { isGuarded: true });
    expect(first).toMatchObject({ state: 'live' });
    await backToBase();
    const reasons = await refused(rolledBack);
    expect(reasons).toEqual([
      `rolled_back: Publication ${first.publication} had the same files and was rolled back.`,
    ]);
    const other = await writeDay(
      environment.folder,
      'corrected',
      nextDay({ date: '2026-11-22', business: changed(pharmacies, 1, { city: 'AKRON' }) }),
    );
    expect(await publishFiles(environment, other, { isGuarded: true })).toMatchObject({ state: 'live' });
    await forced(rolledBack, reasons);
  });

  test('leave the counts of refused files by board and status in the ledger', async () => {
    const files = await writeDay(
      environment.folder,
      'counted',
      nextDay({ individual: nurses, date: '2026-11-22' }),
    );
    const result = await publishFiles(environment, files, { isGuarded: true });
    expect((await details(result)).summary).toMatchObject({
      state: 'refused',
      counts: { rows: 260, licenses: 260, endorsements: 0, rejected: 0 },
      boards: { [NURSING]: 200, [PHARMACY]: 60 },
      statuses: { ACTIVE: 260 },
    });
  });
});

describe('even with force, nothing goes live from', () => {
  afterEach(async () => {
    expect(await live()).toEqual([base.index]);
  });

  test('files that changed after they were submitted', async () => {
    const files = await writeDay(environment.folder, 'changing', nextDay());
    const result = await publishFiles(environment, files, {
      onProgress: ({ step }) => {
        if (step === 'reading') writeFileSync(files.business, textOf(BASE, 'business'));
      },
    });
    expect(result).toMatchObject({
      state: 'refused',
      reasons: ['changed: business-changing.csv changed after the publication was asked for.'],
    });
  });

  test('a gzip file that is cut off', async () => {
    const files = await writeDay(environment.folder, 'gz', nextDay());
    const packed = gzipSync(await readFile(files.individual));
    const individual = join(environment.folder, 'cut.csv.gz');
    await writeFile(individual, packed.subarray(0, packed.length - 20));
    const before = await indices();
    for (const isGuarded of [true, false]) {
      const result = await publishFiles(environment, { ...files, individual }, { isGuarded });
      expect(result).toMatchObject({
        state: 'refused',
        reasons: [expect.stringMatching(/^truncated: cut\.csv\.gz can't be read as a gzip file/)],
      });
      expect((await details(result)).summary).toMatchObject({ state: 'refused' });
    }
    expect(await indices()).toEqual(before);
  });

  /** Publishes with force, and changes the index just before it is verified. */
  async function disturbed(name: string, disturb: (index: string) => Promise<unknown>): Promise<unknown> {
    const { config } = environment;
    let isDone = false;
    const proxy = await openSearchProxy(config.OPENSEARCH_URL, async (request) => {
      const [, index] = /^\/([^/]*licenses-[^/]+)\/_refresh/.exec(request.path) ?? [];
      if (index !== undefined && !isDone) {
        isDone = true;
        await disturb(index);
      }
      return request.forward();
    });
    const store = openStore({ ...config, OPENSEARCH_URL: proxy.url }, 30_000);
    const publication = newRunId();
    try {
      const files = await writeDay(environment.folder, name, nextDay());
      return await publishFiles({ ...environment, store }, files, { publication }).catch(
        (error: unknown) => error,
      );
    } finally {
      await store.client.close();
      await proxy.close();
      const { events } = await publicationDetails(environment.store, publication);
      expect(events.map(({ event }) => event)).toEqual(['reading', 'loading', 'verifying']);
    }
  }

  test.each<[string, (index: string) => Promise<unknown>, string]>([
    [
      'lacks a license',
      (index) => environment.client.delete({ index, id: 'NUR/RN.900007' }),
      'The index has 319 licenses, but 320 were sent.',
    ],
    [
      'has a license at another board',
      (index) => environment.client.update({ index, id: 'NUR/RN.900007', body: { doc: { board: MEDICAL } } }),
      'The index has 199 licenses of Nursing Board, but 200 were sent.',
    ],
    [
      'has other values than were sent for every license of a board',
      (index) =>
        environment.client.bulk({
          index,
          body: pharmacies.flatMap(({ number }) => [
            { update: { _id: `PRX/${number}` } },
            { doc: { city: 'AKRON' } },
          ]),
        }),
      'reads back otherwise than it was sent.',
    ],
  ])('an index that %s', async (what, disturb, message) => {
    const before = await indices();
    const failure = await disturbed(what.replaceAll(' ', '-'), disturb);
    expect(failure).toBeInstanceOf(VerificationError);
    expect(failure).toMatchObject({ message: expect.stringContaining(message) });
    expect(await indices()).toEqual(before);
  });
});

describe('files that are live already', () => {
  test('are skipped with the id of the live publication, unless forced', async () => {
    const files = await writeDay(environment.folder, 'again', nextDay({ date: '2026-11-23' }));
    const first = await publishFiles(environment, files, { isGuarded: true });
    const before = { live: await live(), indices: await indices() };
    const again = await publishFiles(environment, files, { isGuarded: true });
    expect(again).toEqual({
      state: 'skipped',
      publication: again.publication,
      live: first.publication,
      date: '2026-11-23',
    });
    expect({ live: await live(), indices: await indices() }).toEqual(before);
    expect((await details(again)).summary).toMatchObject({
      state: 'skipped',
      date: '2026-11-23',
      same_as: first.publication,
      reasons: [`Publication ${first.publication} has the same files and is live.`],
    });
    expect((await details(first)).summary).toMatchObject({ state: 'live' });

    await forced(files, []);
    expect((await details(first)).summary).toMatchObject({ state: 'superseded' });
  });
});

describe('generated data', () => {
  test('is never a baseline for the guards', async () => {
    const own = await testEnvironment();
    try {
      const sample = await writeSampleData({
        directory: join(own.folder, 'sample'),
        rows: 1000,
        seed: 1,
        date: '2026-12-31',
      });
      expect(await publishFiles(own, sample, { isGuarded: true })).toMatchObject({ state: 'live' });
      const files = await writeDay(own.folder, 'real', BASE);
      expect(await publishFiles(own, files, { isGuarded: true })).toMatchObject({
        state: 'live',
        date: '2026-11-20',
        licenses: 320,
      });
      const { live: now } = await publicationHistory(own.store);
      expect(now).toMatchObject({ sample: false });
    } finally {
      await own.cleanUp();
    }
  });
});

describe('the guards do not refuse', () => {
  async function atNumber(number: string): Promise<string[]> {
    const [index = ''] = await live();
    const query = numberQuery(number);
    const found =
      query === undefined ? [] : await searchLicenses(environment.client, index, searchBody(query));
    return found.map(({ board, license_number }) => `${board}: ${license_number}`).toSorted();
  }

  test('one number at two boards: both licenses are live and found', async () => {
    const files = await writeDay(
      environment.folder,
      'two-boards',
      nextDay({ individual: [...BASE.individual, { board: MEDICAL, number: 'RN.900001' }] }),
    );
    const result = await publishFiles(environment, files, { isGuarded: true });
    expect(result).toMatchObject({ state: 'live', licenses: 321, rejected: 0 });
    expect(await atNumber('RN.900001')).toEqual([`${MEDICAL}: RN.900001`, `${NURSING}: RN.900001`]);
  });

  test.each<[string, (text: Buffer, name: string) => Buffer]>([
    ['gzip', (text) => gzipSync(text)],
    ['zip', (text, name) => zip({ name: `${name}.csv`, content: text })],
  ])('files compressed with %s', async (packing, pack) => {
    const day = nextDay({ individual: [...BASE.individual, { board: NURSING, number: `RN.${packing}` }] });
    const plain = await writeDay(environment.folder, packing, day);
    const individual = join(environment.folder, `individual.csv.${packing}`);
    const business = join(environment.folder, `business.csv.${packing}`);
    await writeFile(individual, pack(await readFile(plain.individual), 'individual'));
    await writeFile(business, pack(await readFile(plain.business), 'business'));
    const result = await publishFiles(environment, { individual, business }, { isGuarded: true });
    expect(result).toMatchObject({ state: 'live', licenses: 321 });
    expect(await atNumber(`RN.${packing}`)).toEqual([`${NURSING}: RN.${packing}`]);
    const [index = ''] = await live();
    const { sources } = await readMetadata(environment.client, index);
    expect(sources?.individual).toMatchObject({ name: `individual.csv.${packing}`, rows: 261 });
  });

  test('files from URLs: downloaded, listed without credentials, and skipped while unchanged', async () => {
    const config = { ...environment.config, STATE_DIR: join(environment.folder, 'state') };
    const day = nextDay({ individual: [...BASE.individual, { board: NURSING, number: 'RN.web' }] });
    const individual = gzipSync(textOf(day, 'individual'));
    const business = Buffer.from(textOf(day, 'business'));
    const people = await fileServer(served({ content: individual, headers: { etag: '"1"' } }));
    const places = await fileServer(served({ content: business, headers: { etag: '"1"' } }));
    try {
      const urls = {
        individual: people.url.replace('http://', 'http://user:secret@'),
        business: places.url,
      };
      const steps: string[] = [];
      const result = await publishFiles({ ...environment, config }, urls, {
        isGuarded: true,
        onProgress: ({ step }) => steps.push(step),
      });
      expect(result).toMatchObject({ state: 'live', licenses: 321 });
      expect([...new Set(steps)].slice(0, 3)).toEqual(['downloading', 'reading', 'loading']);
      const { summary, events } = await details(result);
      expect(summary.sources).toEqual({ individual: people.url, business: places.url });
      expect(summary.sha256?.business).toBe(createHash('sha256').update(business).digest('hex'));
      expect(JSON.stringify(events)).not.toContain('secret');

      const again = await publishFiles({ ...environment, config }, urls, { isGuarded: true });
      expect(again).toMatchObject({ state: 'skipped', live: result.publication });
      expect(people.requests.at(-1)).toMatchObject({ 'if-none-match': '"1"' });
    } finally {
      await people.close();
      await places.close();
    }
  });
});

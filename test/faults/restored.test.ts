/** @room changes @long */

import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { licensesIndices, readableLiveIndex, writeMetadata } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { readBackup, restoreBackup, writeBackup } from '../../src/storage/backup.ts';
import { digestIndexName } from '../../src/storage/store.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { allChanges, askChanges, changesPage } from '../support/changes.ts';
import type { DayRow } from '../support/day-files.ts';
import { throughProxy } from '../support/proxy.ts';
import { filesOf, newEnvironment, nurses, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const NURSING = 'Nursing Board';
const NURSES = nurses(300);
const FOLLOWED = 'RN.900001';
const DAYS_KEPT = 30;

/** The nurses of a day: the followed one lives in another city each day, and each day has one nurse less. */
function nursesOf(day: number): readonly DayRow[] {
  return NURSES.slice(0, 300 - day).map((row) =>
    row.number === FOLLOWED ? { ...row, city: `CITY ${day}` } : row,
  );
}

/** The cluster that was lost: a backup was made after day 3, and days 4 and 5 are not in it. */
let lost: TestEnvironment;
let backup: string;
/** What a client had read: up to day 2, up to the backup, and up to day 5. */
let cursors: { early: string; atBackup: string; late: string };

const dateOf = (day: number) => `2026-11-${String(day).padStart(2, '0')}`;

async function publishDay(environment: TestEnvironment, day: number): Promise<void> {
  await published(environment, dateOf(day), { individual: nursesOf(day) }, { isGuarded: true });
}

async function withApi<Result>(
  environment: TestEnvironment,
  work: (rest: ApiClient) => Promise<Result>,
): Promise<Result> {
  const api = await startApi(environment.variables);
  try {
    return await work(await apiClient(environment));
  } finally {
    await api.stop();
  }
}

beforeAll(async () => {
  lost = await newEnvironment();
  backup = join(lost.folder, 'daily.backup');
  await withApi(lost, async (rest) => {
    const latest = async () => (await changesPage(rest, { since: 'latest' })).next;
    for (const day of [1, 2]) await publishDay(lost, day);
    const early = await latest();
    await publishDay(lost, 3);
    const atBackup = await latest();
    await writeBackup(lost.store, backup, DOCUMENT_CHECKS);
    for (const day of [4, 5]) await publishDay(lost, day);
    cursors = { early, atBackup, late: await latest() };
  });
});

/** An empty installation into which the backup was restored. */
async function restored(settings: Record<string, string> = {}): Promise<TestEnvironment> {
  const environment = await newEnvironment({ CHANGES_KEPT_DAYS: String(DAYS_KEPT), ...settings });
  await restoreBackup(environment.store, backup, DOCUMENT_CHECKS);
  return environment;
}

const historyBody = z.object({
  coverage_start: z.string(),
  gaps: z.array(z.object({ after: z.string(), before: z.string() })).optional(),
  changes: z.array(z.object({ date: z.string(), kind: z.string() })),
});

async function historyOf(rest: ApiClient, license_number = FOLLOWED) {
  const answer = await rest.get(`/api/v1/history?${new URLSearchParams({ board: NURSING, license_number })}`);
  return historyBody.parse(answer.body);
}

const statusOf = async (rest: ApiClient, since: string) => (await askChanges(rest, { since })).status;

describe('after a restore, when the newest files are published', () => {
  let environment: TestEnvironment;

  beforeAll(async () => {
    environment = await restored();
    await publishDay(environment, 9);
  });

  test('the history from before the backup is there, and says of which time nothing is known', async () => {
    await withApi(environment, async (rest) => {
      const gaps = [{ after: '2026-11-03', before: '2026-11-09' }];
      const { changes, ...coverage } = await historyOf(rest);
      expect(coverage).toEqual({ coverage_start: '2026-11-01', gaps });
      expect(changes.slice(-2).map(({ date }) => date)).toEqual(['2026-11-03', '2026-11-02']);
      const unchanged = 'RN.900002';
      expect(await historyOf(rest, unchanged)).toEqual({ ...coverage, changes: [] });
      for (const cursor of Object.values(cursors)) expect(await statusOf(rest, cursor)).toBe(410);

      const tool = await rest.callTool('license_history', { board: NURSING, license_number: unchanged });
      expect(tool.text).toContain('Changes between 2026-11-03 and 2026-11-09 are not known here.');
      expect(tool.text).not.toContain('Nothing has changed');
      const page = await rest.get(`/licenses/NUR/${unchanged}`);
      expect(page.text).toContain(
        'Changes between November 3, 2026 and November 9, 2026 are not known here.',
      );
      expect(page.text).not.toContain('Nothing has changed');
    });
  });

  test('the changes from before are deleted when they are older than CHANGES_KEPT_DAYS', async () => {
    const aged = await restored();
    await publishDay(aged, 9);
    const { client, store } = aged;
    await client.indices.refresh({ index: store.names.changes });
    await client.updateByQuery({
      index: store.names.changes,
      refresh: true,
      body: {
        query: {
          bool: { filter: [{ exists: { field: 'publication' } }], must_not: [{ exists: { field: 'feed' } }] },
        },
        script: {
          source:
            "def all = ctx._source.state; for (each in all) if (each.feed != all[all.size() - 1].feed) each.at = '2026-01-01T00:00:00.000Z'",
        },
      },
    });
    await publishDay(aged, 12);
    await withApi(aged, async (rest) => {
      expect(await historyOf(rest)).toEqual({
        coverage_start: '2026-11-09',
        changes: [{ date: '2026-11-12', kind: 'changed' }],
      });
    });
  });
});

describe('after a restore, when the files of the backup are published again', () => {
  test('cursors from before the backup go on without loss, and later ones are gone', async () => {
    const environment = await restored();
    await publishDay(environment, 3);
    await withApi(environment, async (rest) => {
      for (const day of [6, 7]) await publishDay(environment, day);
      expect(await statusOf(rest, cursors.late)).toBe(410);
      const cities = (await allChanges(rest, cursors.early, 2)).flatMap(({ fields }) =>
        fields.city?.before ? [fields.city.after] : [],
      );
      expect(cities).toEqual(['CITY 3', 'CITY 6', 'CITY 7']);
      expect(await allChanges(rest)).toHaveLength(2 + 2 + 4 + 2);
      expect(await historyOf(rest)).toMatchObject({ coverage_start: '2026-11-01' });
      expect((await historyOf(rest)).gaps).toBeUndefined();
    });
  });

  test('by another version of the service, which may read them differently, a new feed starts', async () => {
    const environment = await restored();
    const { client, store } = environment;
    await client.updateByQuery({
      index: store.names.ledger,
      refresh: true,
      body: {
        query: { exists: { field: 'event' } },
        script: { source: "ctx._source.service_version = '0.0.1'" },
      },
    });
    await publishDay(environment, 3);
    await withApi(environment, async (rest) => {
      expect(await statusOf(rest, cursors.early)).toBe(410);
      expect(await historyOf(rest)).toMatchObject({ gaps: [{ after: '2026-11-03', before: '2026-11-03' }] });
    });
  });
});

describe('after a restore, the guards compare with what was live last', () => {
  const refusedFor = (result: PublishResult) =>
    result.state === 'refused' ? result.reasons : [result.state];

  test('far fewer licenses, and older files, are refused', async () => {
    const environment = await restored();
    const publish = async (day: number, individual = nursesOf(day)) =>
      refusedFor(
        await publishFiles(environment, await filesOf(environment, dateOf(day), { individual }), {
          isGuarded: true,
        }),
      ).join();
    expect(await publish(9, NURSES.slice(0, 40))).toMatch(/fewer_rows: 42 .* 299/);
    expect(await publish(2)).toMatch(/^older: /);
    expect(await publish(9)).toBe('live');
  });

  test('not with sample data, and its history does not go on in real data', async () => {
    const environment = await newEnvironment();
    const sample = { directory: join(environment.folder, 'sample'), rows: 1000, seed: 1 };
    await publishFiles(environment, await writeSampleData({ ...sample, date: '2026-11-20' }));
    await publishFiles(environment, await writeSampleData({ ...sample, date: '2026-11-21', changed: 0.1 }));
    const file = join(environment.folder, 'sample.backup');
    await writeBackup(environment.store, file, DOCUMENT_CHECKS);
    const empty = await newEnvironment();
    await restoreBackup(empty.store, file, DOCUMENT_CHECKS);
    await publishDay(empty, 3);
    await withApi(empty, async (rest) => {
      expect(await changesPage(rest)).toMatchObject({ changes: [], more: false });
      expect(await historyOf(rest)).toEqual({ coverage_start: '2026-11-03', changes: [] });
    });
  });
});

describe('when nothing is live although there are publications', () => {
  async function withoutAlias(): Promise<TestEnvironment> {
    const environment = await newEnvironment();
    for (const day of [1, 2, 3]) await publishDay(environment, day);
    const { client, store } = environment;
    await client.indices.deleteAlias({ index: store.names.licensesPattern, name: store.names.alias });
    return environment;
  }

  test.each([undefined, 1])('a rollback makes the latest live again, or the one named (%p)', async (to) => {
    const environment = await withoutAlias();
    const { store } = environment;
    const made = await rollBack(store, to === undefined ? undefined : await publicationOf(environment, to));
    expect([made.from, made.to.metadata.date]).toEqual([undefined, `2026-11-0${to ?? 3}`]);
    await withApi(environment, async (rest) => {
      const { changes, gaps } = await historyOf(rest);
      expect(changes.map(({ date }) => date)).toEqual(['2026-11-03', '2026-11-02']);
      expect(gaps).toEqual(to === undefined ? undefined : [{ after: '2026-11-03', before: '2026-11-01' }]);
    });
  });

  test('a publication goes live, and a prune deletes none of them before', async () => {
    const environment = await withoutAlias();
    expect(await prune(environment.store, 1)).toEqual([]);
    await publishDay(environment, 4);
  });
});

/** Publishes a day as version 0.2.0 does, which knows nothing of changes. */
async function publishDayAsEarlierVersion(environment: TestEnvironment, day: number): Promise<void> {
  const { client, store } = environment;
  await publishDay(environment, day);
  const live = await readableLiveIndex(store);
  if (live === undefined) throw new Error('Nothing is live.');
  const { feed: _feed, changes: _changes, discipline: _discipline, ...metadata } = live.metadata;
  await writeMetadata(client, live.index, metadata);
  await client.indices.delete({ index: digestIndexName(store.prefix, live.index) });
  await client.delete({ index: store.names.changes, id: `switch-${live.index}`, refresh: true });
}

test('after an operator went back to version 0.2.0 and came back, the feed and the history begin anew', async () => {
  const environment = await newEnvironment();
  for (const day of [1, 2, 3]) await publishDay(environment, day);
  await withApi(environment, async (rest) => {
    const { next } = await changesPage(rest, { since: 'latest' });
    await publishDayAsEarlierVersion(environment, 4);
    expect(await historyOf(rest)).toMatchObject({ coverage_start: '2026-11-04', changes: [] });
    expect(await statusOf(rest, next)).toBe(410);
    await publishDay(environment, 5);
    await publishDay(environment, 6);
    const { changes, ...coverage } = await historyOf(rest);
    expect(coverage).toEqual({ coverage_start: '2026-11-05' });
    expect(changes.map(({ date }) => date)).toEqual(['2026-11-06']);
    expect(await statusOf(rest, next)).toBe(410);
  });
});

async function publicationOf({ store }: TestEnvironment, day: number): Promise<string> {
  const found = (await licensesIndices(store)).find(({ metadata }) => metadata.date === `2026-11-0${day}`);
  return found?.metadata.publication ?? '';
}

test('a prune before each request of a restore takes nothing away from it', async () => {
  const environment = await newEnvironment();
  const { documents: counts } = await readBackup(backup, DOCUMENT_CHECKS);
  let pruned = 0;
  const restored = await throughProxy(
    environment,
    async (request) => {
      await prune(environment.store, 1);
      pruned += 1;
      return request.forward();
    },
    ({ store }) => restoreBackup(store, backup, DOCUMENT_CHECKS),
  );
  expect(restored).toEqual({ documents: counts, leftOut: [] });
  expect(pruned).toBeGreaterThan(10);
});

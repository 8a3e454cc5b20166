/** @room changes @long */

import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
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
const UNCHANGED = 'RN.900002';

/** The nurses of a day: the followed one lives in another city each day, and each day has one nurse less. */
function nursesOf(day: number): readonly DayRow[] {
  const city = `CITY ${day}`;
  return NURSES.slice(0, 300 - day).map((row) => (row.number === FOLLOWED ? { ...row, city } : row));
}

const dateOf = (day: number) => `2026-11-${String(day).padStart(2, '0')}`;

async function publishDays(environment: TestEnvironment, ...days: number[]): Promise<void> {
  for (const day of days)
    await published(environment, dateOf(day), { individual: nursesOf(day) }, { isGuarded: true });
}

/** What is not known between these days. */
const gaps = (...pairs: readonly (readonly [number, number])[]) =>
  pairs.map(([after, before]) => ({ after: dateOf(after), before: dateOf(before) }));

/** A client of an API that is started here. */
async function clientOf(environment: TestEnvironment): Promise<ApiClient> {
  await startApi(environment.variables);
  return apiClient(environment);
}

const latestOf = async (rest: ApiClient) => (await changesPage(rest, { since: 'latest' })).next;

/** From a cluster that was lost: a backup was made after day 3, and days 4 and 5 are not in it. */
const lost = await newEnvironment();
const backup = join(lost.folder, 'daily.backup');
const ofLost = await clientOf(lost);
await publishDays(lost, 1, 2);
const early = await latestOf(ofLost);
await publishDays(lost, 3);
const atBackup = await latestOf(ofLost);
await writeBackup(lost.store, backup, DOCUMENT_CHECKS);
await publishDays(lost, 4, 5);
/** What a client had read: up to day 2, up to the backup, and up to day 5. */
const cursors = { early, atBackup, late: await latestOf(ofLost) };

/** An empty installation into which a backup was restored. */
async function restored(file = backup): Promise<TestEnvironment> {
  const environment = await newEnvironment({ CHANGES_KEPT_DAYS: '30' });
  await restoreBackup(environment.store, file, DOCUMENT_CHECKS);
  return environment;
}

const historyBody = z.object({
  coverage_start: z.string(),
  gaps: z.array(z.object({ after: z.string(), before: z.string() })).optional(),
  changes: z.array(z.object({ date: z.string() })),
});

async function historyOf(rest: ApiClient, license_number = FOLLOWED) {
  const answer = await rest.get(`/api/v1/history?${new URLSearchParams({ board: NURSING, license_number })}`);
  const { changes, ...history } = historyBody.parse(answer.body);
  return { ...history, changed: changes.map(({ date }) => date) };
}

const statusOf = async (rest: ApiClient, since: string) => (await askChanges(rest, { since })).status;

describe('after a restore, when the newest files are published', () => {
  test('the history from before the backup is there, and says of which time nothing is known', async () => {
    const environment = await restored();
    await publishDays(environment, 9);
    const rest = await clientOf(environment);
    const { changed, ...coverage } = await historyOf(rest);
    expect(coverage).toEqual({ coverage_start: dateOf(1), gaps: gaps([3, 9]) });
    expect(changed.slice(-2)).toEqual([3, 2].map(dateOf));
    expect(await historyOf(rest, UNCHANGED)).toEqual({ ...coverage, changed: [] });
    for (const cursor of Object.values(cursors)) expect(await statusOf(rest, cursor)).toBe(410);

    const asked = { board: NURSING, license_number: UNCHANGED };
    for (const [{ text }, from, to] of [
      [await rest.callTool('license_history', asked), '2026-11-03', '2026-11-09'],
      [await rest.get(`/licenses/NUR/${UNCHANGED}`), 'November 3, 2026', 'November 9, 2026'],
    ] as const) {
      expect(text).toContain(`Changes between ${from} and ${to} are not known here.`);
      expect(text).not.toContain('Nothing has changed');
    }
  });

  test('the changes from before are deleted when they are older than CHANGES_KEPT_DAYS', async () => {
    const aged = await restored();
    await publishDays(aged, 9);
    const { client, store } = aged;
    const index = store.names.changes;
    await client.indices.refresh({ index });
    const exists = (field: string) => ({ exists: { field } });
    const query = { bool: { filter: [exists('publication')], must_not: [exists('feed')] } };
    const source =
      "def all = ctx._source.state; for (each in all) if (each.feed != all[all.size() - 1].feed) each.at = '2026-01-01T00:00:00.000Z'";
    await client.updateByQuery({ index, refresh: true, body: { query, script: { source } } });
    await publishDays(aged, 12);
    const kept = { coverage_start: dateOf(9), changed: [dateOf(12)] };
    expect(await historyOf(await clientOf(aged))).toEqual(kept);
  });
});

describe('after a restore, when the files of the backup are published again', () => {
  test('cursors from before the backup go on without loss, and later ones are gone', async () => {
    const environment = await restored();
    await publishDays(environment, 3);
    const rest = await clientOf(environment);
    await publishDays(environment, 6, 7);
    expect(await statusOf(rest, cursors.late)).toBe(410);
    const changes = await allChanges(rest, cursors.early, 2);
    const cities = changes.flatMap(({ fields }) => (fields.city?.before ? [fields.city.after] : []));
    expect(cities).toEqual(['CITY 3', 'CITY 6', 'CITY 7']);
    expect(await allChanges(rest)).toHaveLength(2 + 2 + 4 + 2);
    const { coverage_start, gaps } = await historyOf(rest);
    expect([coverage_start, gaps]).toEqual([dateOf(1), undefined]);
  });

  test('by another version of the service, which may read them differently, a new feed starts', async () => {
    const environment = await restored();
    const { client, store } = environment;
    const query = { exists: { field: 'event' } };
    const script = { source: "ctx._source.service_version = '0.0.1'" };
    await client.updateByQuery({ index: store.names.ledger, refresh: true, body: { query, script } });
    await publishDays(environment, 3);
    const rest = await clientOf(environment);
    expect(await statusOf(rest, cursors.early)).toBe(410);
    expect(await historyOf(rest)).toMatchObject({ gaps: gaps([3, 3]) });
  });
});

describe('after a restore, the guards compare with what was live last', () => {
  test('far fewer licenses, and older files, are refused', async () => {
    const environment = await restored();
    const publish = async (day: number, individual = nursesOf(day)) => {
      const files = await filesOf(environment, dateOf(day), { individual });
      const result = await publishFiles(environment, files, { isGuarded: true });
      return result.state === 'refused' ? result.reasons.join() : result.state;
    };
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
    const empty = await restored(file);
    await publishDays(empty, 3);
    const rest = await clientOf(empty);
    expect(await changesPage(rest)).toMatchObject({ changes: [], more: false });
    expect(await historyOf(rest)).toEqual({ coverage_start: dateOf(3), changed: [] });
  });
});

describe('when nothing is live although there are publications', () => {
  async function withoutAlias(): Promise<TestEnvironment> {
    const environment = await newEnvironment();
    await publishDays(environment, 1, 2, 3);
    const { client, store } = environment;
    await client.indices.deleteAlias({ index: store.names.licensesPattern, name: store.names.alias });
    return environment;
  }

  test.each([undefined, 1])('a rollback makes the latest live again, or the one named (%p)', async (to) => {
    const environment = await withoutAlias();
    const { store } = environment;
    const named = (await licensesIndices(store)).find(({ metadata }) => metadata.date === dateOf(to ?? 3));
    const made = await rollBack(store, to === undefined ? undefined : named?.metadata.publication);
    expect([made.from, made.to.metadata.date]).toEqual([undefined, dateOf(to ?? 3)]);
    const history = await historyOf(await clientOf(environment));
    expect(history.changed).toEqual([3, 2].map(dateOf));
    expect(history.gaps).toEqual(to === undefined ? undefined : gaps([3, 1]));
  });

  test('a publication goes live, and a prune deletes none of them before', async () => {
    const environment = await withoutAlias();
    expect(await prune(environment.store, 1)).toEqual([]);
    await publishDays(environment, 4);
  });
});

/** Publishes a day as version 0.2.0 does, which knows nothing of changes. */
async function publishDayAsEarlierVersion(environment: TestEnvironment, day: number): Promise<void> {
  const { client, store } = environment;
  await publishDays(environment, day);
  const live = await readableLiveIndex(store);
  if (live === undefined) throw new Error('Nothing is live.');
  const { feed: _feed, changes: _changes, discipline: _discipline, ...metadata } = live.metadata;
  await writeMetadata(client, live.index, metadata);
  await client.indices.delete({ index: digestIndexName(store.prefix, live.index) });
  await client.delete({ index: store.names.changes, id: `switch-${live.index}`, refresh: true });
}

test('after an operator went back to version 0.2.0 and came back, the feed and the history begin anew', async () => {
  const environment = await newEnvironment();
  await publishDays(environment, 1, 2, 3);
  const rest = await clientOf(environment);
  const next = await latestOf(rest);
  await publishDayAsEarlierVersion(environment, 4);
  expect(await historyOf(rest)).toEqual({ coverage_start: dateOf(4), changed: [] });
  expect(await statusOf(rest, next)).toBe(410);
  await publishDays(environment, 5, 6);
  expect(await historyOf(rest)).toEqual({ coverage_start: dateOf(5), changed: [dateOf(6)] });
  expect(await statusOf(rest, next)).toBe(410);
});

test('a prune before each request of a restore takes nothing away from it', async () => {
  const environment = await newEnvironment();
  const { documents } = await readBackup(backup, DOCUMENT_CHECKS);
  let pruned = 0;
  const result = await throughProxy(
    environment,
    async (request) => {
      await prune(environment.store, 1);
      pruned += 1;
      return request.forward();
    },
    ({ store }) => restoreBackup(store, backup, DOCUMENT_CHECKS),
  );
  expect(result).toEqual({ documents, leftOut: [] });
  expect(pruned).toBeGreaterThan(10);
});

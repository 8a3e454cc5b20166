/** @room changes */
import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { changesPage } from '../support/changes.ts';
import { inForm } from '../support/fault-form.ts';
import { type FeedCopy, feedCopy, licensesInIndex } from '../support/feed-copy.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

const ROWS = inForm({ short: 1500, long: 40_000 });
const PAGE = 7;

let environment: TestEnvironment;
let rest: ApiClient;

beforeAll(async () => {
  environment = await testEnvironment({ REST_REQUESTS_PER_MINUTE: '1000000', KEEP_PUBLICATIONS: '4' });
  await startApi(environment.variables);
  rest = await apiClient(environment);
});

/** A day's files: a little more differs from the first day each day. */
async function filesOf(day: number): Promise<DatasetFiles> {
  const share = 0.004 * day;
  return writeSampleData({
    directory: join(environment.folder, `day-${day}`),
    rows: ROWS,
    seed: 7,
    date: `2026-11-${String(day + 1).padStart(2, '0')}`,
    changed: share,
    added: share / 2,
    removed: share / 2,
    renamed: share / 4,
    renumbered: share / 4,
  });
}

async function publishDay(day: number): Promise<{ index: string; publication: string }> {
  const result = await publishFiles(environment, await filesOf(day), { isGuarded: true });
  if (result.state !== 'live') throw new Error(JSON.stringify(result));
  return result;
}

/** A day whose individual file was cut off inside a row. */
async function refusedDay(day: number): Promise<void> {
  const files = await filesOf(day);
  const { length } = await readFile(files.individual);
  await truncate(files.individual, length - 5);
  const result = await publishFiles(environment, files, { isGuarded: true });
  expect(result.state).toBe('refused');
}

/** Follows the feed by small pages until it is told to stop. */
async function follow(copy: FeedCopy, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    await copy.catchUp(rest, PAGE);
    await sleep(20);
  }
}

test(
  `the feed of ten days, with a refused day, a rollback and a way forward, makes the last day of the first (${ROWS} rows)`,
  async () => {
    const first = await publishDay(0);
    const copy = feedCopy(
      await licensesInIndex(environment.store, first.index),
      (await changesPage(rest, { since: 'latest' })).next,
    );
    const end = new AbortController();
    const following = follow(copy, end.signal);
    let last = first;
    for (let day = 1; day <= 3; day += 1) last = await publishDay(day);
    await refusedDay(4);
    const fifth = await publishDay(5);
    await rollBack(environment.store, last.publication);
    await rollBack(environment.store, fifth.publication);
    await rollBack(environment.store, last.publication);
    for (let day = 6; day <= 9; day += 1) last = await publishDay(day);
    end.abort();
    await following;
    await copy.catchUp(rest, PAGE);
    process.stdout.write(`${copy.licenses.size} licenses; applied ${JSON.stringify(copy.applied)}\n`);
    expect(copy.licenses).toEqual(await licensesInIndex(environment.store, last.index));
    expect(Object.keys(copy.applied).toSorted()).toEqual([
      'added data',
      'added rollback',
      'changed data',
      'changed rollback',
      'removed data',
      'removed rollback',
    ]);
  },
  inForm({ short: 120_000, long: 1_200_000 }),
);

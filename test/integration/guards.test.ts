import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { publicationDetails, publicationHistory } from '../../src/publications/history.ts';
import { indicesUnderAlias, licensesIndices } from '../../src/publications/metadata.ts';
import { type Day, licensesOf, writeDay } from '../support/day-files.ts';
import {
  BASE,
  type BasePublication,
  changed,
  doctors,
  indices,
  MEDICAL,
  NURSING,
  nextDay,
  nurses,
  PHARMACY,
  pharmacies,
  publishBase,
  publishForced,
  publishRefused,
  rollBackToBase,
  without,
} from '../support/guarded-days.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

/** Many publications are kept, so that each test can roll back to the base. */
const SETTINGS = { KEEP_PUBLICATIONS: '100' };

let environment: TestEnvironment;
let base: BasePublication;

beforeAll(async () => {
  environment = await testEnvironment(SETTINGS);
  base = await publishBase(environment);
});
beforeEach(() => rollBackToBase(environment, base));

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
      ['duplicates: 1 numbers are duplicated within a board, more than 0'],
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
  ])('refuse files when %s', async (_what, files, starts) => {
    const reasons = await publishRefused(environment, await files());
    expect(reasons).toEqual(starts.map((start) => expect.stringContaining(start)));
  });

  test('let forced files go live, and the ledger has every reason against them', async () => {
    const written = await day('forced', { individual: nurses, business: without(pharmacies, 1) })();
    const reasons = await publishRefused(environment, written);
    expect(reasons).toHaveLength(2);
    await publishForced(environment, written, reasons);
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
    await rollBackToBase(environment, base);
    const reasons = await publishRefused(environment, rolledBack);
    expect(reasons).toEqual([
      `rolled_back: Publication ${first.publication} had the same files and was rolled back.`,
    ]);
    const other = await writeDay(
      environment.folder,
      'corrected',
      nextDay({ date: '2026-11-22', business: changed(pharmacies, 1, { city: 'AKRON' }) }),
    );
    expect(await publishFiles(environment, other, { isGuarded: true })).toMatchObject({ state: 'live' });
    await publishForced(environment, rolledBack, reasons);
  });

  test('leave the counts of refused files by board and status in the ledger', async () => {
    const files = await writeDay(
      environment.folder,
      'counted',
      nextDay({ individual: nurses, date: '2026-11-22' }),
    );
    const result = await publishFiles(environment, files, { isGuarded: true });
    expect((await publicationDetails(environment.store, result.publication)).summary).toMatchObject({
      state: 'refused',
      counts: { rows: 260, licenses: 260, endorsements: 0, rejected: 0 },
      boards: { [NURSING]: 200, [PHARMACY]: 60 },
      statuses: { ACTIVE: 260 },
    });
  });
});

describe('files of a day that has not come yet', () => {
  test('are refused; if forced, they do not keep the next files out', async () => {
    const files = await writeDay(environment.folder, 'future', nextDay({ date: '2062-11-20' }));
    const reasons = await publishRefused(environment, files);
    expect(reasons).toEqual([expect.stringMatching(/^future: The files are of 2062-11-20, but today is 20/)]);
    await publishForced(environment, files, reasons);
    const next = await writeDay(
      environment.folder,
      'after-future',
      nextDay({ business: changed(pharmacies, 1, { city: 'LORAIN' }) }),
    );
    expect(await publishFiles(environment, next, { isGuarded: true })).toMatchObject({ state: 'live' });
  });

  test('are refused as well where the date is given', async () => {
    const files = await writeDay(environment.folder, 'undated', nextDay({ date: '' }));
    const result = await publishFiles(environment, files, { isGuarded: true, date: '2062-11-20' });
    expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(/^future: /)] });
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
        date: '2026-11-22',
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

describe('files that are live already', () => {
  test('are skipped with the id of the live publication, unless forced', async () => {
    const files = await writeDay(environment.folder, 'again', nextDay({ date: '2026-11-23' }));
    const first = await publishFiles(environment, files, { isGuarded: true });
    const before = { live: await indicesUnderAlias(environment.store), indices: await indices(environment) };
    const again = await publishFiles(environment, files, { isGuarded: true });
    expect(again).toEqual({
      state: 'skipped',
      publication: again.publication,
      live: first.publication,
      date: '2026-11-23',
    });
    expect({ live: await indicesUnderAlias(environment.store), indices: await indices(environment) }).toEqual(
      before,
    );
    expect((await publicationDetails(environment.store, again.publication)).summary).toMatchObject({
      state: 'skipped',
      date: '2026-11-23',
      same_as: first.publication,
      reasons: [`Publication ${first.publication} has the same files and is live.`],
    });
    expect((await publicationDetails(environment.store, first.publication)).summary).toMatchObject({
      state: 'live',
    });

    await publishForced(environment, files, []);
    expect((await publicationDetails(environment.store, first.publication)).summary).toMatchObject({
      state: 'superseded',
    });
  });

  test('are loaded again if another version of the service loaded them', async () => {
    const files = await writeDay(environment.folder, 'upgraded', nextDay({ date: '2026-11-24' }));
    const first = await publishFiles(environment, files, { isGuarded: true });
    const live = (await licensesIndices(environment.store)).find(
      ({ metadata }) => metadata.publication === first.publication,
    );
    const body = { _meta: { ...live?.metadata, service_version: '0.0.1' } };
    await environment.client.indices.putMapping({ index: live?.index ?? '', body });
    expect(await publishFiles(environment, files, { isGuarded: true })).toMatchObject({ state: 'live' });
    expect(await publishFiles(environment, files, { isGuarded: true })).toMatchObject({ state: 'skipped' });
  });
});

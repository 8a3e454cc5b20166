import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { publicationDetails, publicationHistory } from '../../src/publications/history.ts';
import { indicesUnderAlias, newId, readMetadata, writeMetadata } from '../../src/publications/metadata.ts';
import { VerificationError } from '../../workers/publish/verify.ts';
import { type Day, licensesOf, textOf, writeDay } from '../support/day-files.ts';
import {
  BASE,
  changed,
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
} from '../support/guarded-days.ts';
import { answer, type ProxyStep } from '../support/proxy.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

// Many publications are kept, so that each test can roll back to the base.
const environment = await testEnvironment({ KEEP_PUBLICATIONS: '100' });
const { client, store } = environment;
const base = await publishBase(environment);
beforeEach(() => rollBackToBase(environment, base));

/** The files of the day after the base, with these changes. */
const day = (changes: Partial<Day> = {}) => writeDay(environment.folder, newId(), nextDay(changes));

/** A day's files with the text of one of them changed. */
async function withText(
  change: (text: string) => string | Buffer,
  file: keyof DatasetFiles = 'individual',
): Promise<DatasetFiles> {
  const files = await day();
  await writeFile(files[file], change(await readFile(files[file], 'utf8')));
  return files;
}

const guarded = (files: DatasetFiles) => publishFiles(environment, files, { isGuarded: true });

/** What is there of publications. */
const state = async () => ({ live: await indicesUnderAlias(store), indices: await indices(environment) });

test('the guards report all that is wrong with the licenses, and if forced, the ledger has it', async () => {
  const individual = [
    ...changed(changed(nurses.slice(0, 146), 2, { expires: '2099-02-30' }), 1, { number: '' }),
    ...changed(licensesOf(MEDICAL, '36.', 2), 2, { board: 'Board of Wizardry' }),
    { board: NURSING, number: 'RN.900100' },
  ];
  const files = await day({ individual, business: changed(pharmacies, 2, { status: 'Hovering' }) });
  const text = await readFile(files.individual, 'utf8');
  await writeFile(files.individual, `${text}"LAST, LOUISE`);
  const reasons = await publishRefused(environment, files);
  expect(reasons).toEqual(
    [
      'truncated: The individual file ends inside a row',
      'fewer_rows: 206 rows give a license, the live publication has 320',
      'fewer_rows_at_board: Nursing Board has 144 licenses, in the live publication 200',
      'fewer_rows_at_board: Medical Board has 0 licenses, in the live publication 60',
      'rejected: 4 of 210 rows were rejected',
      'duplicates: 1 numbers are duplicated within a board',
      'unknown_labels: 4 of 210 rows have a board or status that is not in the catalog',
    ].map((start) => expect.stringContaining(start)),
  );
  const [latest] = (await publicationHistory(store)).publications;
  expect(latest).toMatchObject({
    ...{ state: 'refused', counts: { rows: 210, endorsements: 0 } },
    boards: { [NURSING]: 144, [PHARMACY]: 60, 'Board of Wizardry': 2 },
  });
  await publishForced(environment, files, reasons);
});

test('the guards do not compare with generated data, and say so', async () => {
  const own = await testEnvironment();
  const sample = { directory: join(own.folder, 'sample'), rows: 1000, seed: 1, date: '2026-11-22' };
  await publishFiles(own, await writeSampleData(sample));
  const notes = ['Sample data was live, so no guard compared this publication with it.'];
  expect(await publishBase(own)).toMatchObject({ state: 'live', notes });
});

test('the guards do not refuse a column that only the other file had before, nor places that come back', async () => {
  const change = async (file: string, by: (text: string) => string) =>
    writeFile(file, by(await readFile(file, 'utf8')));
  const withTelephone = (text: string) => text.replaceAll('\n', ',"1"\n').replace(',"1"\n', ',TELEPHONE\n');
  const first = await day({ date: '2026-11-22' });
  await change(first.individual, withTelephone);
  await change(first.business, (text) => text.replace('PARCEL_CITY', 'PARCEL_TOWN'));
  const notes = ['The column PARCEL_CITY is gone: the State may withhold it.'];
  expect(await guarded(first)).toMatchObject({ state: 'live', notes });
  const second = await day({ date: '2026-11-23' });
  for (const file of [second.individual, second.business]) await change(file, withTelephone);
  expect(await guarded(second)).toMatchObject({ state: 'live' });
});

test('the guards do not refuse one number at two boards: both licenses are live', async () => {
  const files = await day({ individual: [...BASE.individual, { board: MEDICAL, number: 'RN.900001' }] });
  const result = await guarded(files);
  expect(result).toMatchObject({ state: 'live', licenses: 321, rejected: 0 });
  const [index = ''] = await indicesUnderAlias(store);
  const query = { term: { 'keys.number': 'RN900001' } };
  expect((await client.count({ index, body: { query } })).body.count).toBe(2);
});

describe('discipline', () => {
  const DISCIPLINE = {
    ...{ board_actions: 20, sub_statuses: { SUSPENDED: 12, REVOKED: 3 } },
    ...{ boards: { [NURSING]: 20 }, missing_columns: [] },
  };
  const withoutActions = () =>
    day({ individual: changed(BASE.individual, BASE.individual.length, { boardAction: 'No' }) });

  test.each(['BOARD_ACTION', 'SUB_STATUS'])('files without the column %s are refused', async (column) => {
    const files = await withText((text) => text.replace(column, `${column}_OR_NOT`));
    expect(await publishRefused(environment, files)).toEqual([
      `column_gone: The individual file has no column ${column} any more.`,
    ]);
  });

  test('is counted in the ledger and in the index, live or refused', async () => {
    expect(await readMetadata(store, base.index)).toMatchObject({ discipline: DISCIPLINE });
    const live = await publicationDetails(store, base.publication);
    expect(live.summary).toMatchObject({ discipline: DISCIPLINE });
    expect(live.events.find(({ event }) => event === 'live')).toMatchObject({ discipline: DISCIPLINE });
    const { publication } = await guarded(await withoutActions());
    const refused = await publicationDetails(store, publication);
    expect(refused.summary).toMatchObject({
      state: 'refused',
      discipline: { ...DISCIPLINE, board_actions: 0, boards: { [NURSING]: 15 } },
    });
  });

  test('the first files say which column they do not have, and the next ones may lack it', async () => {
    const own = await testEnvironment();
    for (const city of ['LIMA', 'AKRON']) {
      const files = await withText((text) => text.replace('BOARD_ACTION', 'MOOD').replace('LIMA', city));
      expect(await publishFiles(own, files, { isGuarded: true })).toMatchObject({
        ...{ state: 'live', notes: ['The column individual.BOARD_ACTION is missing.'] },
      });
    }
  });

  test('that version 0.2.0 did not count is compared license by license', async () => {
    const whole = await readMetadata(store, base.index);
    const { discipline: _none, ...metadata } = whole;
    await writeMetadata(client, base.index, metadata);
    expect(await publishRefused(environment, await withoutActions())).toEqual([
      expect.stringMatching(/^status_improved: 20 of 20 licenses .* with a Board Action of Yes/),
    ]);
    await writeMetadata(client, base.index, whole);
  });
});

test('files that are live already are skipped, unless another version of the service loaded them', async () => {
  const files = await day({ date: '2026-11-23' });
  const { publication: live } = await guarded(files);
  const before = await state();
  const again = await guarded(files);
  const { publication } = again;
  expect(again).toEqual({ state: 'skipped', publication, live, date: '2026-11-23' });
  expect(await state()).toEqual(before);
  expect((await publicationDetails(store, publication)).summary).toMatchObject({
    ...{ state: 'skipped', date: '2026-11-23', same_as: live },
    reasons: [`Publication ${live} has the same files and is live.`],
  });

  // Their individual file alone is the same.
  const moved = changed(pharmacies, 1, { city: 'DAYTON' });
  expect(await guarded(await day({ date: '2026-11-23', business: moved }))).toMatchObject({ state: 'live' });
  const [index = ''] = before.live;
  await rollBackToBase(environment, { index, publication: live });
  const _meta = { ...(await readMetadata(store, index)), service_version: '0.0.1' };
  await client.indices.putMapping({ index, body: { _meta } });
  expect(await guarded(files)).toMatchObject({ state: 'live' });
  expect((await publicationDetails(store, live)).summary.state).toBe('superseded');
});

describe('even with force, nothing goes live from', () => {
  const arranged = async (arrange: (files: DatasetFiles) => DatasetFiles) => arrange(await day());
  const swapped = ({ individual, business }: DatasetFiles) => ({
    individual: business,
    business: individual,
  });
  const twice = ({ individual }: DatasetFiles) => ({ individual, business: individual });
  const withMood = (text: string) => text.replace(',STATUS,', ',STATE_OF_MIND,');
  const withCell = (text: string) => text.replaceAll(/"\n/g, '",\n');
  const cutOff = (text: string) => gzipSync(text).subarray(0, -20);

  const NO_STATUS = /^columns: The individual file lacks STATUS\.$/;
  const NO_ROWS = /^no_rows: The business file \(business-/;
  const TOO_LONG =
    /^columns: No row of the individual file \(\S+\) can be read: the first has 11 fields, not 10\.$/;
  const SWAPPED = /^columns: .*are the two files swapped\?$/;
  const THE_SAME = /^columns: The individual file \S+ and the business file \S+ are the same\.$/;
  const CUT_OFF = /^truncated: \S+\.csv can't be read as/;

  test.each<[string, () => Promise<DatasetFiles>, RegExp]>([
    ['files without a required column', () => withText(withMood), NO_STATUS],
    ['a file without rows', () => withText((text) => text.replace(/\n.*/s, '\n'), 'business'), NO_ROWS],
    ['a file that is empty', () => withText(() => ''), /^no_rows: The individual file/],
    ['rows that all have a cell more than the header', () => withText(withCell), TOO_LONG],
    ['swapped files', () => arranged(swapped), SWAPPED],
    ['the same file twice', () => arranged(twice), THE_SAME],
    ['a gzip file that is cut off', () => withText(cutOff), CUT_OFF],
  ])('%s', async (_what, files, reason) => {
    const before = await state();
    const result = await publishFiles(environment, await files());
    expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(reason)] });
    const { summary } = await publicationDetails(store, result.publication);
    expect([summary.state, await state()]).toEqual(['refused', before]);
  });

  test('files that changed after they were submitted', async () => {
    const files = await day();
    const result = await publishFiles(environment, files, {
      onProgress: ({ step }) => {
        if (step === 'reading') writeFileSync(files.business, textOf(BASE, 'business'));
      },
    });
    const reason = /^changed: business-\S+ changed after the publication was asked for\.$/;
    expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(reason)] });
    expect(await state()).toMatchObject({ live: [base.index] });
  });

  const ONE_LESS = 'The index has 319 licenses, but 320 were sent.';
  const AT_OTHER_BOARD = 'The index has 199 licenses of Nursing Board, but 200 were sent.';
  const LOST = { id: 'NUR/RN.900007' };
  const remove = (index: string) => client.delete({ index, ...LOST });
  const move = (index: string) => client.update({ index, ...LOST, body: { doc: { board: MEDICAL } } });
  const change = async (index: string) => {
    await client.indices.refresh({ index });
    const script = { source: "ctx._source.city = 'AKRON'" };
    const body = { query: { term: { board: PHARMACY } }, script };
    await client.updateByQuery({ index, body });
  };

  test.each<[string, '_flush' | '_refresh', (index: string) => Promise<unknown>, string]>([
    ['lacks a license', '_refresh', remove, ONE_LESS],
    ['lost a license before it was on disk, as in a crash', '_flush', remove, ONE_LESS],
    ['has a license at another board', '_refresh', move, AT_OTHER_BOARD],
    ['has other values for all of a board', '_refresh', change, 'reads back otherwise than it was sent.'],
  ])('an index that %s', async (_what, request, disturb, message) => {
    const before = await state();
    const pattern = new RegExp(`^/([^/]*licenses-[^/]+)/${request}`);
    const files = await day();
    let isDone = false;
    const failure = await publishFiles(environment, files, {
      through: async (asked) => {
        const [, index] = pattern.exec(asked.path) ?? [];
        if (index !== undefined && !isDone) {
          isDone = true;
          await disturb(index);
        }
        return asked.forward();
      },
    }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(VerificationError);
    expect(failure).toMatchObject({ message: expect.stringContaining(message) });
    expect(await state()).toEqual(before);
  });

  test('an attempt that is aborted', async () => {
    const before = await state();
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error('stopped by the test'));
    const aborted = publishFiles(environment, await day(), { signal: stop.signal, onProgress });
    await expect(aborted).rejects.toThrow('stopped by the test');
    expect(await state()).toEqual(before);
  });
});

test('a file that has everything twice is refused before it is read to its end', async () => {
  const files = await withText((text) => {
    const [header = '', row = ''] = text.split('\n');
    return `${header}\n${`${row}\n`.repeat(60_000)}`;
  });
  const [reason = '', ...others] = await publishRefused(environment, files);
  const [, duplicates] = /^duplicates: (\d+) numbers are duplicated/.exec(reason) ?? [];
  expect([others, Number(duplicates) < 40_000]).toEqual([[], true]);
});

describe('a publication fails before it loads, and says so,', () => {
  // What OpenSearch 3.8 answered on a disk of which 7 % was free.
  const error = {
    type: 'index_create_block_exception',
    reason: 'blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];',
  };
  const blocked = JSON.stringify({ error: { root_cause: [error], ...error }, status: 403 });
  const disk = JSON.stringify([{ 'disk.total': '100000000000', 'disk.avail': '10000001000' }]);
  const NO_INDEX =
    /^OpenSearch refuses to create an index, as it does when less than 10 % of its disk is free\.$/;
  const TOO_LITTLE = /^OpenSearch has 0 MB of disk left for a publication, which takes about 0 MB\./;

  test.each<[string, asked: RegExp, answered: ProxyStep, RegExp]>([
    ['creates no index', /^PUT \/[^/]*licenses-[^/]+$/, answer(403, blocked), NO_INDEX],
    ['has too little disk left', / \/_cat\/allocation/, answer(200, disk), TOO_LITTLE],
  ])('when OpenSearch %s', async (_when, asked, answered, message) => {
    const before = await state();
    const publishing = publishFiles(environment, await day(), {
      through: (request) =>
        asked.test(`${request.method} ${request.path}`) ? answered(request) : request.forward(),
    });
    await expect(publishing).rejects.toThrow(message);
    expect(await state()).toEqual(before);
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { readMetadata, writeMetadata } from '../../src/publications/metadata.ts';
import { type Day, type DayRow, licensesOf, writeDay } from '../support/day-files.ts';
import {
  type BasePublication,
  NURSING,
  nextDay,
  publishRefused,
  rollBackToBase,
} from '../support/guarded-days.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

/** 20 licenses with Board Action Yes, 15 of them with a disciplinary sub-status, and 80 without either. */
const nurses: readonly DayRow[] = licensesOf(NURSING, 'RN.', 100).map((row, at) => {
  if (at >= 20) return row;
  const subStatus = at < 12 ? 'Suspended' : at < 15 ? 'Revoked' : '';
  return { ...row, boardAction: 'Yes', subStatus };
});

const BASE_DAY: Day = {
  date: '2026-11-20',
  individual: nurses,
  business: [{ board: NURSING, number: 'B.1' }],
};

let environment: TestEnvironment;
let base: BasePublication;
let days = 0;

beforeAll(async () => {
  environment = await testEnvironment({ KEEP_PUBLICATIONS: '100', GUARD_MAX_CHANGED_PERCENT: '100' });
  const files = await writeDay(environment.folder, 'base', BASE_DAY);
  const result = await publishFiles(environment, files, { isGuarded: true });
  if (result.state !== 'live') throw new Error(`The base is ${result.state}.`);
  base = result;
});
beforeEach(() => rollBackToBase(environment, base));

/** The next day's files, with each of these rows changed. */
async function withRows(change: (row: DayRow, at: number) => Partial<DayRow>): Promise<DatasetFiles> {
  days += 1;
  const individual = nurses.map((row, at) => ({ ...row, ...change(row, at) }));
  // No two days are the same, since files that were rolled back are refused.
  const business = [{ board: NURSING, number: `B.${days}` }];
  return writeDay(environment.folder, `day-${days}`, nextDay({ individual, business }));
}

/** The next day's files, with the text of the individual file changed. */
async function withText(change: (text: string) => string): Promise<DatasetFiles> {
  const files = await withRows(() => ({}));
  await writeFile(files.individual, change(await readFile(files.individual, 'utf8')));
  return files;
}

test.each(['BOARD_ACTION', 'SUB_STATUS'])('files without the column %s are refused', async (column) => {
  const files = await withText((text) => text.replace(column, `${column}_OR_NOT`));
  expect(await publishRefused(environment, files)).toEqual([
    `column_gone: The individual file has no column ${column} any more.`,
  ]);
});

test('the counts are in the ledger and in the index, live or refused', async () => {
  const discipline = {
    board_actions: 20,
    sub_statuses: { SUSPENDED: 12, REVOKED: 3 },
    boards: { [NURSING]: 20 },
    missing_columns: [],
  };
  expect((await readMetadata(environment.store, base.index)).discipline).toEqual(discipline);
  const live = await publicationDetails(environment.store, base.publication);
  expect(live.summary).toMatchObject({ discipline });
  expect(live.events.find(({ event }) => event === 'live')).toMatchObject({ discipline });
  const files = await withRows(() => ({ boardAction: 'No' }));
  const { publication } = await publishFiles(environment, files, { isGuarded: true });
  const refused = await publicationDetails(environment.store, publication);
  expect(refused.summary).toMatchObject({
    state: 'refused',
    discipline: { ...discipline, board_actions: 0, boards: { [NURSING]: 15 } },
  });
});

test('the first files say which column they do not have, and the next ones may lack it', async () => {
  const own = await testEnvironment({
    GUARD_MAX_CHANGED_PERCENT: '100',
    GUARD_MAX_COLUMN_CHANGED_PERCENT: '100',
  });
  try {
    const missing = ['The column individual.BOARD_ACTION is missing.'];
    const rename = (text: string) => text.replace('BOARD_ACTION', 'MOOD');
    const first = await publishFiles(own, await withText(rename), { isGuarded: true });
    expect(first).toMatchObject({ state: 'live', notes: missing });
    const next = await publishFiles(own, await withText((text) => rename(text).replaceAll('LIMA', 'AKRON')), {
      isGuarded: true,
    });
    expect(next).toMatchObject({ state: 'live', notes: missing });
  } finally {
    await own.cleanUp();
  }
});

test('where the live publication has no counts of discipline, as of version 0.2.0, licenses are compared one by one', async () => {
  const { discipline: _none, ...metadata } = await readMetadata(environment.store, base.index);
  await writeMetadata(environment.client, base.index, metadata);
  const withoutActions = await withRows(() => ({ boardAction: 'No' }));
  expect(await publishFiles(environment, withoutActions, { isGuarded: true })).toMatchObject({
    state: 'refused',
    reasons: [expect.stringMatching(/^status_improved: 20 of 20 licenses .* with a Board Action of Yes/)],
  });
  await writeMetadata(environment.client, base.index, {
    ...metadata,
    discipline: {
      board_actions: 20,
      sub_statuses: { SUSPENDED: 12, REVOKED: 3 },
      boards: { [NURSING]: 20 },
      missing_columns: [],
    },
  });
});

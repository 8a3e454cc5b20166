import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
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

const isYes = ({ boardAction }: DayRow) => boardAction === 'Yes';

describe('the guards refuse files', () => {
  test.each<[string, () => Promise<DatasetFiles>, string[]]>([
    [
      'that write Y for Yes',
      () => withRows((row) => (isYes(row) ? { boardAction: 'Y' } : {})),
      [
        'unknown_board_actions: 20 licenses have a Board Action other than Yes, No and blank, 0 have Yes',
        'fewer_board_actions: 0 licenses have Board Action Yes, in the live publication 20',
      ],
    ],
    [
      'that write No for Yes',
      () => withRows(() => ({ boardAction: 'No' })),
      ['fewer_board_actions: 0 licenses have Board Action Yes, in the live publication 20'],
    ],
    [
      'without Board Actions in a quarter of the licenses that had it',
      () => withRows((_row, at) => ({ ...(at >= 15 && { boardAction: '' }) })),
      ['fewer_board_actions: 15 licenses have Board Action Yes, in the live publication 20'],
    ],
    [
      'with blank sub-statuses',
      () => withRows(() => ({ subStatus: '' })),
      [
        'fewer_disciplined: 0 licenses have a disciplinary sub-status, in the live publication 15',
        'fewer_disciplined: 0 licenses have the sub-status SUSPENDED, in the live publication 12',
      ],
    ],
    [
      'with sub-statuses that nobody knows',
      () => withRows(({ subStatus = '' }) => ({ subStatus: subStatus.replace('Suspended', 'Susp.') })),
      [
        'fewer_disciplined: 3 licenses have a disciplinary sub-status, in the live publication 15',
        'fewer_disciplined: 0 licenses have the sub-status SUSPENDED, in the live publication 12',
      ],
    ],
    [
      'without the column BOARD_ACTION',
      () => withText((text) => text.replace('BOARD_ACTION', 'BOARD_ACTIONS')),
      ['column_gone: The individual file has no column BOARD_ACTION any more.'],
    ],
    [
      'without the column SUB_STATUS',
      () => withText((text) => text.replace('SUB_STATUS', 'SUBSTATUS')),
      ['column_gone: The individual file has no column SUB_STATUS any more.'],
    ],
    [
      'whose disciplined licenses are rejected, where that is allowed',
      async () => withRows((row) => (isYes(row) ? { expires: 'never' } : {})),
      [
        'fewer_rows: ',
        'rejected: ',
        'fewer_board_actions: 0 licenses',
        'fewer_disciplined: 0 licenses have a disciplinary',
        'fewer_disciplined: 0 licenses have the sub-status SUSPENDED',
        'fewer_disciplined: 0 licenses of the board "Nursing Board" tell of discipline',
      ],
    ],
  ])('%s', async (_what, files, starts) => {
    const reasons = await publishRefused(environment, await files());
    expect(reasons).toEqual(starts.map((start) => expect.stringContaining(start)));
  });
});

test.each<[string, () => Promise<DatasetFiles>]>([
  [
    'in capitals, or small letters, and with blanks around',
    () =>
      withRows((row, at) =>
        isYes(row)
          ? { boardAction: at % 2 ? 'YES ' : ' yes', subStatus: row.subStatus?.toUpperCase() ?? '' }
          : {},
      ),
  ],
  [
    'of another sub-status',
    () => withRows(({ subStatus }) => (subStatus === 'Revoked' ? { subStatus: 'Probation' } : {})),
  ],
  [
    'of two licenses fewer',
    () => withRows((_row, at) => (at < 2 ? { boardAction: 'No', subStatus: '' } : {})),
  ],
])('the guards do not refuse discipline %s', async (_what, files) => {
  expect(await publishFiles(environment, await files(), { isGuarded: true })).toMatchObject({
    state: 'live',
  });
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

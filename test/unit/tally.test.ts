import { expect, test } from '@jest/globals';
import { digestEntries, recordHash } from '../../src/changes/digest.ts';
import type { UnknownLabel } from '../../src/dataset/row-to-licenses.ts';
import { licenseDocument, recordText } from '../../src/licenses/license.ts';
import { type ParsedLicense, Tally } from '../../workers/publish/tally.ts';
import { nurseRecord } from '../support/records.ts';

const NURSING = 'Nursing Board';
const DENTAL = 'Dental Board';

const NO_FIELDS = { board: NURSING, place: 0, subStatus: '', boardAction: '', text: '' };

function license(line: number, fields: Partial<typeof NO_FIELDS> = {}): ParsedLicense {
  const { board, place, subStatus, boardAction, text } = { ...NO_FIELDS, ...fields };
  const id = `${board}/${line}.${place}`;
  const source_row = `individual:${line}:${place}`;
  const raw_status = subStatus === '' ? 'Active' : `Active - ${subStatus}`;
  const record = nurseRecord({ board, raw_status, extra_data: { 'Board Action': boardAction } });
  const digest = { id, record: recordHash(recordText(record)), row: line };
  return {
    ...{ id, license: licenseDocument(record, 'person', source_row), digest },
    row: { line, raw: String(line) },
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n${JSON.stringify({ ...record, text, source_row })}\n`,
  };
}

function note(tally: Tally, ...licenses: readonly ParsedLicense[]): void {
  for (const each of licenses) tally.noteSent(each);
}

function noteUnknownOf(tally: Tally, ...kinds: readonly (readonly [UnknownLabel['kind'], string])[]): void {
  tally.noteUnknown(
    kinds.map(([kind, label]) => ({ kind, label })),
    NURSING,
  );
}

/** The lines of a board's sampled documents. */
const sampled = ({ boards }: Tally, board = NURSING) =>
  (boards.get(board)?.sample ?? []).map(({ sourceRow }) => Number(sourceRow.split(':')[1]));

test('the tally of licenses that were sent to OpenSearch samples 20 licenses of each board from the whole file, all of a smaller board, none that is very long', () => {
  const tally = new Tally();
  note(tally, ...Array.from({ length: 2000 }, (_, line) => license(line)));
  note(tally, license(9000, { board: DENTAL }), license(9001, { board: DENTAL, text: 'x'.repeat(50_000) }));
  const lines = sampled(tally);
  expect(new Set(lines).size).toBe(20);
  // By chance alone all 20 would be of one half once in half a million runs.
  expect([lines.some((line) => line < 1000), lines.some((line) => line >= 1000)]).toEqual([true, true]);
  expect(sampled(tally, DENTAL)).toEqual([9000]);
  expect(tally.summary().boards).toEqual({ [NURSING]: 2000, [DENTAL]: 2 });
});

test('the tally of licenses that were sent to OpenSearch refuses a file with more than 100 labels in BOARD', () => {
  const tally = new Tally();
  for (let at = 0; at < 100; at += 1) note(tally, license(at, { board: `Board ${at}` }));
  note(tally, license(102, { board: 'Board 0' }));
  expect(() => note(tally, license(103, { board: 'One more' }))).toThrow(
    'boards: BOARD has more than 100 labels',
  );
});

test('the tally of licenses that were sent to OpenSearch counts discipline, and takes out what OpenSearch did not accept', () => {
  const tally = new Tally();
  tally.missingColumns = ['business.BOARD_ACTION'];
  const suspended = license(2, { boardAction: 'YES', subStatus: 'SUSPENDED' });
  const endorsement = license(2, { place: 1 });
  note(tally, suspended, endorsement, license(3, { subStatus: 'Suspended' }));
  note(
    tally,
    license(4, { board: DENTAL, boardAction: 'Yes' }),
    license(5, { boardAction: 'Y', subStatus: 'Susp.' }),
  );
  expect(tally.summary()).toMatchObject({
    counts: { licenses: 4, endorsements: 1 },
    boards: { [NURSING]: 4, [DENTAL]: 1 },
    discipline: {
      ...{ board_actions: 2, sub_statuses: { SUSPENDED: 2 }, missing_columns: ['business.BOARD_ACTION'] },
      boards: { [NURSING]: 2, [DENTAL]: 1 },
    },
  });
  tally.noteRefused({ ...suspended, isDuplicate: false });
  tally.noteRefused({ ...endorsement, isDuplicate: true });
  expect(tally.summary()).toMatchObject({
    counts: { licenses: 3, endorsements: 0 },
    boards: { [NURSING]: 2, [DENTAL]: 1 },
    discipline: { board_actions: 1, sub_statuses: { SUSPENDED: 1 }, boards: { [NURSING]: 1, [DENTAL]: 1 } },
  });
  expect([tally.duplicates, sampled(tally)]).toEqual([1, [3, 5]]);
  note(tally, license(6, { board: 'Medical Board' }));
  expect(Object.keys(tally.summary().discipline.boards)).toEqual([NURSING, DENTAL]);
});

test('the tally of licenses that were sent to OpenSearch counts licenses by primary status: 50 of up to 100 characters, and further ones together', () => {
  const tally = new Tally();
  const stated = (line: number, status: string | null) => {
    const each = license(line);
    return { ...each, license: { ...each.license, status } };
  };
  const [refused, long] = [stated(2, 'ACTIVE'), stated(4, 'x'.repeat(200))];
  note(tally, refused, stated(3, 'ACTIVE'), long, stated(5, null));
  for (let at = 0; at < 60; at += 1) note(tally, stated(6 + at, `STATUS ${at}`));
  tally.noteRefused({ ...refused, isDuplicate: true });
  const { statuses } = tally.summary();
  expect(Object.keys(statuses)).toHaveLength(51);
  const some = { ACTIVE: 1, ['x'.repeat(100)]: 1, '': 1, 'STATUS 46': 1, 'further statuses': 13 };
  expect(statuses).toMatchObject(some);
});

test('the tally of licenses that were sent to OpenSearch refuses more than 200,000 licenses that OpenSearch refused', () => {
  const tally = new Tally();
  const each = license(2);
  const refuse = (id: number) => tally.noteRefused({ ...each, id: String(id), isDuplicate: true });
  for (let id = 0; id < 200_000; id += 1) refuse(id);
  expect(() => refuse(200_000)).toThrow('duplicates: More than 200000 licenses were refused');
});

test('the tally of licenses that were sent to OpenSearch has, of a duplicate number, the first row of it in the sample and in the digest', () => {
  const tally = new Tally();
  const [first, { id: _, ...other }] = [license(2), license(3, { subStatus: 'Suspended' })];
  const second = { ...other, id: first.id, digest: { ...other.digest, id: first.id } };
  note(tally, first, second);
  tally.noteRefused({ ...second, isDuplicate: true });
  expect(sampled(tally)).toEqual([2]);
  tally.digest.remove(tally.refused);
  expect([...tally.digest.parts()].flatMap((part) => [...digestEntries(part)])).toEqual([first.digest]);
});

test('the tally of licenses that were sent to OpenSearch gives a summary of less than 150 KB, whatever is in the file', () => {
  const tally = new Tally();
  for (let at = 0; at < 60_000; at += 1) {
    const label = `${at} ${'\u6f22'.repeat(3900)}`;
    if (at < 99) note(tally, license(at, { board: `${at} ${'x'.repeat(190)}` }));
    for (const kind of ['board', 'license type', 'status', 'sub-status'] as const)
      noteUnknownOf(tally, [kind, label]);
  }
  expect(Buffer.byteLength(JSON.stringify(tally.summary()))).toBeLessThan(150_000);
});

test('unknown labels of boards and statuses, and board actions, count for the guards', () => {
  const tally = new Tally();
  for (const kind of ['board', 'status', 'sub-status', 'license type', 'board action'] as const)
    tally.noteUnknown([{ kind, label: 'Unheard of' }], NURSING);
  expect(tally).toMatchObject({ unknownRows: 2, unknownBoardActions: 1 });
});

test('unknown labels are listed by kind, with the number of rows: 200 of up to 100 characters each', () => {
  const tally = new Tally();
  const wizardry = ['board', 'Board of Wizardry'] as const;
  noteUnknownOf(tally, wizardry, ['status', 'Hovering'], wizardry);
  noteUnknownOf(tally, wizardry);
  expect(tally.unknownRows).toBe(2);
  expect(Object.fromEntries(tally.unknownLabels)).toEqual({
    'board: Board of Wizardry': 2,
    'status: Hovering': 1,
  });
  for (let at = 0; at < 300; at += 1) noteUnknownOf(tally, ['status', `${at} ${'x'.repeat(500)}`]);
  noteUnknownOf(tally, ['status', `0 ${'x'.repeat(500)}`]);
  expect(tally.unknownLabels.size).toBe(200);
  expect([tally.unknownLabels.get(`status: 0 ${'x'.repeat(98)}`), tally.unknownRows]).toEqual([2, 303]);
});

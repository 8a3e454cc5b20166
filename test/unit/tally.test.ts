import { describe, expect, test } from '@jest/globals';
import type { Discipline } from '../../src/licenses/standing.ts';
import type { BulkOperation } from '../../workers/publish/parse.ts';
import { RefusedError } from '../../workers/publish/run.ts';
import {
  newTally,
  noteRefused,
  noteSent,
  noteUnknown,
  type Tally,
  tallySummary,
} from '../../workers/publish/tally.ts';

const NURSING = 'Nursing Board';

/** What is special about a license. */
interface Operation {
  board: string;
  status: string;
  place: number;
  discipline: Discipline;
  text: string;
}

function operation(
  line: number,
  { board = NURSING, status = 'ACTIVE', place = 0, discipline, text = '' }: Partial<Operation> = {},
): BulkOperation {
  const id = `${board}/${line}.${place}`;
  return {
    document: {
      id,
      type: null,
      board,
      status,
      discipline,
      sourceRow: `individual:${line}:${place}`,
      file: 'individual',
      row: { line, raw: String(line) },
    },
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n{${text}}\n`,
  };
}

/** A tally of so many licenses of one board. */
function sent(count: number): { tally: Tally; operations: BulkOperation[] } {
  const tally = newTally();
  const operations = Array.from({ length: count }, (_, at) => operation(at + 2));
  for (const each of operations) noteSent(tally, each);
  tally.counts.licenses = count;
  return { tally, operations };
}

describe('the tally of licenses that were sent to OpenSearch', () => {
  test('counts them by board and by status', () => {
    const tally = newTally();
    noteSent(tally, operation(2));
    noteSent(tally, operation(3, { status: 'INACTIVE' }));
    noteSent(tally, operation(4, { board: 'Dental Board', status: '' }));
    expect(Object.fromEntries(tally.boards)).toEqual({ [NURSING]: 2, 'Dental Board': 1 });
    expect(Object.fromEntries(tally.statuses)).toEqual({ ACTIVE: 1, INACTIVE: 1, '': 1 });
  });

  test('samples all licenses of a board with at most 20', () => {
    const { tally, operations } = sent(20);
    const ids = operations.map(({ document }) => document.id);
    expect(tally.samples.get(NURSING)?.map(({ id }) => id)).toEqual(ids);
  });

  test('samples 20 licenses of each board, from the whole file', () => {
    const { tally } = sent(2000);
    noteSent(tally, operation(9000, { board: 'Dental Board' }));
    const lines = (tally.samples.get(NURSING) ?? []).map(({ sourceRow }) => Number(sourceRow.split(':')[1]));
    expect(new Set(lines).size).toBe(20);
    expect(tally.samples.get('Dental Board')).toHaveLength(1);
    // By chance alone all 20 would be of one half once in half a million runs.
    expect(lines.some((line) => line < 1002)).toBe(true);
    expect(lines.some((line) => line >= 1002)).toBe(true);
  });

  test('refuses a file with more than 100 labels in BOARD', () => {
    const tally = newTally();
    for (let at = 0; at < 100; at += 1) noteSent(tally, operation(at + 2, { board: `Board ${at}` }));
    expect(() => noteSent(tally, operation(102, { board: 'Board 0' }))).not.toThrow();
    expect(() => noteSent(tally, operation(103, { board: 'One more' }))).toThrow(RefusedError);
    expect(() => noteSent(tally, operation(103, { board: 'Another' }))).toThrow(
      'boards: BOARD has more than 100 labels',
    );
  });
});

describe('a license that OpenSearch did not accept', () => {
  test('is taken out of the counts and the sample', () => {
    const { tally, operations } = sent(3);
    const [, second] = operations;
    if (second === undefined) throw new Error('There are three.');
    noteRefused(tally, { document: second.document, reason: 'by the test', isDuplicate: false });
    expect(tally).toMatchObject({ counts: { licenses: 2, endorsements: 0 }, duplicates: 0 });
    expect(tally.boards.get(NURSING)).toBe(2);
    expect(tally.statuses.get('ACTIVE')).toBe(2);
    expect(tally.samples.get(NURSING)?.map(({ sourceRow }) => sourceRow)).toEqual([
      'individual:2:0',
      'individual:4:0',
    ]);
  });

  test('because of a duplicate number leaves the first row of the number in the sample', () => {
    const tally = newTally();
    const [first, second] = [operation(2), operation(3)];
    const duplicate = { ...second, document: { ...second.document, id: first.document.id } };
    noteSent(tally, first);
    noteSent(tally, duplicate);
    noteRefused(tally, { document: duplicate.document, reason: 'by the test', isDuplicate: true });
    expect(tally.duplicates).toBe(1);
    expect(tally.samples.get(NURSING)).toEqual([
      { id: first.document.id, sourceRow: 'individual:2:0', body: first.body },
    ]);
  });

  test('is taken out of the endorsements if it is one', () => {
    const { tally } = sent(1);
    const endorsement = operation(2, { place: 1 });
    tally.counts.endorsements = 1;
    noteSent(tally, endorsement);
    noteRefused(tally, { document: endorsement.document, reason: 'by the test', isDuplicate: true });
    expect(tally.counts).toMatchObject({ licenses: 1, endorsements: 0 });
  });
});

describe('statuses with free text', () => {
  test('are counted for 50 texts of up to 100 characters, the others together, and taken out of the same count', () => {
    const tally = newTally();
    const operations = Array.from({ length: 60_000 }, (_, at) =>
      operation(at + 2, { status: `${at} ${'x'.repeat(500)}` }),
    );
    for (const each of operations) noteSent(tally, each);
    expect(tally.statuses.size).toBe(51);
    expect([...tally.statuses][0]).toEqual([`0 ${'x'.repeat(98)}`, 1]);
    expect(tally.statuses.get('further statuses')).toBe(59_950);
    for (const { document } of operations) noteRefused(tally, { document, reason: '', isDuplicate: false });
    expect(new Set(tally.statuses.values())).toEqual(new Set([0]));
  });

  test('and all other labels give a summary of less than 150 KB', () => {
    const tally = newTally();
    for (let at = 0; at < 60_000; at += 1) {
      const label = `${at} ${'\u6f22'.repeat(3900)}`;
      noteSent(tally, operation(at + 2, { status: label, board: `${at % 100} ${'x'.repeat(190)}` }));
      for (const kind of ['board', 'license type', 'status', 'sub-status', 'board action'] as const)
        noteUnknown(tally, [{ kind, label }], NURSING);
    }
    expect(Buffer.byteLength(JSON.stringify(tallySummary(tally)))).toBeLessThan(150_000);
  });
});

describe('a license with a very long document', () => {
  test('is counted but not sampled', () => {
    const tally = newTally();
    noteSent(tally, operation(2, { text: 'x'.repeat(50_000) }));
    noteSent(tally, operation(3));
    expect(tally.boards.get(NURSING)).toBe(2);
    expect(tally.samples.get(NURSING)).toHaveLength(1);
  });
});

describe('licenses with discipline', () => {
  test('are counted by kind and by board, and taken out again', () => {
    const tally = newTally(['business.BOARD_ACTION']);
    const suspended = operation(2, { discipline: { hasBoardAction: true, subStatus: 'SUSPENDED' } });
    noteSent(tally, suspended);
    noteSent(tally, operation(3, { discipline: { hasBoardAction: false, subStatus: 'SUSPENDED' } }));
    noteSent(
      tally,
      operation(4, { discipline: { hasBoardAction: true, subStatus: '' }, board: 'Dental Board' }),
    );
    noteSent(tally, operation(5));
    expect(tallySummary(tally).discipline).toEqual({
      board_actions: 2,
      sub_statuses: { SUSPENDED: 2 },
      boards: { [NURSING]: 2, 'Dental Board': 1 },
      missing_columns: ['business.BOARD_ACTION'],
    });
    noteRefused(tally, { document: suspended.document, reason: 'by the test', isDuplicate: false });
    expect(tallySummary(tally).discipline).toMatchObject({
      board_actions: 1,
      sub_statuses: { SUSPENDED: 1 },
    });
  });
});

/** The unknown labels that are listed. */
function told({ unknownLabels }: Tally): Record<string, number> {
  return Object.fromEntries(unknownLabels);
}

describe('unknown labels', () => {
  test('of Board Action are counted for their guard', () => {
    const tally = newTally();
    noteUnknown(
      tally,
      [
        { kind: 'board action', label: 'Y' },
        { kind: 'board action', label: 'Y' },
      ],
      NURSING,
    );
    expect(tally).toMatchObject({ unknownBoardActions: 2, unknownRows: 0 });
    expect(told(tally)).toEqual({ 'board action: Y': 1 });
  });

  test('are listed by kind, with the number of rows', () => {
    const tally = newTally();
    noteUnknown(tally, [{ kind: 'board', label: 'Board of Wizardry' }], NURSING);
    noteUnknown(tally, [{ kind: 'board', label: 'Board of Wizardry' }], NURSING);
    noteUnknown(tally, [{ kind: 'license type', label: 'NUR: Robot' }], NURSING);
    expect(told(tally)).toEqual({ 'board: Board of Wizardry': 2, 'license type: NUR: Robot': 1 });
  });

  test.each([
    ['board', 1],
    ['status', 1],
    ['sub-status', 0],
    ['license type', 0],
  ] as const)('of the kind %j count as unknown rows for the guard: %d', (kind, rows) => {
    const tally = newTally();
    noteUnknown(tally, [{ kind, label: 'Unheard of' }], NURSING);
    expect(tally.unknownRows).toBe(rows);
  });

  test('of two kinds in one row count as one row', () => {
    const tally = newTally();
    noteUnknown(
      tally,
      [
        { kind: 'board', label: 'Board of Wizardry' },
        { kind: 'status', label: 'Hovering' },
      ],
      NURSING,
    );
    expect(tally.unknownRows).toBe(1);
    expect(told(tally)).toEqual({ 'board: Board of Wizardry': 1, 'status: Hovering': 1 });
  });

  test('are listed up to 200 of up to 100 characters each; all rows are counted', () => {
    const tally = newTally();
    for (let at = 0; at < 300; at += 1) {
      noteUnknown(tally, [{ kind: 'status', label: `${at} ${'x'.repeat(500)}` }], NURSING);
    }
    noteUnknown(tally, [{ kind: 'status', label: `0 ${'x'.repeat(500)}` }], NURSING);
    const [first, ...others] = tally.unknownLabels;
    expect(others).toHaveLength(199);
    expect(first).toEqual([`status: 0 ${'x'.repeat(98)}`, 2]);
    expect(tally.unknownRows).toBe(301);
  });
});

import { describe, expect, test } from '@jest/globals';
import type { BulkOperation } from '../../workers/publish/parse.ts';
import { RefusedError } from '../../workers/publish/refusal.ts';
import { newTally, noteRefused, noteSent, noteUnknown, type Tally } from '../../workers/publish/tally.ts';

const NURSING = 'Nursing Board';

function operation(line: number, { board = NURSING, status = 'ACTIVE', place = 0 } = {}): BulkOperation {
  const id = `${board}/${line}.${place}`;
  return {
    document: {
      id,
      board,
      status,
      sourceRow: `individual:${line}:${place}`,
      file: 'individual',
      row: { line, raw: String(line) },
    },
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n{}\n`,
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

describe('what was sent', () => {
  test('is counted by board and by status', () => {
    const tally = newTally();
    noteSent(tally, operation(2));
    noteSent(tally, operation(3, { status: 'INACTIVE' }));
    noteSent(tally, operation(4, { board: 'Dental Board', status: '' }));
    expect(Object.fromEntries(tally.boards)).toEqual({ [NURSING]: 2, 'Dental Board': 1 });
    expect(Object.fromEntries(tally.statuses)).toEqual({ ACTIVE: 1, INACTIVE: 1, '': 1 });
  });

  test('is sampled whole where a board has at most 20', () => {
    const { tally, operations } = sent(20);
    const ids = operations.map(({ document }) => document.id);
    expect(tally.samples.get(NURSING)?.map(({ id }) => id)).toEqual(ids);
  });

  test('is sampled by 20 of each board, from all over the file', () => {
    const { tally } = sent(2000);
    noteSent(tally, operation(9000, { board: 'Dental Board' }));
    const lines = (tally.samples.get(NURSING) ?? []).map(({ sourceRow }) => Number(sourceRow.split(':')[1]));
    expect(new Set(lines).size).toBe(20);
    expect(tally.samples.get('Dental Board')).toHaveLength(1);
    // By chance alone all 20 would be of one half once in half a million runs.
    expect(lines.some((line) => line < 1002)).toBe(true);
    expect(lines.some((line) => line >= 1002)).toBe(true);
  });

  test('refuses a BOARD column of more than 500 labels', () => {
    const tally = newTally();
    for (let at = 0; at < 500; at += 1) noteSent(tally, operation(at + 2, { board: `Board ${at}` }));
    expect(() => noteSent(tally, operation(502, { board: 'Board 0' }))).not.toThrow();
    expect(() => noteSent(tally, operation(503, { board: 'One more' }))).toThrow(RefusedError);
    expect(() => noteSent(tally, operation(503, { board: 'Another' }))).toThrow(
      'boards: BOARD has more than 500 labels',
    );
  });
});

describe('what was sent but not taken', () => {
  test('is taken back from the counts and from the sample', () => {
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

  test('for its number leaves the earlier row of that number in the sample', () => {
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

  test('is taken back from the endorsements where it was one', () => {
    const { tally } = sent(1);
    const endorsement = operation(2, { place: 1 });
    tally.counts.endorsements = 1;
    noteSent(tally, endorsement);
    noteRefused(tally, { document: endorsement.document, reason: 'by the test', isDuplicate: true });
    expect(tally.counts).toMatchObject({ licenses: 1, endorsements: 0 });
  });
});

describe('labels that no catalog knows', () => {
  test('are told by kind, with how many rows have them', () => {
    const tally = newTally();
    noteUnknown(tally, [{ kind: 'board', label: 'Board of Wizardry' }]);
    noteUnknown(tally, [{ kind: 'board', label: 'Board of Wizardry' }]);
    noteUnknown(tally, [{ kind: 'license type', label: 'NUR: Robot' }]);
    expect(tally.unknownLabels).toEqual(
      new Map(Object.entries({ 'board: Board of Wizardry': 2, 'license type: NUR: Robot': 1 })),
    );
  });

  test.each([
    ['board', 1],
    ['status', 1],
    ['sub-status', 0],
    ['license type', 0],
  ] as const)('of the kind %j make the row unknown to the guard: %d', (kind, rows) => {
    const tally = newTally();
    noteUnknown(tally, [{ kind, label: 'Unheard of' }]);
    expect(tally.unknownRows).toBe(rows);
  });

  test('of two kinds in one row make it one unknown row', () => {
    const tally = newTally();
    noteUnknown(tally, [
      { kind: 'board', label: 'Board of Wizardry' },
      { kind: 'status', label: 'Hovering' },
    ]);
    expect(tally.unknownRows).toBe(1);
    expect(tally.unknownLabels.get('status: Hovering')).toBe(1);
  });

  test('are told one by one up to 200 of them, in 200 characters each; further rows still count', () => {
    const tally = newTally();
    for (let at = 0; at < 300; at += 1) {
      noteUnknown(tally, [{ kind: 'status', label: `${at} ${'x'.repeat(500)}` }]);
    }
    noteUnknown(tally, [{ kind: 'status', label: `0 ${'x'.repeat(500)}` }]);
    const told = [...tally.unknownLabels];
    expect(told).toHaveLength(200);
    expect(told[0]).toEqual([`status: 0 ${'x'.repeat(198)}`, 2]);
    expect(tally.unknownRows).toBe(301);
  });
});

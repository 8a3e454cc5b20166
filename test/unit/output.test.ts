import { describe, expect, test } from '@jest/globals';
import { described, grouped, printable, table } from '../../src/cli/output.ts';

describe('a table of the command line', () => {
  test('has columns aligned under their headings, numbers with separators, times of Ohio, and nothing for null', () => {
    const at = '2026-11-25T11:00:07.000Z';
    expect(
      table([
        { id: 'a', state: 'superseded', rows: 1234, 'last event': at },
        { id: 'longer', state: 'live', rows: null, 'last event': undefined },
      ]),
    ).toEqual([
      'ID      STATE       ROWS   LAST EVENT',
      'a       superseded  1,234  2026-11-25 06:00:07 EST',
      'longer  live',
    ]);
  });

  test('fits 100 characters: the widest columns go on below', () => {
    const lines = table([
      { id: 'a1', board: 'x'.repeat(60), details: `${'word '.repeat(20)}end` },
      { id: 'a2', board: 'short', details: 'short' },
    ]);
    expect(lines.every((line) => line.length <= 100)).toBe(true);
    expect(lines[1]).toMatch(/^a1 {2}x{40,} {2}word/);
    expect(lines[2]).toMatch(/^ {4}x{10,} +word /);
    expect(lines[3]).toMatch(/end$/);
    expect(lines[4]).toMatch(/^a2 {2}short +short$/);
  });

  test('without rows says so', () => {
    expect(table([])).toEqual(['None.']);
  });
});

test('a result is described by its values: below each other, in tables and lists, without what is empty', () => {
  const result = {
    publication: 'mw1',
    rows: 1234,
    forced: undefined,
    reasons: ['one', 'two'],
    boards: { 'Nursing Board': 2, '': 1 },
    changes: {},
    checks: [{ guard: 'canary', now: 3 }],
  };
  expect(described(result)).toEqual([
    ...['publication  mw1', 'rows         1,234', 'reasons      one', 'reasons      two'],
    ...['', 'boards:', '  Nursing Board  2', '  (blank)        1'],
    ...['', 'checks:', 'GUARD   NOW', 'canary  3'],
  ]);
});

describe('text of the dataset in the terminal', () => {
  test.each([
    ['RN \u001b[31mred\u0007', 'RN \\u001b[31mred\\u0007'],
    ['two\r\nlines', 'two\\u000d\\u000alines'],
    ['\u009b2J', '\\u009b2J'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['a\u2028b', 'a\\u2028b'],
    ['\ud800', '\\ud800'],
    ['\u{e0001}', '\\udb40\\udc01'],
    ['Muñoz 🩺 “x”', 'Muñoz 🩺 “x”'],
  ])('%j is printed as %j', (text, printed) => {
    expect(printable(text)).toBe(printed);
  });
});

test('a table may have 200,000 rows', () => {
  const rows = Array.from({ length: 200_000 }, () => ({ id: 'a' }));
  expect(table(rows)).toHaveLength(200_001);
});

test('a line break in a cell does not begin a new line of the table', () => {
  expect(table([{ type: 'x\nLive: y', rows: 1 }])).toEqual(['TYPE            ROWS', 'x\\u000aLive: y  1']);
});

describe('a number in the terminal', () => {
  test.each([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [2_600_000, '2,600,000'],
    [-1234, '-1,234'],
  ])('%d is printed as %s', (value, text) => {
    expect(grouped(value)).toBe(text);
  });
});

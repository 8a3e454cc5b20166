import { describe, expect, test } from '@jest/globals';
import { grouped, printable, table } from '../../src/cli/output.ts';

describe('a table of the command line', () => {
  test('has columns aligned under their headings, and no blanks at the end of lines', () => {
    expect(
      table(
        ['ID', 'STATE', 'ROWS'],
        [
          ['a', 'superseded', '1'],
          ['longer', 'live', ''],
        ],
      ),
    ).toEqual(['ID      STATE       ROWS', 'a       superseded  1', 'longer  live']);
  });

  test('fits 100 characters: the widest columns are cut, and the last goes on below', () => {
    const lines = table(
      ['ID', 'BOARD', 'DETAILS'],
      [
        ['a1', 'x'.repeat(60), `${'word '.repeat(20)}end`],
        ['a2', 'short', 'short'],
      ],
    );
    expect(lines.every((line) => line.length <= 100)).toBe(true);
    expect(lines[1]).toMatch(/^a1 {2}x+… {2}word/);
    expect(lines[2]).toMatch(/^ {50,}word /);
    expect(lines[3]).toMatch(/end$/);
    expect(lines[4]).toMatch(/^a2 {2}short +short$/);
  });

  test('without rows is its headings', () => {
    expect(table(['ID', 'STATE'], [])).toEqual(['ID  STATE']);
  });

  test('may have rows with fewer cells', () => {
    expect(table(['ID', 'STATE'], [['a'], ['b', 'live']])).toEqual(['ID  STATE', 'a', 'b   live']);
  });
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
  const rows = Array.from({ length: 200_000 }, () => ['a']);
  expect(table(['ID'], rows)).toHaveLength(200_001);
});

test('a line break in a cell does not begin a new line of the table', () => {
  expect(table(['TYPE', 'ROWS'], [['x\nLive: y', '1']])).toEqual([
    'TYPE            ROWS',
    'x\\u000aLive: y  1',
  ]);
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

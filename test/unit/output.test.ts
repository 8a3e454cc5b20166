import { describe, expect, test } from '@jest/globals';
import { grouped, printable, table } from '../../src/cli/output.ts';

describe('table', () => {
  test('aligns the columns under their headings, without blanks at the ends of lines', () => {
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

  test('of no rows is its headings', () => {
    expect(table(['ID', 'STATE'], [])).toEqual(['ID  STATE']);
  });

  test('takes a row with fewer cells', () => {
    expect(table(['ID', 'STATE'], [['a'], ['b', 'live']])).toEqual(['ID  STATE', 'a', 'b   live']);
  });
});

describe('printable', () => {
  test.each([
    ['RN \u001b[31mred\u0007', 'RN \\u001b[31mred\\u0007'],
    ['two\r\nlines', 'two\\u000d\\u000alines'],
    ['\u009b2J', '\\u009b2J'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['a\u2028b', 'a\\u2028b'],
    ['\ud800', '\\ud800'],
    ['\u{e0001}', '\\udb40\\udc01'],
    ['Muñoz 🩺 “x”', 'Muñoz 🩺 “x”'],
  ])('writes %j as %j', (text, printed) => {
    expect(printable(text)).toBe(printed);
  });
});

test('a table of more rows than a function takes arguments is written', () => {
  const rows = Array.from({ length: 200_000 }, () => ['a']);
  expect(table(['ID'], rows)).toHaveLength(200_001);
});

test('a cell cannot begin a line of its own', () => {
  expect(table(['TYPE', 'ROWS'], [['x\nLive: y', '1']])).toEqual([
    'TYPE            ROWS',
    'x\\u000aLive: y  1',
  ]);
});

describe('grouped', () => {
  test.each([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [2_600_000, '2,600,000'],
    [-1234, '-1,234'],
  ])('writes %d as %s', (value, text) => {
    expect(grouped(value)).toBe(text);
  });
});

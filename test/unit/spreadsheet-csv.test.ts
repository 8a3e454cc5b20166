import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { type CsvFormat, plainCsv, spreadsheetCsv, withFormulas } from '../../src/csv.ts';

const COMMAS: CsvFormat = { delimiter: ',', newline: '\n' };
const MEGABYTE = 1024 * 1024;

/** A cell as it is in a file of one cell. */
function written(cell: string | number | null, format = COMMAS): string {
  return spreadsheetCsv([[cell]], format).slice(0, -1);
}

describe('a cell in CSV for spreadsheets', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    [null, ''],
    [-5, '-5'],
    ['a,b', '"a,b"'],
    ['a;b', 'a;b'],
    ['a"b', '"a""b"'],
    ['a\nb', '"a\nb"'],
    [' a', '" a"'],
    ["O'Brien", "O'Brien"],
    ['-5', `"'-5"`],
    ['=1\n', `"'=1\n"`],
    ["'=1", `"'=1"`],
    ['x;=1', `"x;'=1"`],
  ])('%j is written as %j', (cell, text) => {
    expect(written(cell)).toBe(text);
  });

  test.each(['=1', ' =1', '\tx', '-7', '＝1', "'=1", "'x", "''=1", 'x'])(
    '%j is unchanged after it is read and written again',
    (cell) => {
      const [[once = ''] = []] = parse(spreadsheetCsv([[cell]], COMMAS));
      const [[twice = ''] = []] = parse(spreadsheetCsv([[once]], COMMAS));
      expect(twice).toBe(once);
      // What was protected already is not known from what is protected now.
      expect(withFormulas(once)).toBe(withFormulas(cell));
    },
  );

  test('is written in time proportional to its length', () => {
    for (const piece of ['\n', '; ', ';', '" ', '=', ';=', "'", '\u200b', ' -']) {
      const before = process.threadCpuUsage();
      written(piece.repeat(MEGABYTE / piece.length));
      const { user, system } = process.threadCpuUsage(before);
      // A quadratic one takes minutes.
      expect([piece, (user + system) / 1000 < 2000]).toEqual([piece, true]);
    }
  });
});

test('cells in CSV for programs are written unchanged', () => {
  const rows = [['=1', 'x;=1', '\tx', 'a,b', 'a"b', '', ' ']];
  expect(parse(plainCsv(rows, COMMAS))).toEqual(rows);
});

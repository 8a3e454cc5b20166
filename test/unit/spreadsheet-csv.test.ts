import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { type CsvFormat, plainCsv, spreadsheetCsv, withFormulas } from '../../src/csv.ts';

const COMMAS: CsvFormat = { delimiter: ',', newline: '\n' };
const MEGABYTE = 1024 * 1024;

/** A cell as it is in a file of one cell. */
const written = (cell: string | number | null, format = COMMAS) =>
  spreadsheetCsv([[cell]], format).slice(0, -1);

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
    ["'=1", `"'=1"`],
  ])('%j is written as %j', (cell, text) => {
    expect(written(cell)).toBe(text);
  });

  /** What a program reads of a cell that was written. */
  function readBack(cell: string, delimiter: CsvFormat['delimiter']): unknown {
    const [row = []] = parse(spreadsheetCsv([['x', cell]], { delimiter, newline: '\n' }), { delimiter });
    return row[1];
  }

  const LINK = '=HYPERLINK("http://x","y")';

  test.each([',', ';'] as const)('is no formula in a file separated by %s', (delimiter) => {
    for (const formula of [
      ...['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx', LINK, `${LINK}\n`, '=1\r\n=2', ' =1'],
      ...['\u00a0=1', '\ufeff=1', '\u200b=1', '\n=1', '"=1"', '＝1', '＋1', '－1', '＠x'],
    ]) {
      const read = readBack(formula, delimiter);
      expect(read).toEqual(expect.stringMatching(/^'/));
      expect(String(read).replaceAll("'", '')).toBe(formula);
    }
    for (const harmless of [
      ...["'=x", "'-1", 'a-b', 'a = b', '2-3', 'x; y', 'x, y', 'a\nb', 'b@example.org', '; ,', ''],
    ])
      expect(readBack(harmless, delimiter)).toBe(harmless);
  });

  test.each([
    [',', 'x;=1+1', "x;'=1+1"],
    [',', 'x; "=1+1"', 'x; "\'=1+1"'],
    [',', ';=1', ";'=1"],
    [',', 'x\t=1', "x\t'=1"],
    [',', 'x\n=1', "x\n'=1"],
    [',', 'x\r\n\r\n+1', "x\r\n\r\n'+1"],
    [',', 'x, =1', 'x, =1'],
    [';', 'x,=1+1', "x,'=1+1"],
    [';', 'x;=1', 'x;=1'],
    [',', ';＝1;－2', ";'＝1;'－2"],
  ] as const)('where another separator than %s begins a cell: %j', (delimiter, cell, safe) => {
    expect(readBack(cell, delimiter)).toBe(safe);
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

import { describe, expect, test } from '@jest/globals';
import { grouped, table } from '../../src/cli/output.ts';

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
    ).toBe(['ID      STATE       ROWS', 'a       superseded  1', 'longer  live'].join('\n'));
  });

  test('of no rows is its headings', () => {
    expect(table(['ID', 'STATE'], [])).toBe('ID  STATE');
  });

  test('takes a row with fewer cells', () => {
    expect(table(['ID', 'STATE'], [['a'], ['b', 'live']])).toBe('ID  STATE\na\nb   live');
  });
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

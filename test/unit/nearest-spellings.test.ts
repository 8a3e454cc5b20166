import { describe, expect, test } from '@jest/globals';
import { nearestSpellings } from '../../src/licenses/nearest-spellings.ts';

describe('the nearest spellings', () => {
  test.each<[string, string, string[], number, string[]]>([
    ['none of no texts', 'RN.1', [], 3, []],
    [
      'ordered by the number of edits',
      'RN.1234',
      ['RN.9999', 'RN.1299', 'RN.1239'],
      3,
      ['RN.1239', 'RN.1299', 'RN.9999'],
    ],
    ['at most as many as asked for', 'RN.1234', ['RN.9999', 'RN.1299', 'RN.1239'], 2, ['RN.1239', 'RN.1299']],
    ['none if none is asked for', 'RN.1234', ['RN.1239'], 0, []],
    ['fewer if fewer exist', 'RN.1234', ['RN.1239'], 3, ['RN.1239']],
    [
      'ordered alphabetically if the number of edits is the same',
      'RN.123',
      ['RN.124', 'RN.122', 'RN.121'],
      2,
      ['RN.121', 'RN.122'],
    ],
    ['each once', 'RN.1', ['RN.2', 'RN.1', 'RN.2', 'RN.1'], 3, ['RN.1', 'RN.2']],
    ['compared in folded form', "o'brien", ['BRIAN', 'O\u2019BRIEN', 'OBRYAN'], 1, ['O\u2019BRIEN']],
    ['found without the blanks around the typed text', '  a1 ', ['  A1', 'A1'], 2, ['A1', '  A1']],
    ['found whatever the case', 'abcd12', ['BCD...12', 'abcd-13.'], 2, ['abcd-13.', 'BCD...12']],
    [
      'ordered by edits of the written form if the folded forms are the same',
      'rn/0012',
      ['Rn.12 ', 'RN-0012'],
      2,
      ['RN-0012', 'Rn.12 '],
    ],
    ['ordered by length for a text without letters', '*', ['ABC', 'A', 'AB'], 3, ['A', 'AB', 'ABC']],
  ])('are %s', (_what, typed, existing, most, expected) => {
    expect(nearestSpellings(typed, existing, most)).toEqual(expected);
  });

  test('do not depend on the order of the existing texts', () => {
    const existing = ['RN.124', 'RN.12', 'RN.1234', 'RN.122', 'RN.123', 'rn 123'];
    const expected = nearestSpellings('RN.123', existing, 6);
    expect(expected.slice(0, 2)).toEqual(['RN.123', 'rn 123']);
    for (const again of [[...existing].reverse(), [...existing].sort(), [...existing, ...existing]]) {
      expect(nearestSpellings('RN.123', again, 6)).toEqual(expected);
    }
  });

  test('do not change the list of existing texts', () => {
    const existing = ['B', 'A'];
    nearestSpellings('A', existing, 2);
    expect(existing).toEqual(['B', 'A']);
  });
});

import { describe, expect, test } from '@jest/globals';
import { nearestSpellings } from '../../src/licenses/nearest-spellings.ts';

describe('nearestSpellings', () => {
  test.each<[string, string, string[], number, string[]]>([
    ['nothing of nothing', 'RN.1', [], 3, []],
    [
      'by edits, not as given',
      'RN.1234',
      ['RN.9999', 'RN.1299', 'RN.1239'],
      3,
      ['RN.1239', 'RN.1299', 'RN.9999'],
    ],
    ['at most so many', 'RN.1234', ['RN.9999', 'RN.1299', 'RN.1239'], 2, ['RN.1239', 'RN.1299']],
    ['none where none is asked for', 'RN.1234', ['RN.1239'], 0, []],
    ['fewer where there are fewer', 'RN.1234', ['RN.1239'], 3, ['RN.1239']],
    [
      'by spelling where edits are the same',
      'RN.123',
      ['RN.124', 'RN.122', 'RN.121'],
      2,
      ['RN.121', 'RN.122'],
    ],
    ['each once', 'RN.1', ['RN.2', 'RN.1', 'RN.2', 'RN.1'], 3, ['RN.1', 'RN.2']],
    ['folded alike', "o'brien", ['BRIAN', 'O\u2019BRIEN', 'OBRYAN'], 1, ['O\u2019BRIEN']],
    ['without the blanks around what was typed', '  a1 ', ['  A1', 'A1'], 2, ['A1', '  A1']],
    ['whatever the case', 'abcd12', ['BCD...12', 'abcd-13.'], 2, ['abcd-13.', 'BCD...12']],
    ['as they are written', 'rn/0012', ['Rn.12 ', 'RN-0012'], 2, ['RN-0012', 'Rn.12 ']],
    ['those of a text without letters by length', '*', ['ABC', 'A', 'AB'], 3, ['A', 'AB', 'ABC']],
  ])('gives %s', (_what, typed, existing, most, expected) => {
    expect(nearestSpellings(typed, existing, most)).toEqual(expected);
  });

  test('gives the same whatever the order that it was given', () => {
    const existing = ['RN.124', 'RN.12', 'RN.1234', 'RN.122', 'RN.123', 'rn 123'];
    const expected = nearestSpellings('RN.123', existing, 6);
    expect(expected.slice(0, 2)).toEqual(['RN.123', 'rn 123']);
    for (const again of [[...existing].reverse(), [...existing].sort(), [...existing, ...existing]]) {
      expect(nearestSpellings('RN.123', again, 6)).toEqual(expected);
    }
  });

  test('leaves the list that it was given as it is', () => {
    const existing = ['B', 'A'];
    nearestSpellings('A', existing, 2);
    expect(existing).toEqual(['B', 'A']);
  });
});

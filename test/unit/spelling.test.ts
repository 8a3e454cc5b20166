import { expect, test } from '@jest/globals';
import { givenNameVariants, misreadNumberKeys, nearestSpellings } from '../../src/licenses/spelling.ts';
import { cellsOf, pairsOf } from '../support/tables.ts';

test('the numbers that may have been meant by a mistyped one include the one that was meant', () => {
  // Neighbors swapped, digits doubled or not, letters for digits in and before a number, digits for letters before it.
  const mistyped = pairsOf(`
RN.124369 = RN124396; RN.214396 = RN124396; RN.1224396 = RN124396; RN.12436 = RN124366; RN.1O4396 = RN104396
rn.l24396 = RN124396; DC-OI234 = DC01234; RN1S4396 = RN154396; RNO1S4396 = RNO154396; E.1Z34567-SUPV = E1234567SUPV
E.2134567-SUPV = E1234567SUPV; 30-312345 = 03312345; 0T.012345 = OT012345
`);
  for (const [typed, meant] of mistyped)
    expect([typed, misreadNumberKeys(typed)]).toEqual([typed, expect.arrayContaining([meant])]);
});

test('the numbers that may have been meant by a mistyped one are no others', () => {
  const all = pairsOf('RN.11 = RN1 RN111; RN; ; .; 12 = 112 122 21; RN.1234567890123');
  expect(all.map(([typed]) => [typed, misreadNumberKeys(typed).toSorted().join(' ')])).toEqual(all);
});

test('the numbers that may have been meant by a mistyped one do not include the number itself, and each is there once', () => {
  for (const typed of ['RN.111222', 'S.5O5', '0T.0I2345', 'APRN.CNP.0014484']) {
    const keys = misreadNumberKeys(typed);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain(typed.replaceAll('.', ''));
  }
});

test.each<[string, string, string[]]>([
  ['a nickname', 'BOB', ['ROBERT']],
  ['a full name', 'MARGARET', ['PEGGY', 'MAGGIE']],
  ['a nickname of several names', 'ALEX', ['ALEXANDER', 'ALEXANDRA']],
  ['another spelling', 'KATHRYN', ['CATHERINE', 'KATHERINE']],
])('other forms of a given name %s, %s, include %j', (_what, name, variants) => {
  expect(givenNameVariants(name)).toEqual(expect.arrayContaining(variants));
  expect(givenNameVariants(name)).not.toContain(name);
});

test('other forms of a given name are none for an unknown name; full names come first', () => {
  expect([givenNameVariants('ZEBEDEE'), givenNameVariants('')]).toEqual([[], []]);
  expect(givenNameVariants('JERRY').slice(0, 1)).toEqual(['GERALD']);
});

// How, what was typed, the existing texts, and the nearest of them.
const NEAREST = cellsOf(`
ordered by the number of edits | RN.1234 | RN.9999, RN.1299, RN.1239 | RN.1239, RN.1299, RN.9999
at most as many as asked for | RN.1234 | RN.9999, RN.1299, RN.1239 | RN.1239, RN.1299
ordered alphabetically if the number of edits is the same | RN.123 | RN.124, RN.122, RN.121 | RN.121, RN.122
each once | RN.1 | RN.2, RN.1, RN.2, RN.1 | RN.1, RN.2
compared in folded form | o'brien | BRIAN, O\u2019BRIEN, OBRYAN | O\u2019BRIEN
found without the blanks around the typed text |   a1  |   A1, A1 | A1,   A1
found whatever the case | abcd12 | BCD...12, abcd-13. | abcd-13., BCD...12
ordered by edits of the written form if the folded forms are the same | rn/0012 | Rn.12 , RN-0012 | RN-0012, Rn.12\u0020
ordered by length for a text without letters | * | ABC, A, AB | A, AB, ABC
`);
test.each(NEAREST)('the nearest spellings are %s', (_how, typed = '', existing = '', expected = '') => {
  const nearest = expected.split(', ');
  expect(nearestSpellings(typed, existing.split(', '), nearest.length)).toEqual(nearest);
});

test('the nearest spellings are fewer if fewer exist, and none if none is asked for', () => {
  expect(nearestSpellings('RN.1234', ['RN.1239'], 3)).toEqual(['RN.1239']);
  expect([nearestSpellings('RN.1234', ['RN.1239'], 0), nearestSpellings('RN.1234', [], 3)]).toEqual([[], []]);
});

test('the nearest spellings do not depend on the order of the existing texts', () => {
  const existing = ['RN.124', 'RN.12', 'RN.1234', 'RN.122', 'RN.123', 'rn 123'];
  const expected = nearestSpellings('RN.123', existing, 6);
  expect(expected.slice(0, 2)).toEqual(['RN.123', 'rn 123']);
  for (const again of [[...existing].reverse(), [...existing].sort(), [...existing, ...existing]])
    expect(nearestSpellings('RN.123', again, 6)).toEqual(expected);
});

test('the nearest spellings do not change the list of existing texts', () => {
  const existing = ['B', 'A'];
  nearestSpellings('A', existing, 2);
  expect(existing).toEqual(['B', 'A']);
});

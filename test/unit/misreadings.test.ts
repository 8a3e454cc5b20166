import { describe, expect, test } from '@jest/globals';
import { givenNameVariants } from '../../src/licenses/given-name-variants.ts';
import { misreadNames, misreadNumberKeys } from '../../src/licenses/misreadings.ts';

describe('the numbers that may have been meant by a mistyped one', () => {
  test.each<[string, string, string]>([
    ['neighbors swapped', 'RN.124369', 'RN124396'],
    ['the first two digits swapped', 'RN.214396', 'RN124396'],
    ['a digit typed twice', 'RN.1224396', 'RN124396'],
    ['a double digit typed once', 'RN.12436', 'RN124366'],
    ['the letter O', 'RN.1O4396', 'RN104396'],
    ['a small L', 'rn.l24396', 'RN124396'],
    ['letters alone before the last digit', 'DC-OI234', 'DC01234'],
    ['a letter without any separator', 'RN1S4396', 'RN154396'],
    ['a letter before a suffix', 'E.1Z34567-SUPV', 'E1234567SUPV'],
    ['digits swapped before a suffix', 'E.2134567-SUPV', 'E1234567SUPV'],
    ['digits swapped in a number of digits', '30-312345', '03312345'],
    ['a digit in the prefix', '0T.012345', 'OT012345'],
  ])('include the one without %s: %s', (_what, typed, meant) => {
    expect(misreadNumberKeys(typed)).toContain(meant);
  });

  test.each<[string, string[]]>([
    ['RN.11', ['RN1', 'RN111']],
    ['RN', []],
    ['', []],
    ['.', []],
    ['12', ['21', '112', '122']],
    ['RN.1234567890123', []],
  ])('of %j are %j', (typed, keys) => {
    expect(misreadNumberKeys(typed).toSorted()).toEqual(keys.toSorted());
  });

  test('do not include the number itself, and each is there once', () => {
    for (const typed of ['RN.111222', 'S.5O5', '0T.0I2345', 'APRN.CNP.0014484']) {
      const keys = misreadNumberKeys(typed);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys).not.toContain(typed.replaceAll('.', ''));
    }
  });
});

describe('the names that may have been meant by one with digits', () => {
  test.each<[string, string[]]>([
    ['SM1TH', ['SMITH', 'SMLTH']],
    ['0C0NN0R', ['OCONNOR']],
    ['5TE1N8ERG', ['STEINBERG', 'STELNBERG']],
    ['SMITH', []],
    ['', []],
    ['7EVEN', ['7EVEN']],
  ])('of %j are %j', (typed, names) => {
    expect(misreadNames(typed)).toEqual(names);
  });
});

describe('other forms of a given name', () => {
  test.each<[string, string, string[]]>([
    ['a nickname', 'BOB', ['ROBERT']],
    ['a full name', 'MARGARET', ['PEGGY', 'MAGGIE']],
    ['a nickname of several names', 'ALEX', ['ALEXANDER', 'ALEXANDRA']],
    ['another spelling', 'KATHRYN', ['CATHERINE', 'KATHERINE']],
  ])('%s, %s, include %j', (_what, name, variants) => {
    expect(givenNameVariants(name)).toEqual(expect.arrayContaining(variants));
    expect(givenNameVariants(name)).not.toContain(name);
  });

  test('are none for an unknown name; full names come first', () => {
    expect(givenNameVariants('ZEBEDEE')).toEqual([]);
    expect(givenNameVariants('')).toEqual([]);
    expect(givenNameVariants('JERRY').slice(0, 1)).toEqual(['GERALD']);
  });
});

import { expect, test } from '@jest/globals';
import { newRecordCode, readRecordCode, writtenRecordCode } from '../../src/records/saved-records.ts';

test('a new code is read as it is stored and as it is shown, with hyphens, in either case', () => {
  for (const code of Array.from({ length: 500 }, newRecordCode)) {
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
    for (const written of [code, writtenRecordCode(code), writtenRecordCode(code).toLowerCase()])
      expect(readRecordCode(written)).toBe(code);
  }
  expect(writtenRecordCode('0123456789ABCDEF')).toBe('0123-4567-89AB-CDEF');
});

const CODE = '0123456789ABCDEF';

test.each([
  ['in both cases', '0123-4567-89aB-CdEf', CODE],
  ['with blanks around it', '  0123-4567-89AB-CDEF\r\n', CODE],
  ['with tabs and no-break spaces', '0123\t4567\u00a089AB\u202fCDEF', CODE],
  ['with dashes and the hyphen that breaks no line', '0123\u20114567\u201389AB\u2014CDEF', CODE],
  ['with hyphens at other places', '-01-23456789AB--CDEF-', CODE],
  ['of O, I and L alone, for 0 and 1', 'OIL OIL OIL oil oilo', '0110110110110110'],
  ['with a blank after each character', [...CODE].join(' '), CODE],
  ['of exactly 64 characters', CODE.padEnd(64), CODE],
])('a typed code %s is read', (_what, typed, code) => {
  expect(readRecordCode(typed)).toBe(code);
});

const others = ['U', 'u', '*', '\0', '\u0131', '\u017f', '\u212a', '\uff10'];
test.each([
  ['nothing, or blanks and hyphens', ['', ' - - ', ' '.repeat(1_000_000)]],
  ['a character too few', ['0123-4567-89AB-CDE']],
  ['a character too many', ['0123-4567-89AB-CDEF0', `${CODE} ${CODE}`, CODE.padEnd(65)]],
  ['another character', others.map((other) => `${other}${CODE.slice(1)}`)],
  ['an underscore', ['0123_4567_89AB_CDEF']],
  ['a sharp s or Greek letters', ['\u00df23456789ABCDEF', '0123456789\u0391\u0392CDEF']],
])('a typed code is refused: %s', (_what, typed) => {
  expect(typed.map(readRecordCode)).toEqual(typed.map(() => undefined));
});

import { expect, test } from '@jest/globals';
import { isExactNumber, numberDigits, numberKey } from '../../src/licenses/fold.ts';
import { pairsOf } from '../support/tables.ts';

// Which forms of a number are one: test/fixtures/typed-forms.ts.
test.each([
  ['RN.1234', ['RN.1234*', 'RN.123?', '"RN.1234"', 'RN.1234~1', 'RN.1234, RN.1235', 'RN_1234']],
  ['RN.1234', ['RN\\.1234', 'RN#1234', '1234', 'PN.1234', 'RN.12345', 'RN.123']],
  // Marks of footnotes are no digits.
  ['RN.1234', ['RN.123\u2074', 'RN.\u00b9234', 'RN.123\u2084', 'RN.123\u2463', 'RN.1234\u00b9']],
  ['APRN.CNP.26867', ['APRN.CNP.026867', 'APRN.CNP.0026867', 'CNP.26867']],
  ['E.1234567', ['E.1234567-SUPV']],
])('the key of a number %s is not that of %j', (number, others) => {
  expect(others.map(numberKey)).not.toContain(numberKey(number));
});

test('the last digits of a number are the last group, without leading zeros', () => {
  const digits = pairsOf(`
RN.123456 = 123456; rn 123 456 = 123456; RN\u00a0123\u2009456 = 123456; APRN.CNP.0014484 = 14484
APRN.CNP.14484 = 14484; 14484 = 14484; E.1234567 = 1234567; E.1234567-SUPV = 1234567; S.0001.2-B = 2
03-123456 = 123456; 03123456 = 3123456; DC\u201301234 = 1234; DC-01234* = 1234; RN.\uff11\uff12\uff13 = 123
RN.123\u200b456\u200f = 123456; RN.123456\u00b9 = 123456; 03\u00ad123456 = 3123456; RN.100 = 100; RN.0 = 0
RN.000 = 0; RN.00-X = 0; RN; RN.\u0967; *; 
`);
  expect(digits.map(([written]) => [written, numberDigits(written)])).toEqual(digits);
});

test('the last digits of a number are found fast in a long text without digits', () => {
  expect(numberDigits('x'.repeat(100_000))).toBe('');
});

test('a number is exactly the one typed, case and blanks aside', () => {
  const same = pairsOf(`
RN.123456 = RN.123456;   rn.123456\t = RN.123456; DC-01234 = dc-01234; \u200eDC-\u00ad01234 \u0000 = dc-01234
DC-01234 = DC-0\u200b1234
`);
  const others = pairsOf(`
DC\u00ad01234 = DC-01234; RN 123456 = RN.123456; RN/123456 = RN.123456; RN123456 = RN.123456; 03-123456 = 03123456
DC\u201301234 = DC-01234; RN.123456-SUPV = RN.123456; RN.12345 = RN.123456
`);
  for (const pair of same) expect([pair, isExactNumber(...pair)]).toEqual([pair, true]);
  for (const pair of others) expect([pair, isExactNumber(...pair)]).toEqual([pair, false]);
});

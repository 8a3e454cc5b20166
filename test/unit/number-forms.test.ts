import { expect, test } from '@jest/globals';
import {
  boardsOfLetters,
  hasNumber,
  isLikeNumber,
  isSurelyNumber,
  numbersIn,
  numberWithType,
  prefixesOfType,
  statesIn,
} from '../../src/licenses/number-forms.ts';
import { boardOfCode } from '../support/boards.ts';
import { pairsOf } from '../support/tables.ts';

const NINES = '9'.repeat(20);

// What a text that stands alone is taken for: surely a number, like one, of a column of numbers, or none.
test.each([
  [
    'surely',
    'RN.1|rn 412001|APRN CNP 0012345|E.1234567-SUPV|DC-01234|35.12345| 35.12345|03312345|0312345678',
  ],
  ['surely', `RN.       ${NINES}`],
  ['like', '43004|12345|04312345|99.123456|103312345|0331234|03123456789|614 555 0100|12345/1/1'],
  ['column', `1234|35.12|XX.12345|E.123-TEMP|RN.${NINES}9|RN.412001 Smith|RN.        ${NINES}`],
  ['column', `${'x'.repeat(59)}1|${'A'.repeat(21)}1|1-2|1.2.3.4`],
  ['none', 'RN|pending||2026-11-20|11/20/2026| 11/20/2026| 1.2.26 '],
  ['none', `${'x'.repeat(60)}1`],
])('taken for %s: %s', (taken, texts) => {
  for (const text of texts.split('|')) {
    const found = [isSurelyNumber(text), isLikeNumber(text), hasNumber(text)];
    const least = ['surely', 'like', 'column', 'none'].indexOf(taken);
    expect([text, ...found]).toEqual([text, least === 0, least <= 1, least <= 2]);
  }
});

test.each([
  ['RN.1, RN.2', ['RN.1', 'RN.2']],
  ['RN.1 & rn 2;3|4\n5 AND 6', ['RN.1', 'rn 2', '3', '4', '5', '6']],
  ['RN.1,, ', ['RN.1,,']],
  [' RN.1  RN.2 ', ['RN.1', 'RN.2']],
  ['RN.1, Smith', ['RN.1, Smith']],
  ['RN.1, 11/20/2026', ['RN.1, 11/20/2026']],
  ['RN. 412001', ['RN. 412001']],
  ['RN.1andRN.2', ['RN.1andRN.2']],
  ['1, 2', ['1, 2']],
  [' RN.1 ', ['RN.1']],
  ['', ['']],
  ['RN.1,'.repeat(40), Array(40).fill('RN.1')],
  [' RN.1'.repeat(41), [' RN.1'.repeat(41)]],
])('the numbers in %j are %j', (text, numbers) => {
  expect(numbersIn(text)).toEqual(numbers);
});

test('the states in a text', () => {
  const texts = pairsOf(`
OH = Ohio; US-KY = Kentucky; KY, OH = Kentucky|Ohio; new york = New York; D.C. = District of Columbia; compact
OH${' '.repeat(198)} = Ohio; OH${' '.repeat(199)}
`);
  expect(texts.map(([text]) => [text, [...new Set(statesIn(text))].join('|')])).toEqual(texts);
});

test('the boards of the letters of a number', () => {
  const numbers = pairsOf('SP.1 = SHP PSY; rn 1 = NUR; 35.12345; XX.1');
  const codesOf = (number: string) => boardsOfLetters(number).map(({ code }) => code);
  expect(numbers.map(([number]) => [number, codesOf(number).join(' ')])).toEqual(numbers);
});

test('the prefixes of a license type, at a board or at all', () => {
  const types = pairsOf(`
RN = RN.; registered nurse @ NUR = RN.; Chiropractor = DC-; sp = SP.; RN @ PRX; P; Pharmacist
RN${' '.repeat(198)} = RN.; RN${' '.repeat(199)}
`);
  const prefixes = (type = '', code?: string) =>
    prefixesOfType(type, code === undefined ? undefined : boardOfCode(code));
  expect(types.map(([text]) => [text, prefixes(...text.split(' @ ')).join()])).toEqual(types);
});

test('the number that digits and a license type mean', () => {
  const numbers = pairsOf(`
412001 RN = RN.412001; 12345 MD = 35.12345; 3512345 MD = 3512345; RN.412001 MD = RN.412001; 412001x RN = 412001x
412001 Wizard = 412001; 412001 = 412001
`);
  for (const [text, meant] of numbers) {
    const [number = '', type] = text.split(' ');
    expect([text, numberWithType(number, type, undefined)]).toEqual([text, meant]);
  }
});

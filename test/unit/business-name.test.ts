import { describe, expect, test } from '@jest/globals';
import { matchesBusinessName, searchedWords, tradeNameKey, tradeNames } from '../../src/licenses/names.ts';

// What finds a business, and is its name: test/fixtures/typed-forms.ts.
describe('the name of a business', () => {
  test.each([
    ['SMITH CO PHARMACY', 'Smith Pharmacy', true],
    ['ACME LLC OF LIMA', 'acme of lima', true],
    ['OVER THE TOP SALON', 'Over Top Salon', true],
    ['LLC SUPPLIES', 'LLC', true],
    ['THE THERAPY PLACE', 'the', true],
    ['CAF\u00c9 RX', 'rx cafe', true],
    ['ACME PLACE', 'the', false],
    ['D.B.A', 'Acme', false],
    ['', '*', false],
  ])('of %j by %j: %s', (name, typed, expected) => {
    expect(matchesBusinessName(name, typed)).toBe(expected);
  });
});

describe('the words searched for', () => {
  test.each([
    ['The Acme & Sons, LLC', ['ACME', 'SONS']],
    ['Acme LLC DBA The Widgets Inc', ['ACME', 'WIDGETS']],
    ['Shear Delight, The', ['SHEAR', 'DELIGHT']],
    ['Smith Co Pharmacy', ['SMITH', 'CO', 'PHARMACY']],
    ['the', ['THE']],
    ['LLC', ['LLC']],
    ['&', []],
    ['D.B.A', []],
    ['', []],
    ['a1 a2 a3 a4 a5 a6 a7 a8 a9 a10', 'A1 A2 A3 A4 A5 A6 A7 A8 A9 A10'.split(' ')],
    ['the a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11', 'A1 A2 A3 A4 A5 A6 A7 A8 A9 A10'.split(' ')],
  ])('in %j are %j', (typed, words) => {
    expect(searchedWords(typed)).toEqual(words);
  });
});

describe('the trade names', () => {
  test.each([
    ['ACME LLC', ['ACME LLC']],
    ...['D.B.A', 'D.B.A.', 'DBA', 'D/B/A', 'd.b.a'].map(
      (words) => [`ACME LLC ${words} WIDGETS`, ['ACME LLC', 'WIDGETS']] as const,
    ),
    ['ACME  D.B.A   WIDGETS ', ['ACME', 'WIDGETS']],
    ['ACME D.B.A WIDGETS DBA GADGETS', ['ACME', 'WIDGETS', 'GADGETS']],
    ['DBA WIDGETS', ['WIDGETS']],
    ['ACME D.B.A', ['ACME']],
    ...['DBASE SOFTWARE', 'THE DBASE SHOP', 'BADBAD DOG', 'MELDBA SALON', 'ACME DXBXA WIDGETS'].map(
      (name) => [name, [name]] as const,
    ),
    ['', []],
  ])('in %j are %j', (name, names) => {
    expect(tradeNames(name)).toEqual(names);
  });
});

describe('the key of a trade name', () => {
  test.each([
    ['A.B.C. HAIR', 'ABCHAIR'],
    ['7 DAY CLINIC #2', '7DAYCLINIC2'],
    ['\u5c0f\u660e LLC', '\u5c0f\u660e'],
  ])('of %j is %j', (name, key) => {
    expect(tradeNameKey(name)).toBe(key);
  });

  test.each([
    // A legal form that is not at the end.
    ...['COMPANY STORE', 'INC SPOT', 'LIMITED EDITION HAIR', 'SMITH CO PHARMACY', 'ZINC', 'TEXACO'],
    // THE and AND within the name or as part of a word.
    ...['OVER THE TOP', 'THEODORE', 'BANDAID'],
  ])('of %j has all of it', (name) => {
    expect(tradeNameKey(`${name} INC`)).toBe(name.replaceAll(' ', ''));
  });

  test.each([
    ['THE', 'THE'],
    ['AND', 'AND'],
    ['THE COMPANY', 'COMPANY'],
    ['THE & CO', 'CO'],
    ['LLC', 'LLC'],
    ['INC LLC', 'INC'],
    ['AND THE', 'THE'],
    // No letter or digit.
    ...['', ' ', '&', '***', '"?"', '...'].map((name) => [name, '']),
  ])('of %j, which has only such words, is %j', (name, key) => {
    expect(tradeNameKey(name)).toBe(key);
  });
});

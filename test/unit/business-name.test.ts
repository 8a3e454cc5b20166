import { describe, expect, test } from '@jest/globals';
import {
  businessNameKeys,
  matchesBusinessName,
  searchedWords,
  tradeNameKey,
  tradeNames,
  tradeNameWords,
} from '../../src/licenses/names.ts';

describe('the name of a business', () => {
  const ACME = "THE ACME & SONS LLC D.B.A JOE'S DRUGS #2";

  test.each([
    ['the beginning of a trade name', 'the acme and so'],
    ['another legal form', 'acme sons inc'],
    ['the beginning of the legal form', 'Acme & Sons LL'],
    ['the second trade name', 'joe\u2019s drugs 2 LLC'],
    ['both trade names', "The Acme & Sons LLC D.B.A Joe's Drugs"],
    ['both trade names, the legal form left out', "Acme & Sons Joe's Drugs"],
    ['words in another order', 'Sons, Acme'],
    ['words of both trade names', 'Drugs dba Sons'],
    ['beginnings of words', 'dru so'],
    ['THE within', 'the Acme & Sons, the drugs'],
    ['a pattern character between words', 'Jo?s'],
    ['a number', '2'],
  ])('matches %s: %s', (_what, typed) => {
    expect(matchesBusinessName(ACME, typed)).toBe(true);
  });

  test.each([
    ['the end of a word', 'rugs'],
    ['a longer word', 'Sonss'],
    ['another word', 'Acme Daughters'],
    ['a word that it does not have', 'Sons of Acme'],
    ['a misspelled word', 'Acne & Sons'],
    ['words of both trade names run together', 'sonsjoes'],
    ['a legal form alone', 'LLC'],
    ['D.B.A alone', 'd.b.a.'],
    ['nothing', ''],
    ['a sign', '&'],
  ])('does not match %s: %s', (_what, typed) => {
    expect(matchesBusinessName(ACME, typed)).toBe(false);
  });

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

describe('the keys of a business name', () => {
  test.each([
    ['ACME LLC D.B.A WIDGETS', ['ACME', 'ACMELLC', 'WIDGETS', 'ACMELLCDBAWIDGETS']],
    ['THE WIDGETS', ['WIDGETS']],
    ['WIDGETS INC', ['WIDGETS', 'WIDGETSINC']],
    ['&', []],
    ['', []],
  ])('of %j are %j', (name, forms) => {
    expect(businessNameKeys(name)).toEqual(forms);
  });
});

test('the words of a trade name are split at blanks and hyphens, not at periods and apostrophes', () => {
  expect(tradeNameWords('The A.B.C. Hair-Cuts & Joe\u2019s #2, LLC')).toEqual([
    'ABC',
    'HAIR',
    'CUTS',
    'JOES',
    '2',
  ]);
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
    ['THE GROOMERY', 'GROOMERY'],
    ['ACME PHARMACY, LLC', 'ACMEPHARMACY'],
    ['ACME PHARMACY L.L.C.', 'ACMEPHARMACY'],
    ['ACME CO., INC.', 'ACME'],
    ['SMITH & SONS', 'SMITHSONS'],
    ['SMITH AND SONS', 'SMITHSONS'],
    ['SMITH and SONS, Inc', 'SMITHSONS'],
    ['A&P', 'AP'],
    ["MARY'S SALON", 'MARYSSALON'],
    ['MARY\u2019S SALON', 'MARYSSALON'],
    ['A.B.C. HAIR', 'ABCHAIR'],
    ['E-Z CUTS', 'EZCUTS'],
    ['CAF\u00c9 DE NU\u00d1EZ', 'CAFEDENUNEZ'],
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

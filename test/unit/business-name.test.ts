import { describe, expect, test } from '@jest/globals';
import {
  businessNameKeys,
  hasSearchedWords,
  matchesBusinessName,
  searchedWords,
  tradeNameKey,
  tradeNameKeyWithLegalForm,
  tradeNames,
  tradeNameWords,
} from '../../src/licenses/business-name.ts';

describe('matchesBusinessName', () => {
  const ACME = "THE ACME & SONS LLC D.B.A JOE'S DRUGS #2";

  test.each([
    'Acme',
    'the acme and sons',
    'ACME & SONS, L.L.C.',
    'acme sons inc',
    'Acme & Sons LL',
    'joes',
    "Joe's Drugs",
    'joe\u2019s drugs 2 LLC',
    "The Acme & Sons LLC D.B.A Joe's Drugs #2",
    'acme sons llc dba joes',
    'Sons',
    'drugs',
    'Sons, Acme',
    "Acme & Sons Joe's Drugs",
    'the Acme & Sons, the drugs',
    'Joe & Sons',
    'Drugs dba Sons',
    'dru so',
    'Jo?s',
    '2',
  ])('finds the business by %j', (typed) => {
    expect(matchesBusinessName(ACME, typed)).toBe(true);
  });

  test.each([
    '',
    '&',
    '*',
    'ons',
    'rugs',
    'Acme Daughters',
    'Sons of Acme',
    'Sonss',
    'Acne & Sons',
    'Jo?z',
    'LLC',
    'DBA',
    'd.b.a.',
    'DBA &',
  ])('does not find it by %j', (typed) => {
    expect(matchesBusinessName(ACME, typed)).toBe(false);
  });

  test.each([
    ['SMITH CO PHARMACY', 'Smith Pharmacy'],
    ['ACME LLC OF LIMA', 'acme of lima'],
    ['ACME LLC D.B.A WIDGETS', 'Acme Widgets'],
    ['OVER THE TOP SALON', 'Over Top Salon'],
  ])('finds %j by %j, an inner word left out', (name, typed) => {
    expect(matchesBusinessName(name, typed)).toBe(true);
  });

  test.each(['', '&', 'LLC', 'D.B.A'])('of %j, which is no name, is nothing', (name) => {
    expect(matchesBusinessName(name, '*')).toBe(false);
    expect(matchesBusinessName(name, 'Acme')).toBe(false);
  });
});

describe('hasSearchedWords', () => {
  const CORNER = 'THE CORNER APOTHECARY LLC D.B.A SMITH & WESTON DRUGS #4';

  test.each([
    'corner',
    'Apothecary, Corner',
    'apoth corn',
    'Weston & Smith',
    'corner drugs',
    'the Weston the Smith',
    'Smith Smith',
    'smi s',
    'drugs 4',
    'weston dba corner',
  ])('is so for %j: each is the beginning of a word', (typed) => {
    expect(hasSearchedWords(CORNER, typed)).toBe(true);
  });

  test.each([
    'orner',
    'corners',
    'Corner Store',
    'cornerapothecary',
    'smithweston',
    'Smith of Weston',
    'Corner LLC x',
  ])('is not so for %j', (typed) => {
    expect(hasSearchedWords(CORNER, typed)).toBe(false);
  });

  test.each([
    ['ACME LLC', 'LLC', false],
    ['LLC SUPPLIES', 'LLC', true],
    ['ACME LLC', 'Acme Inc', true],
    ['CAF\u00c9 RX', 'rx cafe', true],
    ['THE THERAPY PLACE', 'the', true],
    ['ACME PLACE', 'the', false],
    ['', 'Acme', false],
  ])('of %j by %j is %s', (name, typed, expected) => {
    expect(hasSearchedWords(name, typed)).toBe(expected);
  });
});

describe('searchedWords', () => {
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
  ])('of %j are %j', (typed, words) => {
    expect(searchedWords(typed)).toEqual(words);
  });
});

describe('businessNameKeys', () => {
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

describe('tradeNameWords', () => {
  test.each([
    ['THE ACME & SONS, LLC', ['ACME', 'SONS']],
    ['Joe\u2019s Drugs #2', ['JOES', 'DRUGS', '2']],
    ['A.B.C. Hair-Cuts', ['ABC', 'HAIR', 'CUTS']],
    ['Caf\u00e9 and Nails', ['CAFE', 'NAILS']],
    ['Over the Top', ['OVER', 'THE', 'TOP']],
    ['Company Store Co Inc', ['COMPANY', 'STORE']],
    ['LLC', ['LLC']],
    ['the', ['THE']],
    ['acme*', ['ACME']],
    ['&', []],
    [' ?! ', []],
    ['', []],
  ])('of %j are %j', (name, words) => {
    expect(tradeNameWords(name)).toEqual(words);
  });
});

describe('tradeNames', () => {
  test.each([
    ['ACME LLC', ['ACME LLC']],
    ['ACME LLC D.B.A WIDGETS', ['ACME LLC', 'WIDGETS']],
    ['ACME LLC D.B.A. WIDGETS', ['ACME LLC', 'WIDGETS']],
    ['ACME LLC DBA WIDGETS', ['ACME LLC', 'WIDGETS']],
    ['ACME LLC D/B/A WIDGETS', ['ACME LLC', 'WIDGETS']],
    ['Acme Llc d.b.a Widgets', ['Acme Llc', 'Widgets']],
    ['ACME  D.B.A   WIDGETS ', ['ACME', 'WIDGETS']],
    ['ACME D.B.A WIDGETS DBA GADGETS', ['ACME', 'WIDGETS', 'GADGETS']],
    ['DBA WIDGETS', ['WIDGETS']],
    ['ACME D.B.A', ['ACME']],
    ['DBASE SOFTWARE', ['DBASE SOFTWARE']],
    ['THE DBASE SHOP', ['THE DBASE SHOP']],
    ['BADBAD DOG', ['BADBAD DOG']],
    ['MELDBA SALON', ['MELDBA SALON']],
    ['ACME DXBXA WIDGETS', ['ACME DXBXA WIDGETS']],
    ['', []],
  ])('of %j are %j', (name, names) => {
    expect(tradeNames(name)).toEqual(names);
  });
});

describe('tradeNameKey', () => {
  test.each([
    ['THE GROOMERY', 'GROOMERY'],
    ['The Groomery', 'GROOMERY'],
    ['ACME PHARMACY, LLC', 'ACMEPHARMACY'],
    ['ACME PHARMACY L.L.C.', 'ACMEPHARMACY'],
    ['ACME CO., INC.', 'ACME'],
    ['ACME CO LTD', 'ACME'],
    ['SMITH & SONS', 'SMITHSONS'],
    ['SMITH AND SONS', 'SMITHSONS'],
    ['SMITH and SONS, Inc', 'SMITHSONS'],
    ['A & P', 'AP'],
    ['A&P', 'AP'],
    ["MARY'S SALON", 'MARYSSALON'],
    ['MARY\u2019S SALON', 'MARYSSALON'],
    ['MARYS SALON', 'MARYSSALON'],
    ['A.B.C. HAIR', 'ABCHAIR'],
    ['E-Z CUTS', 'EZCUTS'],
    ['CAF\u00c9 DE NU\u00d1EZ', 'CAFEDENUNEZ'],
    ['7 DAY CLINIC #2', '7DAYCLINIC2'],
    ['\u5c0f\u660e LLC', '\u5c0f\u660e'],
  ])('of %j is %j', (name, key) => {
    expect(tradeNameKey(name)).toBe(key);
  });

  test.each([
    ['COMPANY STORE INC', 'COMPANYSTORE'],
    ['INC SPOT', 'INCSPOT'],
    ['LIMITED EDITION HAIR', 'LIMITEDEDITIONHAIR'],
    ['SMITH CO PHARMACY', 'SMITHCOPHARMACY'],
    ['ZINC', 'ZINC'],
    ['TEXACO', 'TEXACO'],
  ])('of %j keeps a legal form that is not at the end', (name, key) => {
    expect(tradeNameKey(name)).toBe(key);
  });

  test.each([
    ['OVER THE TOP', 'OVERTHETOP'],
    ['THEODORE LLC', 'THEODORE'],
    ['ANDERSON & ANDERSON', 'ANDERSONANDERSON'],
    ['BANDAID', 'BANDAID'],
  ])('of %j keeps THE and AND where they are no such word or not at the start', (name, key) => {
    expect(tradeNameKey(name)).toBe(key);
  });

  test.each([
    ['THE', 'THE'],
    ['AND', 'AND'],
    ['THE COMPANY', 'COMPANY'],
    ['THE & CO', 'CO'],
    ['LLC', 'LLC'],
    ['INC LLC', 'INC'],
    ['AND THE', 'THE'],
  ])('of %j, made only of such words, is not empty', (name, key) => {
    expect(tradeNameKey(name)).toBe(key);
  });

  test.each(['', ' ', '&', '***', '"?"', '...'])('of %j, without letter or digit, is empty', (name) => {
    expect(tradeNameKey(name)).toBe('');
  });

  test('with the legal form kept goes on from the key without it', () => {
    expect(tradeNameKeyWithLegalForm('The Acme & Sons, L.L.C.')).toBe('ACMESONSLLC');
    expect(tradeNameKeyWithLegalForm('The Acme & Sons')).toBe(tradeNameKey('The Acme & Sons'));
  });
});

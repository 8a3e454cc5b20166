import { describe, expect, test } from '@jest/globals';
import {
  hasWordsOf,
  holderName,
  isHoldersName,
  isTradeName,
  tradeNameForms,
  tradeNameKey,
  tradeNameKeyWithLegalForm,
  tradeNames,
  tradeNameWords,
  typedBusinessWords,
  typedGiven,
  typedSurname,
} from '../../src/licenses/name.ts';

describe('holderName', () => {
  test.each([
    ['SMITH, JOHN Q', 'SMITH', ['SMITH'], 'JOHNQ'],
    ['DE LA CRUZ, MARIA', 'DELACRUZ', ['DELACRUZ'], 'MARIA'],
    ['ST. JOHN, MARY ANN', 'STJOHN', ['STJOHN'], 'MARYANN'],
    ["O'BRIEN JR, PAT", 'OBRIEN', ['OBRIEN'], 'PAT'],
    ['O\u2019BRIEN, PAT', 'OBRIEN', ['OBRIEN'], 'PAT'],
    ['O\u02bcBRIEN, PAT', 'OBRIEN', ['OBRIEN'], 'PAT'],
    ['SMITH , JOHN', 'SMITH', ['SMITH'], 'JOHN'],
    ['SMITH SR. , JOHN', 'SMITH', ['SMITH'], 'JOHN'],
    ['SMITH,JOHN', 'SMITH', ['SMITH'], 'JOHN'],
    ['SMITH,', 'SMITH', ['SMITH'], ''],
    ['MADONNA', 'MADONNA', ['MADONNA'], ''],
    ['MU\u00d1OZ, JOS\u00c9', 'MUNOZ', ['MUNOZ'], 'JOSE'],
    ['\u00d8STERG\u00c5RD, S\u00d8REN', 'OSTERGARD', ['OSTERGARD'], 'SOREN'],
    ['\u0141UCZAK, \u0141UCJA', 'LUCZAK', ['LUCZAK'], 'LUCJA'],
    ['Wei\u00df, Ute', 'WEISS', ['WEISS'], 'UTE'],
    ['\u738b, \u5c0f\u660e', '\u738b', ['\u738b'], '\u5c0f\u660e'],
    [', JOHN', '', [], 'JOHN'],
    ['', '', [], ''],
  ])('folds %j to the surname %j', (name, surname, surnameForms, given) => {
    expect(holderName(name)).toEqual({ surname, surnameForms, given });
  });

  test.each(['JR', 'SR', 'II', 'III', 'IV', 'Jr.', 'jr'])(
    'leaves the generational suffix %s off the surname',
    (suffix) => {
      expect(holderName(`SMITH ${suffix}, JOHN`).surname).toBe('SMITH');
    },
  );

  test.each([
    ['JR, PAT', 'JR'],
    ['III', 'III'],
    ['JR SMITH, PAT', 'JRSMITH'],
    ['SMITHIII, PAT', 'SMITHIII'],
    ['IVY, PAT', 'IVY'],
    ['DE LA IV ROSA, PAT', 'DELAIVROSA'],
    ['DE IV ROSA, PAT', 'DEIVROSA'],
    [' JR, PAT', 'JR'],
    ['- JR, PAT', 'JR'],
  ])('takes nothing off the surname of %j, where it is no suffix', (name, surname) => {
    expect(holderName(name).surname).toBe(surname);
  });

  test.each([
    ['SMITH-JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH - JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH\u2010JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH\u2011JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH\u2013JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH\u2212JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH-JONES III, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ["O'BRIEN-DE LA CRUZ, ANN", ['OBRIENDELACRUZ', 'OBRIEN', 'DELACRUZ']],
    ['A-B-C, ANN', ['ABC', 'A', 'B', 'C']],
    ['SMITH-SMITH, ANN', ['SMITHSMITH', 'SMITH']],
    ['SMITH-, ANN', ['SMITH']],
    ['-, ANN', []],
  ])('finds %j by the whole surname and by each half', (name, forms) => {
    expect(holderName(name).surnameForms).toEqual(forms);
  });

  test('does not split given names at hyphens', () => {
    expect(holderName('SMITH, ANNE-MARIE').given).toBe('ANNEMARIE');
  });
});

describe('typedSurname', () => {
  test.each([
    ["O'BRIEN, PAT", ['obrien', "O'Brien", 'O\u2019Brien', 'O Brien', "o'brien jr", 'O\u02bcBrien']],
    ["O'BRIEN JR, PAT", ['obrien', "O'Brien Jr.", "O'Brien, Jr", "O'Brien Jr,"]],
    ['DE LA CRUZ, ANA', ['de la cruz', 'Delacruz', 'DeLaCruz', ' DE  LA CRUZ ']],
    ['ST. JOHN, ANA', ['St John', 'st. john', 'StJohn']],
    ['SMITH-JONES, ANA', ['smith jones', 'Smith-Jones', 'Smith\u2013Jones', 'smithjones', 'Smith', 'jones']],
    ['MU\u00d1OZ, ANA', ['munoz', 'Mu\u00f1oz', 'Mun\u0303oz']],
    ['JR, PAT', ['jr', 'Jr.']],
  ])('finds %j however it is typed: %j', (name, typed) => {
    const { surnameForms } = holderName(name);
    for (const surname of typed) expect(surnameForms).toContain(typedSurname(surname));
  });

  test.each(['Obrie', 'Obriens', 'Brien', 'O*', "O'B?"])(
    "does not find O'BRIEN by %j: surnames are whole",
    (typed) => {
      expect(holderName("O'BRIEN, PAT").surnameForms).not.toContain(typedSurname(typed));
    },
  );

  test.each(['', ' ', '*', '-', "'", '?!', '"', '\u2019'])('is empty for %j', (typed) => {
    expect(typedSurname(typed)).toBe('');
  });
});

describe('typedGiven', () => {
  test.each([
    ['Mary Ann', 'MARYANN'],
    ['mary-ann', 'MARYANN'],
    [' Mary  A. ', 'MARYA'],
    ['Jos\u00e9', 'JOSE'],
    ["D'Andre", 'DANDRE'],
    ['John Jr', 'JOHN'],
    ['John, Jr.', 'JOHN'],
    ['John Q III', 'JOHNQ'],
    ['Jr', 'JR'],
    ['IV', 'IV'],
    ['Johniii', 'JOHNIII'],
    ['Jr John', 'JRJOHN'],
    ['', ''],
    ['*', ''],
    [' - ', ''],
  ])('of %j is %j', (typed, given) => {
    expect(typedGiven(typed)).toBe(given);
  });

  test.each([
    'SMITH, JOHN Q',
    'SMITH JR, JOHN Q',
    'SMITH, JOHN Q JR',
    'SMITH, JOHN Q., III',
    'SMITH, JOHN Q,',
  ])('is what the given names of %j fold to', (name) => {
    expect(holderName(name).given).toBe(typedGiven('john q'));
  });
});

describe('isHoldersName', () => {
  const CRUZ = 'DE LA CRUZ, MARIA ELENA';
  const JONES = 'SMITH-JONES III, MARY ANN';

  test.each<[string, string | undefined, string | undefined]>([
    [CRUZ, 'de la cruz', undefined],
    [CRUZ, 'Delacruz', 'Mar\u00eda'],
    [CRUZ, 'DE LA CRUZ', 'maria elena'],
    [CRUZ, 'De la Cruz', 'mariaelena'],
    [CRUZ, 'De la Cruz', 'M'],
    [CRUZ, 'de la cruz jr', 'Maria E. III'],
    [JONES, 'Smith-Jones', 'mary-a'],
    [JONES, 'smith jones', undefined],
    [JONES, 'Smith', 'maryann'],
    [JONES, 'Jones', 'Mary'],
    [JONES, 'Smith-Jones Jr.', 'Mary Ann'],
    [CRUZ, undefined, 'maria'],
    [CRUZ, undefined, 'Mar\u00eda E.'],
    [CRUZ, undefined, 'M'],
    [CRUZ, undefined, 'Maria Elena III'],
    [JONES, undefined, 'Mary-Ann'],
    [', MARY', undefined, 'Mary'],
    ["O'BRIEN JR , PAT", 'O\u2019Brien', 'pat'],
    ['MADONNA', 'madonna', undefined],
    ['MU\u00d1OZ, JOS\u00c9', 'munoz', 'jose'],
  ])('of %j is what was typed: %j, %j', (name, lastName, firstName) => {
    expect(isHoldersName(name, lastName, firstName)).toBe(true);
  });

  test.each<[string, string | undefined, string | undefined]>([
    [CRUZ, 'Cruz', undefined],
    [CRUZ, 'de la cruzes', undefined],
    [CRUZ, 'Smith', 'Maria'],
    [CRUZ, 'de la cruz', 'elena'],
    [CRUZ, 'de la cruz', 'maria elena sofia'],
    [CRUZ, 'de la cruz', 'mariana'],
    [CRUZ, 'Maria', 'de la Cruz'],
    [JONES, 'Jones-Smith', undefined],
    [JONES, 'Jone', undefined],
    [JONES, 'Smith', 'Ann'],
    ['SMITH, MARY', 'Smith-Jones', 'Mary'],
    ['SMITH, MARY', '*', undefined],
    ['SMITH, MARY', '', undefined],
    ['SMITH, MARY', 'Smith', '*'],
    [', MARY', '-', 'Mary'],
    ['MADONNA', 'madonna', 'm'],
    [CRUZ, undefined, 'Elena'],
    [CRUZ, undefined, 'Mariana'],
    [CRUZ, undefined, 'de la Cruz'],
    [CRUZ, undefined, '*'],
    [CRUZ, undefined, ''],
    ['MADONNA', undefined, 'Madonna'],
  ])('of %j is not what was typed: %j, %j', (name, lastName, firstName) => {
    expect(isHoldersName(name, lastName, firstName)).toBe(false);
  });
});

describe('isTradeName', () => {
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
    expect(isTradeName(ACME, typed)).toBe(true);
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
    expect(isTradeName(ACME, typed)).toBe(false);
  });

  test.each([
    ['SMITH CO PHARMACY', 'Smith Pharmacy'],
    ['ACME LLC OF LIMA', 'acme of lima'],
    ['ACME LLC D.B.A WIDGETS', 'Acme Widgets'],
    ['OVER THE TOP SALON', 'Over Top Salon'],
  ])('finds %j by %j, an inner word left out', (name, typed) => {
    expect(isTradeName(name, typed)).toBe(true);
  });

  test.each(['', '&', 'LLC', 'D.B.A'])('of %j, which is no name, is nothing', (name) => {
    expect(isTradeName(name, '*')).toBe(false);
    expect(isTradeName(name, 'Acme')).toBe(false);
  });
});

describe('hasWordsOf', () => {
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
    expect(hasWordsOf(CORNER, typed)).toBe(true);
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
    expect(hasWordsOf(CORNER, typed)).toBe(false);
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
    expect(hasWordsOf(name, typed)).toBe(expected);
  });
});

describe('typedBusinessWords', () => {
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
    expect(typedBusinessWords(typed)).toEqual(words);
  });
});

describe('tradeNameForms', () => {
  test.each([
    ['ACME LLC D.B.A WIDGETS', ['ACME', 'ACMELLC', 'WIDGETS', 'ACMELLCDBAWIDGETS']],
    ['THE WIDGETS', ['WIDGETS']],
    ['WIDGETS INC', ['WIDGETS', 'WIDGETSINC']],
    ['&', []],
    ['', []],
  ])('of %j are %j', (name, forms) => {
    expect(tradeNameForms(name)).toEqual(forms);
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

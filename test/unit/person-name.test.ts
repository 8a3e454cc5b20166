import { describe, expect, test } from '@jest/globals';
import {
  firstGivenName,
  foldPersonName,
  fullName,
  givenNames,
  givenNamesKey,
  hasLegalForm,
  holderKeys,
  holderToSearch,
  isNamed,
  matchesPersonName,
  nameParts,
  nameToSearch,
  personParts,
  readTypedPerson,
  surnameKey,
} from '../../src/licenses/names.ts';

describe('the surname of a holder', () => {
  test.each([
    ...[
      'JR',
      'SR',
      'II',
      'III',
      'IV',
      'V',
      'VI',
      'Jr.',
      'jr',
      '1ST',
      '2nd',
      '3RD',
      '4TH',
      '5TH.',
      'J\u200bR',
    ],
    ...[', JR', ', 3RD', ' JR.,'],
  ])('does not include the suffix %s', (suffix) => {
    expect(foldPersonName(`SMITH ${suffix}, JOHN`).surname).toBe('SMITH');
  });

  test.each([
    ['JR SMITH, PAT', 'JRSMITH'],
    ['SMITHIII, PAT', 'SMITHIII'],
    ['IVY, PAT', 'IVY'],
    ['DE LA IV ROSA, PAT', 'DELAIVROSA'],
    [' JR, PAT', 'JR'],
    ['- JR, PAT', 'JR'],
    ['SMITH V', 'SMITHV'],
    ['SMITH V, -', 'SMITHV'],
    ['V, PAT', 'V'],
    ['SMITHV, PAT', 'SMITHV'],
    ['SMITH 6TH, PAT', 'SMITH6TH'],
  ])('of %j includes a suffix that is not at its end or is all of it', (name, surname) => {
    expect(foldPersonName(name).surname).toBe(surname);
  });

  test.each([
    ['SMITH - JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH\u2013JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ['SMITH\u2212JONES, ANN', ['SMITHJONES', 'SMITH', 'JONES']],
    ["O'BRIEN-DE LA CRUZ, ANN", ['OBRIENDELACRUZ', 'OBRIEN', 'DELACRUZ']],
    ['A-B-C, ANN', ['ABC', 'A', 'B', 'C']],
    ['SMITH-SMITH, ANN', ['SMITHSMITH', 'SMITH']],
    ['SMITH-, ANN', ['SMITH']],
  ])('is found by the whole and by each half: %j', (name, forms) => {
    expect(foldPersonName(name).surnameForms).toEqual(forms);
  });

  test.each([
    ['ST. JOHN, ANN', 'STJOHN'],
    ['ST.JOHN, ANN', 'STJOHN'],
    ['SAINT JOHN JR, ANN', 'SAINTJOHN'],
    ['ste marie, ann', 'STEMARIE'],
    ['SAINTE-MARIE, ANN', 'SAINTEMARIE'],
  ])('has each way of writing Saint, as it is written first: %j', (name, written) => {
    const rest = written.replace(/^(SAINTE?|STE?)/, '');
    const { surnameForms } = foldPersonName(name);
    expect(surnameForms[0]).toBe(written);
    expect(surnameForms).toEqual(
      expect.arrayContaining(['ST', 'STE', 'SAINT', 'SAINTE'].map((word) => word + rest)),
    );
  });

  test.each(['STEWART, ANN', 'STONE-ST, ANN', 'SAINT, ANN', 'ST, ANN', 'BEST JOHN, ANN', 'SAINTJOHN, ANN'])(
    'of %j has no word for Saint',
    (name) => {
      const folded = name.slice(0, name.indexOf(',')).replace(/[ -]/g, '');
      expect(foldPersonName(name).surnameForms.filter((form) => form.length >= folded.length)).toEqual([
        folded,
      ]);
    },
  );

  test.each([
    ['GARCIA LOPEZ, ANA', ['GARCIA', 'LOPEZ']],
    ['DE LA CRUZ GARCIA III, ANA', ['DELACRUZ', 'GARCIA']],
    ['GARCIA DE LA CRUZ, ANA', ['GARCIA', 'DELACRUZ']],
    ['GARCIA LOPEZ-PEREZ, ANA', ['GARCIA', 'LOPEZ']],
    ['ORTEGA Y GASSET, ANA', ['ORTEGA', 'GASSET']],
    ['ST. JOHN SMITH, ANA', ['STJOHN', 'SMITH']],
    ...[
      'DE LA CRUZ',
      'MC DONALD',
      "O' NEAL",
      'VAN DER BERG',
      'ST. JOHN',
      'SMITH',
      'SMITH-JONES',
      'SMITH JR',
    ].map((surname) => [`${surname}, ANA`, []] as const),
    ['GARCIA LOPEZ', []],
  ])('of several words has halves: %j', (name, halves) => {
    expect(foldPersonName(name).halves).toEqual(halves);
  });

  test.each([
    ['KING V, MARTIN LEE', ['KING/MARTINLEE', 'KING/MARTINLEEV', 'KINGV/MARTINLEE']],
    ['KING VI, MARTIN', ['KING/MARTIN', 'KING/MARTINVI', 'KINGVI/MARTIN']],
    ['KING JR, MARTIN', ['KING/MARTIN']],
    ['KING, MARTIN V', ['KING/MARTINV']],
    ['GARCIA LOPEZ, ANA', ['GARCIALOPEZ/ANA', 'GARCIA-/ANA', 'LOPEZ-/ANA']],
  ])('makes the keys of the holder: %j', (name, keys) => {
    expect(holderKeys('NUR', foldPersonName(name))).toEqual(keys.map((key) => `NUR/${key}`));
  });
});

describe("a holder's name", () => {
  test.each([
    ['SMITH, JR, MARY', 'SMITH, JR', 'MARY'],
    ['SMITH,III,MARY ANN', 'SMITH,III', 'MARY ANN'],
    ['SMITH, IVY, MARY', 'SMITH', 'IVY, MARY'],
    ['SMITH, MARY, JR', 'SMITH', 'MARY, JR'],
    ['SMITH, V, MARY', 'SMITH, V', 'MARY'],
    ['SMITH, 2ND, MARY', 'SMITH, 2ND', 'MARY'],
    ['SM\u00adITH\ufeff, \u200eMARY\u0000', 'SMITH', 'MARY'],
    ['SMITH,, MARY', 'SMITH', ', MARY'],
    ['', '', ''],
  ])('%j is split at the comma before the given names', (name, last, given) => {
    expect(nameParts(name)).toEqual({ last, given });
  });
});

/** What each reader of a holder's name makes of it. */
interface Read {
  /** As responses show it. */
  readonly shown: string;
  readonly surnames: readonly string[];
  readonly given: string;
  /** What finds the holder: the last name, and the given names; nothing where the surname has no letter or digit. */
  readonly search: readonly [lastName: string, firstName?: string] | undefined;
  /** As it is suggested to somebody who searched for another name. */
  readonly suggested: string;
  /** What people type who mean the holder. */
  readonly typed: readonly (readonly [lastName: string, firstName?: string])[];
}

const ODD_NAMES: Readonly<Record<string, Read>> = {
  'SMITH,MARY': {
    ...{ shown: 'SMITH,MARY', surnames: ['SMITH'], given: 'MARY' },
    ...{ search: ['SMITH', 'MARY'], suggested: 'SMITH, MARY' },
    typed: [['smith'], ['Smith', 'Mary'], ['Smith', 'M']],
  },
  'SMITH , MARY ANN': {
    ...{ shown: 'SMITH, MARY ANN', surnames: ['SMITH'], given: 'MARYANN' },
    ...{ search: ['SMITH', 'MARY ANN'], suggested: 'SMITH, MARY' },
    typed: [
      ['Smith', 'Mary Ann'],
      ['Smith', 'Mary-Ann'],
      ['Smith', 'Mary A.'],
    ],
  },
  'KING JR , MARTIN LEE': {
    ...{ shown: 'KING JR, MARTIN LEE', surnames: ['KING'], given: 'MARTINLEE' },
    ...{ search: ['KING JR', 'MARTIN LEE'], suggested: 'KING, MARTIN' },
    typed: [
      ['King', 'Martin'],
      ['King Jr.', 'Martin'],
      ['King, Jr', 'Martin Lee'],
      ['King', 'Martin Jr'],
    ],
  },
  'KING, MARTIN SR': {
    ...{ shown: 'KING, MARTIN SR', surnames: ['KING'], given: 'MARTIN' },
    ...{ search: ['KING', 'MARTIN SR'], suggested: 'KING, MARTIN' },
    typed: [
      ['King', 'Martin'],
      ['King Sr', 'Martin'],
    ],
  },
  'KING V, MARTIN LEE': {
    ...{ shown: 'KING V, MARTIN LEE', surnames: ['KING'], given: 'MARTINLEE' },
    ...{ search: ['KING V', 'MARTIN LEE'], suggested: 'KING, MARTIN' },
    typed: [
      ['King'],
      ['King V'],
      ['King V', 'Martin'],
      ['King', 'Martin V'],
      ['King', 'Martin L. V'],
      ['King Jr', 'Martin'],
      ['King 5th', 'Martin'],
    ],
  },
  'KING 3RD, MARTIN': {
    ...{ shown: 'KING 3RD, MARTIN', surnames: ['KING'], given: 'MARTIN' },
    ...{ search: ['KING 3RD', 'MARTIN'], suggested: 'KING, MARTIN' },
    typed: [['King'], ['King III', 'Martin'], ['King', 'Martin 3rd'], ['King, 3rd']],
  },
  'KING, MARTIN V': {
    ...{ shown: 'KING, MARTIN V', surnames: ['KING'], given: 'MARTINV' },
    ...{ search: ['KING', 'MARTIN V'], suggested: 'KING, MARTIN' },
    typed: [
      ['King', 'Martin'],
      ['King V', 'Martin'],
      ['King', 'Martin Victor'],
      ['King', 'Martin Luther'],
    ],
  },
  'QZKLEIN, V': {
    ...{ shown: 'QZKLEIN, V', surnames: ['QZKLEIN'], given: 'V' },
    ...{ search: ['QZKLEIN', 'V'], suggested: 'QZKLEIN, V' },
    typed: [['Qzklein', 'V'], ['Qzklein']],
  },
  'SMITH, JR, MARY': {
    ...{ shown: 'SMITH, JR, MARY', surnames: ['SMITH'], given: 'MARY' },
    ...{ search: ['SMITH, JR', 'MARY'], suggested: 'SMITH, MARY' },
    typed: [
      ['Smith', 'Mary'],
      ['Smith Jr', 'Mary'],
    ],
  },
  'SMITH, MARY, ANN': {
    ...{ shown: 'SMITH, MARY, ANN', surnames: ['SMITH'], given: 'MARYANN' },
    ...{ search: ['SMITH', 'MARY, ANN'], suggested: 'SMITH, MARY' },
    typed: [
      ['Smith', 'Mary'],
      ['Smith', 'Mary Ann'],
    ],
  },
  'SMITH,, MARY': {
    ...{ shown: 'SMITH,, MARY', surnames: ['SMITH'], given: 'MARY' },
    ...{ search: ['SMITH', ', MARY'], suggested: 'SMITH, MARY' },
    typed: [['Smith', 'Mary']],
  },
  MADONNA: {
    ...{ shown: 'MADONNA', surnames: ['MADONNA'], given: '' },
    ...{ search: ['MADONNA'], suggested: 'MADONNA' },
    typed: [['Madonna']],
  },
  'MADONNA III': {
    ...{ shown: 'MADONNA III', surnames: ['MADONNA'], given: '' },
    ...{ search: ['MADONNA III'], suggested: 'MADONNA' },
    typed: [['Madonna'], ['Madonna III']],
  },
  'SMITH,': {
    ...{ shown: 'SMITH,', surnames: ['SMITH'], given: '' },
    ...{ search: ['SMITH'], suggested: 'SMITH' },
    typed: [['Smith']],
  },
  'SMITH, -': {
    ...{ shown: 'SMITH, -', surnames: ['SMITH'], given: '' },
    ...{ search: ['SMITH'], suggested: 'SMITH' },
    typed: [['Smith']],
  },
  'DE LA CRUZ, ANA MARÍA': {
    ...{ shown: 'DE LA CRUZ, ANA MARÍA', surnames: ['DELACRUZ'], given: 'ANAMARIA' },
    ...{ search: ['DE LA CRUZ', 'ANA MARÍA'], suggested: 'DE LA CRUZ, ANA' },
    typed: [['de la Cruz', 'Ana'], ['Delacruz', 'ana maria'], ['De La Cruz']],
  },
  'SMITH-JONES II, ANN-MARIE': {
    ...{ shown: 'SMITH-JONES II, ANN-MARIE', surnames: ['SMITHJONES', 'SMITH', 'JONES'], given: 'ANNMARIE' },
    ...{ search: ['SMITH-JONES II', 'ANN-MARIE'], suggested: 'SMITH-JONES, ANN-MARIE' },
    typed: [['Smith-Jones', 'Ann'], ['Smith', 'Annmarie'], ['Jones', 'Ann Marie'], ['Smith Jones']],
  },
  "O'BRIEN IV, D'ANDRE": {
    ...{ shown: "O'BRIEN IV, D'ANDRE", surnames: ['OBRIEN'], given: 'DANDRE' },
    ...{ search: ["O'BRIEN IV", "D'ANDRE"], suggested: "O'BRIEN, D'ANDRE" },
    typed: [
      ['OBrien', 'Dandre'],
      ['O\u2019Brien', 'D\u2019Andre'],
      ["O'Brien IV", 'D'],
    ],
  },
  'ST. JOHN, MARY': {
    ...{ shown: 'ST. JOHN, MARY', surnames: ['STJOHN'], given: 'MARY' },
    ...{ search: ['ST. JOHN', 'MARY'], suggested: 'ST. JOHN, MARY' },
    typed: [
      ['St John', 'Mary'],
      ['StJohn'],
      ['ST. JOHN'],
      ['Saint John', 'Mary'],
      ['SaintJohn'],
      ['saint-john'],
      ['Ste. John'],
    ],
  },
  'SAINT JOHN, MARY': {
    ...{ shown: 'SAINT JOHN, MARY', surnames: ['SAINTJOHN'], given: 'MARY' },
    ...{ search: ['SAINT JOHN', 'MARY'], suggested: 'SAINT JOHN, MARY' },
    typed: [['St John', 'Mary'], ['St.John'], ['Saint John'], ['StJohn']],
  },
  'STJOHN, MARY': {
    ...{ shown: 'STJOHN, MARY', surnames: ['STJOHN'], given: 'MARY' },
    ...{ search: ['STJOHN', 'MARY'], suggested: 'STJOHN, MARY' },
    typed: [['St. John', 'Mary'], ['Saint John']],
  },
  'SMI\u00adTH, MA\u200bRY\ufeff ANN': {
    ...{ shown: 'SMI\u00adTH, MA\u200bRY\ufeff ANN', surnames: ['SMITH'], given: 'MARYANN' },
    ...{ search: ['SMITH', 'MARY ANN'], suggested: 'SMITH, MARY' },
    typed: [
      ['Smith', 'Mary Ann'],
      ['\u200eSm\u0000ith', 'Ma\u2060ry'],
    ],
  },
  'MUÑOZ-PEÑA, JOSÉ': {
    ...{ shown: 'MUÑOZ-PEÑA, JOSÉ', surnames: ['MUNOZPENA', 'MUNOZ', 'PENA'], given: 'JOSE' },
    ...{ search: ['MUÑOZ-PEÑA', 'JOSÉ'], suggested: 'MUÑOZ-PEÑA, JOSÉ' },
    typed: [['Munoz', 'Jose'], ['Pena'], ['Mun\u0303oz-Pen\u0303a', 'Jose\u0301']],
  },
  // The State hides places, not names: this is a name like any other.
  HIDDEN: {
    ...{ shown: 'HIDDEN', surnames: ['HIDDEN'], given: '' },
    ...{ search: ['HIDDEN'], suggested: 'HIDDEN' },
    typed: [['Hidden']],
  },
  'JR, PAT': {
    ...{ shown: 'JR, PAT', surnames: ['JR'], given: 'PAT' },
    ...{ search: ['JR', 'PAT'], suggested: 'JR, PAT' },
    typed: [['Jr', 'Pat']],
  },
  '-': { ...nobody('-'), suggested: '-' },
  '-, MARY': { ...nobody('-, MARY'), given: 'MARY', suggested: '-, MARY' },
  ', MARY': { ...nobody(', MARY'), given: 'MARY', suggested: ', MARY' },
  ',': { ...nobody(','), suggested: '' },
  ' , ': { ...nobody(', '), suggested: '' },
  '': { ...nobody(''), suggested: '' },
};

/** A name by which nobody can be searched for. */
function nobody(shown: string): Omit<Read, 'suggested'> {
  return { shown, surnames: [], given: '', search: undefined, typed: [] };
}

describe.each(Object.entries(ODD_NAMES))('the odd name %j', (name, read) => {
  test('is shown, searched and suggested by the same parts', () => {
    const [lastName, firstName] = read.search ?? [];
    const { surnameForms, given } = foldPersonName(name);
    expect({
      shown: fullName(name),
      // How Saint may be written is tested above.
      surnames: surnameForms.filter((form) => form === surnameForms[0] || !/^(SAINT|ST)/.test(form)),
      given,
      search: holderToSearch(name),
      suggested: nameToSearch(name),
    }).toEqual({
      shown: read.shown,
      surnames: read.surnames,
      given: read.given,
      search: read.search && { lastName, ...(firstName !== undefined && { firstName }) },
      suggested: read.suggested,
    });
    // A record has the name as it is shown.
    expect(foldPersonName(read.shown)).toEqual(foldPersonName(name));
    expect(holderToSearch(read.shown)).toEqual(holderToSearch(name));
  });

  test('is matched by the name that finds its holder, by the suggested name and by what people type', () => {
    const { last, given } = nameParts(read.suggested);
    const suggested = [last, given === '' ? undefined : given] as const;
    for (const [lastName, firstName] of read.search ? [read.search, suggested, ...read.typed] : []) {
      expect([lastName, firstName, matchesPersonName(name, lastName, firstName)]).toEqual([
        ...[lastName, firstName, true],
      ]);
    }
  });

  test('is not matched by blanks and punctuation', () => {
    for (const lastName of ['-', '', ',', ' ']) {
      expect([lastName, matchesPersonName(name, lastName, undefined)]).toEqual([lastName, false]);
    }
  });
});

describe('the given names', () => {
  test.each([
    ['MARY ANN', ['MARY', 'ANN']],
    [' MARY  ANN ', ['MARY', 'ANN']],
    ['MARY, ANN', ['MARY', 'ANN']],
    ['MARY,ANN', ['MARY', 'ANN']],
    [', MARY', ['MARY']],
    ['ANN-MARIE', ['ANN-MARIE']],
    ['', []],
    [' , ', []],
  ])('in %j are %j', (given, names) => {
    expect(givenNames(given)).toEqual(names);
    expect(firstGivenName(given)).toBe(names[0] ?? '');
  });
});

test.each([
  ['Smith, RN', 'SMITH'],
  ['Smith R.N.', 'SMITH'],
  ['Ms. Smith', 'SMITH'],
  ['Smith Jr., RN', 'SMITH'],
  ['Smith Do', 'SMITHDO'],
  ['RN', 'RN'],
  ['Mr', 'MR'],
  ['Smi\u200bth', 'SMITH'],
])('the key of the surname %j is %s', (typed, key) => {
  expect(surnameKey(typed)).toBe(key);
});

test.each(['', ' ', '*', '-', "'", '"', '\u2019'])('the key of the surname %j is empty', (typed) => {
  expect(surnameKey(typed)).toBe('');
});

describe('the key of given names', () => {
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
    ['John 3rd', 'JOHN'],
    ['John V', 'JOHNV'],
    ['V', 'V'],
    ['Jane RN, BSN', 'JANE'],
    ['Ms. Jane', 'JANE'],
    ['Dr.Jane', 'JANE'],
    ['Jane Do', 'JANEDO'],
    ['Jane DO', 'JANE'],
    ['Rev', 'REV'],
    ['Ja\u00adne\u200f', 'JANE'],
    ['', ''],
    ['*', ''],
    [' - ', ''],
  ])('of %j is %j', (typed, given) => {
    expect(givenNamesKey(typed)).toBe(given);
  });
});

describe('a name that was typed', () => {
  const CRUZ = 'DE LA CRUZ, MARIA ELENA';
  const JONES = 'SMITH-JONES III, MARY ANN';

  test.each<[string, string | undefined, string | undefined]>([
    [CRUZ, 'de la cruz jr', 'Maria E. III'],
    [CRUZ, undefined, 'Mar\u00eda E.'],
    [CRUZ, undefined, 'Maria Elena III'],
    [JONES, 'Smith-Jones Jr.', 'mary-a'],
    [JONES, undefined, 'Mary-Ann'],
    [', MARY', undefined, 'Mary'],
    ['GARCIA LOPEZ, MARIA', 'Garcia', 'Maria'],
    ['GARCIA LOPEZ, MARIA', 'Lopez', undefined],
    ['DE LA CRUZ GARCIA, MARIA', 'de la Cruz', 'Maria'],
  ])('for the holder %j matches: %j, %j', (name, lastName, firstName) => {
    expect(matchesPersonName(name, lastName, firstName)).toBe(true);
  });

  test.each<[string, string | undefined, string | undefined]>([
    [CRUZ, 'Cruz', undefined],
    [CRUZ, 'de la cruzes', undefined],
    [CRUZ, 'Smith', 'Maria'],
    [CRUZ, 'de la cruz', 'elena'],
    [CRUZ, 'de la cruz', 'mariana'],
    [CRUZ, 'Maria', 'de la Cruz'],
    [CRUZ, undefined, 'Elena'],
    [CRUZ, undefined, 'de la Cruz'],
    [CRUZ, undefined, '*'],
    [CRUZ, undefined, ''],
    [JONES, 'Jones-Smith', undefined],
    ['SMITH, MARY', 'Smith-Jones', 'Mary'],
    ['SMITH, MARY', '*', undefined],
    ['SMITH, MARY', 'Smith', '*'],
    [', MARY', '-', 'Mary'],
    ['MADONNA', 'madonna', 'm'],
    ['MADONNA', undefined, 'Madonna'],
    ['MADONNA', 'Madonna', '*'],
    ['MADONNA LOUISE', 'Louise', undefined],
    ['DE LA CRUZ GARCIA, MARIA', 'Cruz', 'Maria'],
    ['GARCIA LOPEZ, MARIA', 'Garcia', 'Ana'],
    ['QZKLEIN V, ODA', 'Qzklein V', 'Ida'],
  ])('for the holder %j does not match: %j, %j', (name, lastName, firstName) => {
    expect(matchesPersonName(name, lastName, firstName)).toBe(false);
  });
});

describe('a name typed as a whole', () => {
  test.each([
    ['GARCIA, MARIA', 'GARCIA', 'MARIA'],
    ['Garcia,Maria', 'Garcia', 'Maria'],
    ['Maria Garcia', 'Garcia', 'Maria'],
    ['  Maria   Garcia ', 'Garcia', 'Maria'],
    ['Martin Luther King Jr', 'King Jr', 'Martin Luther'],
    ['KING JR, MARTIN', 'KING JR', 'MARTIN'],
    ['Rosa De La Fuente', 'De La Fuente', 'Rosa'],
    ['Lee Ann Van Der Berg', 'Van Der Berg', 'Lee Ann'],
    ['Garcia, Maria, RN, BSN', 'Garcia', 'Maria'],
    ['Maria Garcia RN', 'Garcia', 'Maria'],
    ['Maria Garcia, R.N., Ph.D., CCRN', 'Garcia', 'Maria'],
    ['GARCIA, MARIA, PMHNP-BC, APRN-CNP', 'GARCIA', 'MARIA'],
    ['Garcia, Maria (RN)', 'Garcia', 'Maria'],
    ['Maria Garcia RN/BSN | CCRN', 'Garcia', 'Maria'],
    ['Maria Garcia DO', 'Garcia', 'Maria'],
    ['GARCIA, MARIA, DO', 'GARCIA', 'MARIA'],
    ['GARCIA, MARIA DO', 'GARCIA', 'MARIA DO'],
    ['Minh Do', 'Do', 'Minh'],
    ['Ms. Maria Garcia', 'Garcia', 'Maria'],
    ['Ms. Garcia, Maria', 'Garcia', 'Maria'],
    ['Garcia, Maria, Mrs.', 'Garcia', 'Maria'],
    ['Garcia, Dr. Maria, MD', 'Garcia', 'Dr. Maria'],
    ['Dr.Maria Garcia', 'Garcia', 'Maria'],
    ['Martin King, Jr.', 'King Jr.', 'Martin'],
    ['Martin King V', 'King V', 'Martin'],
    ['KING V, MARTIN', 'KING V', 'MARTIN'],
    ['Anna Saint John', 'Saint John', 'Anna'],
    ['\u200eMar\u00adia\u200b Gar\ufeffcia', 'Garcia', 'Maria'],
    ['Rev', 'Rev', undefined],
    ['Madonna', 'Madonna', undefined],
    ['Jr', 'Jr', undefined],
  ])('%j is most likely of the surname %j', (typed, lastName, firstName) => {
    expect(personParts(typed)[0]).toEqual(firstName === undefined ? { lastName } : { lastName, firstName });
  });

  test('of blanks or credentials alone is none', () => {
    expect(['', ' ', 'RN', 'RN, BSN'].map(personParts)).toEqual([[], [], [], []]);
  });

  test.each([
    ['GARCIA LOPEZ, MARIA', 'Maria Garcia Lopez', true],
    ['GARCIA LOPEZ, MARIA', 'Garcia Lopez Maria', true],
    ['SMITH, MARY ANN', 'Mary Smith', true],
    ['SMITH, MARY', 'Mary Ann Smith', true],
    ['SMITH, MARY', 'Mary Jones', false],
    ['SMITH, MARY', 'Smith', true],
    ['SMITH, MARY', '', false],
  ])('%s is %j: %s', (holder, typed, isHolder) => {
    expect(isNamed('person', holder, typed)).toBe(isHolder);
  });

  /** Holder, what was typed, and whether it is the holder's. */
  const CASES: readonly (readonly [holder: string, fits: readonly string[], others: readonly string[]])[] = [
    [
      'SMITH, JANE',
      [
        ...[
          'Smith, Jane RN, BSN, CCRN',
          'Smith, Jane, RN',
          'Jane Smith, RN, BSN',
          'Jane Smith RN',
          'JANE SMITH RN BSN',
        ],
        ...[
          'Ms. Jane Smith',
          'Ms Smith, Jane',
          'Smith, Ms. Jane',
          'Dr.Jane Smith, MD',
          'MRS JANE SMITH',
          'Smith, Jane (Mrs.)',
        ],
        ...[
          'Jane Smith, R.N., B.S.N.',
          'Jane Smith R.N.',
          'Jane Smith Ph.D',
          'Smith, Jane PhD',
          'Smith, Jane EdD',
          'smith, jane rn',
        ],
        ...[
          'Smith RN, Jane',
          'Smith, RN, Jane',
          'Smith Jane RN',
          'Jane Smith - RN',
          'Jane Smith RN -',
          'Jane Smith (RN)',
          'Jane Smith | RN/BSN',
        ],
        // Which no list has.
        ...[
          'Smith, Jane FOOBAR',
          'Jane Smith FOOBAR',
          'Jane Smith, FOOBAR-BC',
          'SMITH, JANE, FOOBAR',
          'Smith, Jane, Foobar Q',
        ],
        ...[
          'Jane Smith, ACXQ-BX',
          'JANE SMITH CCXQ',
          'jane smith xq.cq. ccxq',
          'Jane Smith Q.X.',
          'JANE SMITH Q.X.',
          'Smith, Jan FOOBAR',
        ],
        // Names, too.
        ...[
          'Smith, Jane DO',
          'Jane Smith DO',
          'JANE SMITH DO',
          'Jane Smith, PA',
          'Smith, Jane, MA',
          'JANE SMITH, PT',
        ],
        ...[
          'Smith, Jane Marie',
          'Jane Marie Smith',
          'Jane M. Smith',
          'SMITH JANE',
          'Jane SMITH',
          'SMITH, Jane',
          'Jane Smith Jr., RN',
        ],
      ],
      [
        ...[
          'Person RN',
          'Unrelated, Person RN',
          'Jones, Jane RN',
          'Smith, Ann RN',
          'Ann Smith RN',
          'Smith, RN, Ann',
          'Ms. Jones',
        ],
        ...[
          'Jane Jones, RN',
          'Janet Smith',
          'Smith, Janet RN',
          'Smith, Marie Jane',
          'Jane Smith Jones',
          'Jane',
          'Jane RN',
          'RN',
        ],
        ...['Jane JONES', 'Jane Jones FOOBAR', 'Smith JONES, Ann', ''],
      ],
    ],
    [
      'SMITH, JANE L',
      [
        ...[
          'Smith, Jane',
          'Smith, Jane L RN',
          'Smith, Jane Lee',
          'Jane Louise Smith RN',
          'Smith, Jane RN',
          'Jane Smith, CCRN, FOOBAR',
        ],
        ...[
          'Smith, Jane L Marie',
          'J L Smith',
          'J. Lee Smith',
          'Smith, Jane DO',
          'Jane L Smith III',
          'Smith, Jane, Foobar',
          'Smith, Jane V',
          'Smith, Jane FOOBAR',
        ],
      ],
      [
        'Smith, Jane Marie',
        'Jane Marie Smith RN',
        'Smith, Jane MARIE',
        'Jane M Smith',
        'Smith, Jean L RN',
        'Smith, L',
        'SMITH, JANE ARLO',
      ],
    ],
    [
      'SMITH, MARY ANN LEE',
      [
        'Mary Smith',
        'Maryann Smith RN',
        'Mary-Ann Lee Smith',
        'Smith, Mary L',
        'M A Smith',
        'Mary A L Smith',
        'Smith, Mary Ann Lee Grace',
      ],
      ['Smith, Mary Beth', 'Ann Smith', 'Smith, Mary Ann Grace', 'Mary B Smith'],
    ],
    [
      'OLD, ANNA-MARIA L',
      ['Anna L Old', 'Anna Maria Old', 'Annamaria Lee Old RN', 'Old, Anna, RN'],
      ['Anna B Old', 'Maria Old'],
    ],
    [
      'SMITH, MARY V',
      ['Mary Smith V', 'Mary Victoria Smith', 'Smith, Mary Ann', 'Smith V, Mary'],
      ['Smith, Ann V'],
    ],
    [
      'QZKLEIN V, ODA',
      [
        ...[
          'Oda V Qzklein',
          'Qzklein, Oda V',
          'Qzklein V, Oda',
          'Oda Qzklein V',
          'Oda Qzklein',
          'Qzklein, Oda, V',
          'Oda Qzklein V, RN',
        ],
        ...['Qzklein, V, Oda', 'Oda Qzklein 5th', 'Qzklein Oda V'],
      ],
      ['Qzklein, V', 'Ida Qzklein V', 'V Qzklein', 'Oda V'],
    ],
    [
      'QZKLEIN 3RD, ODA',
      ['Oda Qzklein 3rd', 'Oda Qzklein, III', 'Qzklein, Oda 3rd', 'Qzklein 3rd'],
      ['Ada Qzklein 3rd'],
    ],
    ['VANG, PA L', ['vang, pa lee', 'PA VANG'], ['vang, lee']],
    ['SMITH, JOHN A', ['Jo Smith', 'J Ann Smith'], ['Jo Ann Smith']],
    ['VAN, MINH', ['Minh Van', 'Van Minh'], ['Minh Van Lee', 'Minh Van Ng', 'Minh Van Do', 'Anh Van']],
    ['DO, MINH', ['Minh Do', 'Do, Minh', 'Do Minh', 'Minh Do DO', 'Minh Do, RN'], ['Minh', 'Minh Vo DO']],
    [
      'JAMES, THOMAS',
      ['Thomas James', 'Thomas Lee James', 'James Thomas', 'James Thomas RN'],
      ['James Thomas Smith', 'Thomas James, Robert'],
    ],
    [
      'DE LA QXXCRUZ, JOS\u00c9',
      [
        ...[
          'De la Qxxcruz, Jos\u00e9 RN',
          'Jos\u00e9 de la Qxxcruz, RN',
          'DE LA QXXCRUZ JOSE RN',
          'Jose DE LA QXXCRUZ',
          'De la Qxx\u00adcruz, Jo\u200bs\u00e9',
        ],
      ],
      [
        'Unrelated, Person RN',
        'Qxxcruz, Mar\u00eda RN',
        'De la Qxxcruz, MAR\u00cdA',
        'De la Qxxcruz, Maria RN',
      ],
    ],
    [
      'QXXCHIRO, SAM',
      ['Sam Qxxchiro DC CCSP', 'Sam Qxxchiro, DC, DACBSP', 'Qxxchiro Sam DC'],
      ['Sam Other DC CCSP'],
    ],
    [
      'QXXAPRN, GRACE M',
      ['Qxxaprn, Grace M, APRN-CNP, CEN', 'Grace Marie Qxxaprn, FNP-C', 'Grace Qxxaprn APRN'],
      ['Qxxaprn, Grace Ann, RN'],
    ],
    [
      'QXXCLOSED, REV',
      ['Qxxclosed, Rev', 'Rev Qxxclosed', 'Rev. Qxxclosed RN'],
      ['Qxxclosed, Bob', 'Bob Qxxclosed'],
    ],
    [
      'QZMORA QZVEGA, LUZ',
      ['Luz Qzmora', 'Qzvega, Luz RN', 'Luz Qzmora Qzvega', 'Qzmora-Qzvega, Luz', 'Luz Ana Qzvega'],
      ['Ana Qzmora', 'Luz Mora'],
    ],
    [
      'ST. JOHN, ALEX',
      ['Alex Saint John', 'Saint John, Alex MD', 'Alex Saint-John', 'Alex St John'],
      ['Alex John', 'Alex Stjones'],
    ],
    ['MADONNA', ['Madonna', 'Madonna RN'], ['Madonna Louise', 'Louise']],
  ];

  test.each(CASES.flatMap(([holder, fits]) => fits.map((typed) => [holder, typed] as const)))(
    '%s is %j',
    (holder, typed) => {
      expect(isNamed('person', holder, typed)).toBe(true);
    },
  );

  test.each(CASES.flatMap(([holder, , others]) => others.map((typed) => [holder, typed] as const)))(
    '%s is not %j',
    (holder, typed) => {
      expect(isNamed('person', holder, typed)).toBe(false);
    },
  );

  test.each<[holder: string, last: string | undefined, first: string | undefined, isHolder: boolean]>([
    ['SMITH, JANE', 'Smith RN', undefined, true],
    ['SMITH, JANE', 'Smith, RN', 'Jane', true],
    ['SMITH, JANE', 'Smith', 'Jane RN, BSN', true],
    ['SMITH, JANE', 'Smith, FOOBAR-BC', 'Jane FOOBAR', true],
    ['SMITH, JANE', 'Ms. Smith', 'Dr. Jane', true],
    ['SMITH, JANE', 'Smith DO', 'Jane, DO', true],
    ['SMITH, JANE', 'Smith', 'Jane Marie', true],
    ['SMITH, JANE L', 'Smith', 'Jane Marie', false],
    ['SMITH, JANE L', 'Smith', 'Jane Mrs.', true],
    ['SMITH, JANE', 'Jones RN', 'Jane', false],
    ['SMITH, JANE', 'Smith RN', 'Ann RN', false],
    ['SMITH, JANE', 'RN', 'Jane', false],
    ['SMITH, JANE', 'Smith', 'RN', false],
    ['SMITH, JANE', undefined, 'Jane RN', true],
    ['SMITH, JANE', 'Smith Jones', 'Jane', false],
    ['DE LA CRUZ, JANE', 'De La', 'Jane', false],
  ])('%s has the typed parts %j, %j: %s', (holder, lastName, firstName, isHolder) => {
    expect(matchesPersonName(holder, lastName, firstName)).toBe(isHolder);
  });

  test.each(['RN '.repeat(70), 'A, '.repeat(70), 'FOO-BAR '.repeat(30), ' '.repeat(200), 'Q.'.repeat(100)])(
    'of %j is compared in time',
    (typed) => {
      const holder = `SMITH${' '.repeat(500)}${', '.repeat(200)}X`;
      const startedAt = performance.now();
      isNamed('person', holder, `Jane Smith ${typed}`);
      matchesPersonName(holder, typed, typed);
      expect(performance.now() - startedAt).toBeLessThan(500);
    },
  );

  test('of very many words is compared in time', () => {
    expect(isNamed('person', 'SMITH, MARY', 'a '.repeat(100_000))).toBe(false);
  });

  test('is a business where it has a legal form', () => {
    const names = ['Maple Health LLC', 'Maple Health, Inc.', 'A LTD D.B.A B', 'Maria Garcia', 'LLC'];
    expect(names.map(hasLegalForm)).toEqual([true, true, true, false, false]);
  });
});

describe('a name that was typed into one field', () => {
  /** `Maria|Garcia Lopez`: given names and surname. */
  const written = (readings: readonly { lastName: string; firstName?: string | undefined }[]) =>
    readings.map(({ lastName, firstName = '' }) => `${firstName}|${lastName}`);

  test.each([
    ['Garcia', ['|Garcia'], []],
    ['  Garcia  ', ['|Garcia'], []],
    ['Maria Garcia', ['Maria|Garcia'], ['Garcia|Maria']],
    ['Maria Garcia Jr.', ['Maria|Garcia Jr.'], ['Garcia Jr.|Maria']],
    ['Maria Garcia, RN', ['Maria|Garcia'], ['Garcia|Maria']],
    ['Maria -', ['|Maria'], []],
    [
      'Maria Garcia Lopez',
      ['Maria Garcia|Lopez', 'Maria|Garcia Lopez'],
      ['Garcia Lopez|Maria', 'Lopez|Maria Garcia', 'Maria|Lopez'],
    ],
    [
      'Ann Mary de la Cruz',
      ['Ann Mary|de la Cruz', 'Ann Mary de la|Cruz', 'Ann Mary de|la Cruz', 'Ann|Mary de la Cruz'],
      ['Mary de la Cruz|Ann', 'Cruz|Ann Mary de la', 'Ann|de la Cruz'],
    ],
    ['GARCIA, MARIA', ['MARIA|GARCIA'], ['GARCIA|MARIA']],
    [
      'Garcia Lopez,Maria Elena',
      ['Maria Elena|Garcia Lopez'],
      ['Garcia Lopez|Maria Elena', 'Maria|Garcia Lopez'],
    ],
    ['King, Jr, Martin', ['Martin|King, Jr'], ['King, Jr|Martin']],
    ['Garcia, Maria, RN', ['Maria|Garcia'], ['Garcia|Maria']],
    ['Ms. Maria Garcia, RN, BSN', ['Maria|Garcia'], ['Garcia|Maria']],
    ['Garcia, Maria, Ann', ['Maria, Ann|Garcia'], ['Maria|Garcia']],
    ['Garcia,', ['|Garcia'], []],
    ['Garcia, -', ['|Garcia'], []],
    [', Maria', [], []],
    ['- & -', [], []],
    ['', [], []],
  ])('%j is read as %j, else as %j', (typed, readings, others) => {
    const read = readTypedPerson(typed);
    expect(written(read.readings)).toEqual(readings);
    expect(written(read.others)).toEqual(others);
  });

  test('there are few readings however many words were typed', () => {
    const { readings, others } = readTypedPerson('word '.repeat(40));
    expect([readings.length, others.length]).toEqual([4, 3]);
  });
});

import { describe, expect, test } from '@jest/globals';
import {
  firstGivenName,
  foldPersonName,
  fullName,
  givenNames,
  givenNamesKey,
  hasLegalForm,
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
  test.each(['JR', 'SR', 'II', 'III', 'IV', 'Jr.', 'jr'])('does not include the suffix %s', (suffix) => {
    expect(foldPersonName(`SMITH ${suffix}, JOHN`).surname).toBe('SMITH');
  });

  test.each([
    ['JR SMITH, PAT', 'JRSMITH'],
    ['SMITHIII, PAT', 'SMITHIII'],
    ['IVY, PAT', 'IVY'],
    ['DE LA IV ROSA, PAT', 'DELAIVROSA'],
    [' JR, PAT', 'JR'],
    ['- JR, PAT', 'JR'],
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
});

describe("a holder's name", () => {
  test.each([
    ['SMITH, JR, MARY', 'SMITH, JR', 'MARY'],
    ['SMITH,III,MARY ANN', 'SMITH,III', 'MARY ANN'],
    ['SMITH, IVY, MARY', 'SMITH', 'IVY, MARY'],
    ['SMITH, MARY, JR', 'SMITH', 'MARY, JR'],
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
    typed: [['St John', 'Mary'], ['StJohn'], ['ST. JOHN']],
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
      surnames: surnameForms,
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
    ['SMITH, MARY', 'Mary Ann Smith', false],
    ['SMITH, MARY', 'Mary Jones', false],
    ['SMITH, MARY', 'Smith', true],
    ['SMITH, MARY', '', false],
  ])('%s is %j: %s', (holder, typed, isHolder) => {
    expect(isNamed('person', holder, typed)).toBe(isHolder);
  });

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

import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  firstGivenName,
  foldPersonName,
  fullName,
  givenNames,
  givenNamesKey,
  holderToSearch,
  matchesPersonName,
  nameParts,
  nameToSearch,
  surnameKey,
} from '../../src/licenses/person-name.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('foldPersonName', () => {
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
    expect(foldPersonName(name)).toEqual({ surname, surnameForms, given });
  });

  test.each(['JR', 'SR', 'II', 'III', 'IV', 'Jr.', 'jr'])(
    'leaves the generational suffix %s off the surname',
    (suffix) => {
      expect(foldPersonName(`SMITH ${suffix}, JOHN`).surname).toBe('SMITH');
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
    expect(foldPersonName(name).surname).toBe(surname);
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
    expect(foldPersonName(name).surnameForms).toEqual(forms);
  });

  test('does not split given names at hyphens', () => {
    expect(foldPersonName('SMITH, ANNE-MARIE').given).toBe('ANNEMARIE');
  });
});

describe('nameParts', () => {
  test.each([
    ['SMITH, MARY ANN', 'SMITH', 'MARY ANN'],
    ['SMITH,MARY', 'SMITH', 'MARY'],
    ['SMITH , MARY', 'SMITH', 'MARY'],
    ['SMITH JR, MARY', 'SMITH JR', 'MARY'],
    ['SMITH, JR, MARY', 'SMITH, JR', 'MARY'],
    ['SMITH,III,MARY ANN', 'SMITH,III', 'MARY ANN'],
    ['SMITH, IVY, MARY', 'SMITH', 'IVY, MARY'],
    ['SMITH, MARY, JR', 'SMITH', 'MARY, JR'],
    ['SMITH,, MARY', 'SMITH', ', MARY'],
    ['SMITH, -', 'SMITH', '-'],
    ['SMITH,', 'SMITH', ''],
    [', MARY', '', 'MARY'],
    ['MADONNA', 'MADONNA', ''],
    ['', '', ''],
  ])('splits %j', (name, last, given) => {
    expect(nameParts(name)).toEqual({ last, given });
  });
});

describe('holderToSearch', () => {
  test.each([
    ['SMITH,MARY', { lastName: 'SMITH', firstName: 'MARY' }],
    ['SMITH JR, MARY ANN', { lastName: 'SMITH JR', firstName: 'MARY ANN' }],
    ['SMITH, -', { lastName: 'SMITH' }],
    ['SMITH', { lastName: 'SMITH' }],
    ['-, MARY', undefined],
    [', MARY', undefined],
    ['***', undefined],
  ])('of %j is %j', (name, holder) => {
    expect(holderToSearch(name)).toEqual(holder);
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
  test('is read in the same way by everything that reads it', () => {
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

  test('is matched by what finds its holder, by what is suggested, and by what people type', () => {
    const { last, given } = nameParts(read.suggested);
    const suggested = [last, given === '' ? undefined : given] as const;
    for (const [lastName, firstName] of read.search ? [read.search, suggested, ...read.typed] : []) {
      expect([lastName, firstName, matchesPersonName(name, lastName, firstName)]).toEqual([
        ...[lastName, firstName, true],
      ]);
    }
  });

  test.each(['-', '', ',', ' ', 'JR SMITH', 'Zzyzx'])('is not matched by %j', (lastName) => {
    expect(matchesPersonName(name, lastName, undefined)).toBe(false);
  });
});

describe('givenNames', () => {
  test.each([
    ['MARY ANN', ['MARY', 'ANN']],
    [' MARY  ANN ', ['MARY', 'ANN']],
    ['MARY, ANN', ['MARY', 'ANN']],
    ['MARY,ANN', ['MARY', 'ANN']],
    [', MARY', ['MARY']],
    ['ANN-MARIE', ['ANN-MARIE']],
    ['', []],
    [' , ', []],
  ])('of %j are %j', (given, names) => {
    expect(givenNames(given)).toEqual(names);
    expect(firstGivenName(given)).toBe(names[0] ?? '');
  });
});

/** Splits, finds or replaces commas. */
const AT_COMMAS =
  /\b(?:split|indexOf|lastIndexOf|search|match|matchAll|replace|replaceAll)\((?:(['"`]), ?\1|\/[^/\n]*,[^/\n]*\/)/;

test('no other file takes a name apart at its comma', () => {
  const files = globSync('{src,workers}/**/*.ts', { cwd: ROOT });
  const splitsAtCommas = files.filter((file) => AT_COMMAS.test(readFileSync(resolve(ROOT, file), 'utf8')));
  expect(splitsAtCommas.toSorted()).toEqual([
    // The others: lists in settings and headers, the cells of CSV files, and sentences.
    'src/cli/verify.ts',
    'src/config.ts',
    'src/dataset/csv.ts',
    'src/dataset/source-file.ts',
    'src/http/proxies.ts',
    'src/licenses/person-name.ts',
    'src/rest/verify-response.ts',
    'src/storage/client.ts',
    'workers/publish/rejected-numbers.ts',
  ]);
});

describe('surnameKey', () => {
  test.each([
    ["O'BRIEN, PAT", ['obrien', "O'Brien", 'O\u2019Brien', 'O Brien', "o'brien jr", 'O\u02bcBrien']],
    ["O'BRIEN JR, PAT", ['obrien', "O'Brien Jr.", "O'Brien, Jr", "O'Brien Jr,"]],
    ['DE LA CRUZ, ANA', ['de la cruz', 'Delacruz', 'DeLaCruz', ' DE  LA CRUZ ']],
    ['ST. JOHN, ANA', ['St John', 'st. john', 'StJohn']],
    ['SMITH-JONES, ANA', ['smith jones', 'Smith-Jones', 'Smith\u2013Jones', 'smithjones', 'Smith', 'jones']],
    ['MU\u00d1OZ, ANA', ['munoz', 'Mu\u00f1oz', 'Mun\u0303oz']],
    ['JR, PAT', ['jr', 'Jr.']],
  ])('finds %j however it is typed: %j', (name, typed) => {
    const { surnameForms } = foldPersonName(name);
    for (const surname of typed) expect(surnameForms).toContain(surnameKey(surname));
  });

  test.each(['Obrie', 'Obriens', 'Brien', 'O*', "O'B?"])(
    "does not find O'BRIEN by %j: surnames are whole",
    (typed) => {
      expect(foldPersonName("O'BRIEN, PAT").surnameForms).not.toContain(surnameKey(typed));
    },
  );

  test.each(['', ' ', '*', '-', "'", '?!', '"', '\u2019'])('is empty for %j', (typed) => {
    expect(surnameKey(typed)).toBe('');
  });
});

describe('givenNamesKey', () => {
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

  test.each([
    'SMITH, JOHN Q',
    'SMITH JR, JOHN Q',
    'SMITH, JOHN Q JR',
    'SMITH, JOHN Q., III',
    'SMITH, JOHN Q,',
  ])('is what the given names of %j fold to', (name) => {
    expect(foldPersonName(name).given).toBe(givenNamesKey('john q'));
  });
});

describe('matchesPersonName', () => {
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
    expect(matchesPersonName(name, lastName, firstName)).toBe(true);
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
    expect(matchesPersonName(name, lastName, firstName)).toBe(false);
  });
});

import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  foldPersonName,
  givenNamesKey,
  holderToSearch,
  matchesPersonName,
  nameParts,
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
    ['SMITH, JR, MARY', 'SMITH', 'JR, MARY'],
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

test('no other file takes a name apart at its comma', () => {
  const splitsAtCommas = globSync('{src,workers}/**/*.ts', { cwd: ROOT }).filter((file) =>
    /split\((['"`]), ?\1|split\(\/,/.test(readFileSync(resolve(ROOT, file), 'utf8')),
  );
  expect(splitsAtCommas.toSorted()).toEqual([
    'src/config.ts',
    'src/dataset/csv.ts',
    'src/dataset/source-file.ts',
    'src/http/proxies.ts',
    'src/storage/client.ts',
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

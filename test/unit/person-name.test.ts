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
  isPartOfSurname,
  matchesPersonName,
  nameParts,
  nameToSearch,
  personParts,
  readTypedPerson,
  surnameKey,
} from '../../src/licenses/names.ts';
import { cellsOf, fixtureText, linesOf, pairsOf } from '../support/tables.ts';

test.each([
  ...'JR SR II III IV V VI Jr. jr 1ST 2nd 3RD 4TH 5TH. J\u200bR'.split(' '),
  ...[', JR', ', 3RD', ' JR.,'],
])('the surname of a holder does not include the suffix %s', (suffix) => {
  expect(foldPersonName(`SMITH ${suffix}, JOHN`).surname).toBe('SMITH');
});

test('the surname of a holder includes a suffix that is not at its end or is all of it', () => {
  const names = pairsOf(`
JR SMITH, PAT = JRSMITH; SMITHIII, PAT = SMITHIII; IVY, PAT = IVY; DE LA IV ROSA, PAT = DELAIVROSA;  JR, PAT = JR
- JR, PAT = JR; SMITH V = SMITHV; SMITH V, - = SMITHV; V, PAT = V; SMITHV, PAT = SMITHV; SMITH 6TH, PAT = SMITH6TH
`);
  expect(names.map(([name]) => [name, foldPersonName(name).surname])).toEqual(names);
});

test('the surname of a holder is found by the whole and by each half', () => {
  const names = pairsOf(`
SMITH - JONES, ANN = SMITHJONES SMITH JONES; SMITH\u2013JONES, ANN = SMITHJONES SMITH JONES; SMITH-, ANN = SMITH
SMITH\u2212JONES, ANN = SMITHJONES SMITH JONES; O'BRIEN-DE LA CRUZ, ANN = OBRIENDELACRUZ OBRIEN DELACRUZ
A-B-C, ANN = ABC A B C; SMITH-SMITH, ANN = SMITHSMITH SMITH
`);
  expect(names.map(([name]) => [name, foldPersonName(name).surnameForms.join(' ')])).toEqual(names);
});

test('the surname of a holder has each way of writing Saint, as it is written first', () => {
  const names = pairsOf(`
ST. JOHN, ANN = STJOHN; ST.JOHN, ANN = STJOHN; SAINT JOHN JR, ANN = SAINTJOHN; ste marie, ann = STEMARIE
SAINTE-MARIE, ANN = SAINTEMARIE
`);
  for (const [name, written] of names) {
    const rest = written.replace(/^(SAINTE?|STE?)/, '');
    const { surnameForms } = foldPersonName(name);
    expect([name, surnameForms[0]]).toEqual([name, written]);
    const ways = ['ST', 'STE', 'SAINT', 'SAINTE'].map((word) => word + rest);
    expect(surnameForms).toEqual(expect.arrayContaining(ways));
  }
});

test.each(['STEWART, ANN', 'STONE-ST, ANN', 'SAINT, ANN', 'ST, ANN', 'BEST JOHN, ANN', 'SAINTJOHN, ANN'])(
  'the surname of a holder of %j has no word for Saint',
  (name) => {
    const folded = name.slice(0, name.indexOf(',')).replace(/[ -]/g, '');
    expect(foldPersonName(name).surnameForms.filter((form) => form.length >= folded.length)).toEqual([
      folded,
    ]);
  },
);

test('the surname of a holder of several words has halves', () => {
  const names = pairsOf(`
GARCIA LOPEZ, ANA = GARCIA LOPEZ; DE LA CRUZ GARCIA III, ANA = DELACRUZ GARCIA; GARCIA DE LA CRUZ, ANA = GARCIA DELACRUZ
GARCIA LOPEZ-PEREZ, ANA = GARCIA LOPEZ; ORTEGA Y GASSET, ANA = ORTEGA GASSET; ST. JOHN SMITH, ANA = STJOHN SMITH
DE LA CRUZ, ANA; MC DONALD, ANA; O' NEAL, ANA; VAN DER BERG, ANA; ST. JOHN, ANA; SMITH, ANA; SMITH-JONES, ANA
SMITH JR, ANA; GARCIA LOPEZ
`);
  expect(names.map(([name]) => [name, foldPersonName(name).halves.join(' ')])).toEqual(names);
});

test("a holder's name is split at the comma before the given names", () => {
  const names = pairsOf(`
SMITH, JR, MARY = SMITH, JR | MARY; SMITH,III,MARY ANN = SMITH,III | MARY ANN; SMITH, IVY, MARY = SMITH | IVY, MARY
SMITH, MARY, JR = SMITH | MARY, JR; SMITH, V, MARY = SMITH, V | MARY; SMITH, 2ND, MARY = SMITH, 2ND | MARY
SM\u00adITH\ufeff, \u200eMARY\u0000 = SMITH | MARY; SMITH,, MARY = SMITH | , MARY;  =  | 
`);
  const split = (name: string) => Object.values(nameParts(name)).join(' | ');
  expect(names.map(([name]) => [name, split(name)])).toEqual(names);
});

// A holder's name, as responses show it (`=` where it is the same), its surnames and given names, what finds the holder,
// and what is suggested to somebody who searched for another name.
const ODD_NAMES = `
SMITH,MARY | = | SMITH | MARY | SMITH / MARY | SMITH, MARY
SMITH , MARY ANN | SMITH, MARY ANN | SMITH | MARYANN | SMITH / MARY ANN | SMITH, MARY
KING JR , MARTIN LEE | KING JR, MARTIN LEE | KING | MARTINLEE | KING JR / MARTIN LEE | KING, MARTIN
KING, MARTIN SR | = | KING | MARTIN | KING / MARTIN SR | KING, MARTIN
KING V, MARTIN LEE | = | KING | MARTINLEE | KING V / MARTIN LEE | KING, MARTIN
KING 3RD, MARTIN | = | KING | MARTIN | KING 3RD / MARTIN | KING, MARTIN
KING, MARTIN V | = | KING | MARTINV | KING / MARTIN V | KING, MARTIN
QZKLEIN, V | = | QZKLEIN | V | QZKLEIN / V | =
SMITH, JR, MARY | = | SMITH | MARY | SMITH, JR / MARY | SMITH, MARY
SMITH, MARY, ANN | = | SMITH | MARYANN | SMITH / MARY, ANN | SMITH, MARY
SMITH,, MARY | = | SMITH | MARY | SMITH / , MARY | SMITH, MARY
MADONNA | = | MADONNA | - | MADONNA | =
MADONNA III | = | MADONNA | - | MADONNA III | MADONNA
SMITH, | = | SMITH | - | SMITH | SMITH
SMITH, - | = | SMITH | - | SMITH | SMITH
DE LA CRUZ, ANA MAR\u00cdA | = | DELACRUZ | ANAMARIA | DE LA CRUZ / ANA MAR\u00cdA | DE LA CRUZ, ANA
SMITH-JONES II, ANN-MARIE | = | SMITHJONES SMITH JONES | ANNMARIE | SMITH-JONES II / ANN-MARIE | SMITH-JONES, ANN-MARIE
O'BRIEN IV, D'ANDRE | = | OBRIEN | DANDRE | O'BRIEN IV / D'ANDRE | O'BRIEN, D'ANDRE
ST. JOHN, MARY | = | STJOHN | MARY | ST. JOHN / MARY | =
SAINT JOHN, MARY | = | SAINTJOHN | MARY | SAINT JOHN / MARY | =
STJOHN, MARY | = | STJOHN | MARY | STJOHN / MARY | =
SMI\u00adTH, MA\u200bRY\ufeff ANN | = | SMITH | MARYANN | SMITH / MARY ANN | SMITH, MARY
MU\u00d1OZ-PE\u00d1A, JOS\u00c9 | = | MUNOZPENA MUNOZ PENA | JOSE | MU\u00d1OZ-PE\u00d1A / JOS\u00c9 | =
HIDDEN | = | HIDDEN | - | HIDDEN | =
JR, PAT | = | JR | PAT | JR / PAT | =
`;

/** `LAST / FIRST`; either may be missing. */
function partsOf(text: string): [lastName: string | undefined, firstName: string | undefined] {
  const [last = '', first] = text.split(' / ');
  return [last || undefined, first];
}

describe.each(cellsOf(ODD_NAMES))(
  'the odd name %j',
  (name = '', shown = '', surnames = '', given = '', search = '', suggested = '') => {
    test('is shown, searched and suggested by the same parts', () => {
      const [lastName, firstName] = partsOf(search);
      const { surnameForms, given: foldedGiven } = foldPersonName(name);
      expect({
        shown: fullName(name),
        // How Saint may be written is tested above.
        surnames: surnameForms.filter((form) => form === surnameForms[0] || !/^(SAINT|ST)/.test(form)),
        given: foldedGiven || '-',
        search: holderToSearch(name),
        suggested: nameToSearch(name),
      }).toEqual({
        shown: shown === '=' ? name : shown,
        surnames: surnames.split(' '),
        given,
        search: { lastName, ...(firstName !== undefined && { firstName }) },
        suggested: suggested === '=' ? name : suggested,
      });
      // A record has the name as it is shown.
      expect(foldPersonName(fullName(name))).toEqual(foldPersonName(name));
      expect(holderToSearch(fullName(name))).toEqual(holderToSearch(name));
    });

    test('is matched by the name that finds its holder and by the suggested name, not by blanks and punctuation', () => {
      const { last, given: first } = nameParts(nameToSearch(name));
      const matched = [partsOf(search), [last, first || undefined]] as const;
      for (const [lastName, firstName] of matched)
        expect([lastName, matchesPersonName(name, { lastName, firstName })]).toEqual([lastName, true]);
      for (const blank of ['-', '', ',', ' '])
        expect(matchesPersonName(name, { lastName: blank })).toBe(false);
    });
  },
);

test.each([
  ['-', '-', '', '-'],
  ['-, MARY', '-, MARY', 'MARY', '-, MARY'],
  [', MARY', ', MARY', 'MARY', ', MARY'],
  [',', ',', '', ''],
  [' , ', ', ', '', ''],
  ['', '', '', ''],
])('by the name %j nobody can be searched for', (name, shown, given, suggested) => {
  expect(foldPersonName(name)).toMatchObject({ surnameForms: [], given });
  expect([fullName(name), holderToSearch(name), nameToSearch(name)]).toEqual([shown, undefined, suggested]);
});

test('the given names are the words between blanks and commas', () => {
  const texts = pairsOf(`
MARY ANN = MARY|ANN;  MARY  ANN  = MARY|ANN; MARY, ANN = MARY|ANN; MARY,ANN = MARY|ANN; , MARY = MARY
ANN-MARIE = ANN-MARIE; ;  , 
`);
  expect(texts.map(([given]) => [given, givenNames(given).join('|')])).toEqual(texts);
  for (const [given, names] of texts) expect(firstGivenName(given)).toBe(names.split('|')[0]);
});

test('the key of a surname is without titles and credentials, and empty without a letter or digit', () => {
  const keys = pairsOf(`
Smith, RN = SMITH; Smith R.N. = SMITH; Ms. Smith = SMITH; Smith Jr., RN = SMITH; Smith Do = SMITHDO; RN = RN; Mr = MR
Smi\u200bth = SMITH; ;  ; *; -; '; "; \u2019
`);
  expect(keys.map(([typed]) => [typed, surnameKey(typed)])).toEqual(keys);
});

test.each([
  ['SMITH-JONES, ANN', 'Jones', true],
  ['GARCIA LOPEZ, ANA', 'Garcia', true],
  ['ST. JOHN, ALEX', 'Saint John', false],
  ['SMITH, ANN', 'Smith Jr', false],
  ['ACME PHARMACY LLC', 'Acme', false],
])('of %s, whether %s is only a part of the surname: %s', (name, typed, expected) => {
  expect(isPartOfSurname(name, typed)).toBe(expected);
});

test.each(
  pairsOf(`
Mary Ann = MARYANN; mary-ann = MARYANN; \u0020Mary  A.  = MARYA; Jos\u00e9 = JOSE; D'Andre = DANDRE
John Jr = JOHN; John, Jr. = JOHN; John Q III = JOHNQ; Jr = JR; IV = IV; Johniii = JOHNIII; Jr John = JRJOHN
John 3rd = JOHN; John V = JOHNV; V = V; Jane RN, BSN = JANE; Ms. Jane = JANE; Dr.Jane = JANE; Jane Do = JANEDO
Jane DO = JANE; Rev = REV; Ja\u00adne\u200f = JANE; * = -; \u0020-  = -
`),
)('the key of given names of %j is %j', (typed, given) => {
  expect(givenNamesKey(typed) || '-').toBe(given);
});

// A holder, and what was typed: as a whole, which is the name or not, or as last and given names, which the holder has or
// lacks. FOOBAR is in no list of credentials: it may be the surname.
const TYPED_NAMES = linesOf(fixtureText('typed-names.txt')).flatMap((line) => {
  const [, holder = '', relation = '', typed = ''] = /^(.*) (is|not|has|lacks): (.*)$/.exec(line) ?? [];
  return typed.split('; ').map((each) => [holder, relation, each] as const);
});

test.each(
  pairsOf(`
GARCIA, MARIA = GARCIA / MARIA; Garcia,Maria = Garcia / Maria; Maria Garcia = Garcia / Maria
\u0020 Maria   Garcia  = Garcia / Maria; Martin Luther King Jr = King Jr / Martin Luther
KING JR, MARTIN = KING JR / MARTIN; Rosa De La Fuente = De La Fuente / Rosa
Lee Ann Van Der Berg = Van Der Berg / Lee Ann; Garcia, Maria, RN, BSN = Garcia / Maria
Maria Garcia RN = Garcia / Maria; Maria Garcia, R.N., Ph.D., CCRN = Garcia / Maria
GARCIA, MARIA, PMHNP-BC, APRN-CNP = GARCIA / MARIA; Garcia, Maria (RN) = Garcia / Maria
Maria Garcia RN/BSN | CCRN = Garcia / Maria; Maria Garcia DO = Garcia / Maria
GARCIA, MARIA, DO = GARCIA / MARIA; GARCIA, MARIA DO = GARCIA / MARIA DO; Minh Do = Do / Minh
Ms. Maria Garcia = Garcia / Maria; Ms. Garcia, Maria = Garcia / Maria; Garcia, Maria, Mrs. = Garcia / Maria
Garcia, Dr. Maria, MD = Garcia / Dr. Maria; Dr.Maria Garcia = Garcia / Maria
Martin King, Jr. = King Jr. / Martin; Martin King V = King V / Martin; KING V, MARTIN = KING V / MARTIN
Anna Saint John = Saint John / Anna; \u200eMar\u00adia\u200b Gar\ufeffcia = Garcia / Maria; Rev = Rev
Madonna = Madonna; Jr = Jr
`),
)('a name typed as a whole %j is most likely of %j', (typed, parts) => {
  const [lastName, firstName] = partsOf(parts);
  expect(personParts(typed)[0]).toEqual(firstName === undefined ? { lastName } : { lastName, firstName });
});

test('a name typed as a whole of blanks or credentials alone is none', () => {
  expect(['', ' ', 'RN', 'RN, BSN'].map(personParts)).toEqual([[], [], [], []]);
});

test.each(TYPED_NAMES)('a name typed as a whole of the holder %s %s: %j', (holder, relation, typed) => {
  const isWhole = relation === 'is' || relation === 'not';
  const [lastName, firstName] = partsOf(typed);
  const matches = isWhole ? isNamed(holder, typed) : matchesPersonName(holder, { lastName, firstName });
  expect(matches).toBe(relation === 'is' || relation === 'has');
});

test.each(['RN '.repeat(70), 'A, '.repeat(70), 'FOO-BAR '.repeat(30), ' '.repeat(200), 'Q.'.repeat(100)])(
  'a name typed as a whole of %j is compared in time',
  (typed) => {
    const holder = `SMITH${' '.repeat(500)}${', '.repeat(200)}X`;
    const before = process.threadCpuUsage();
    isNamed(holder, `Jane Smith ${typed}`);
    matchesPersonName(holder, { lastName: typed, firstName: typed });
    expect(process.threadCpuUsage(before).user).toBeLessThan(500_000);
  },
);

test('a name typed as a whole of very many words is compared in time', () => {
  expect(isNamed('SMITH, MARY', 'a '.repeat(100_000))).toBe(false);
});

test('a name typed as a whole is a business where it has a legal form', () => {
  const names = ['Maple Health LLC', 'Maple Health, Inc.', 'A LTD D.B.A B', 'Maria Garcia', 'LLC'];
  expect(names.map(hasLegalForm)).toEqual([true, true, true, false, false]);
});

describe('a name that was typed into one field', () => {
  const written = (readings: readonly { lastName: string; firstName?: string | undefined }[]) =>
    readings.map(({ lastName, firstName = '' }) => `${firstName} / ${lastName}`).join('; ');

  // What was typed, how it is read (given names / surname), and how else.
  const READINGS = cellsOf(`
Garcia |  / Garcia |
\u0020 Garcia   |  / Garcia |
Maria Garcia | Maria / Garcia | Garcia / Maria
Maria Garcia Jr. | Maria / Garcia Jr. | Garcia Jr. / Maria; Garcia / Maria
Maria Garcia, RN | Maria / Garcia | Garcia / Maria
Maria - |  / Maria |
Maria Garcia Lopez | Maria Garcia / Lopez; Maria / Garcia Lopez | Garcia Lopez / Maria; Lopez / Maria Garcia; Maria / Lopez; Garcia / Maria
Ann Mae de la Cruz | Ann Mae / de la Cruz; Ann Mae de la / Cruz; Ann Mae de / la Cruz; Ann / Mae de la Cruz | Mae de la Cruz / Ann; Cruz / Ann Mae de la; Ann / de la Cruz; Mae / Ann
GARCIA, MARIA | MARIA / GARCIA | GARCIA / MARIA
Garcia Lopez,Maria Elena | Maria Elena / Garcia Lopez | Garcia Lopez / Maria Elena; Maria / Garcia Lopez; Garcia / Maria Elena
King, Jr, Martin | Martin / King, Jr | King, Jr / Martin; King / Martin
Garcia, Maria, RN | Maria / Garcia | Garcia / Maria
Ms. Maria Garcia, RN, BSN | Maria / Garcia | Garcia / Maria
Garcia, Maria, Ann | Maria, Ann / Garcia | Maria / Garcia
Garcia, |  / Garcia |
Garcia, - |  / Garcia |
, Maria |
- & - |
 |
`);
  test.each(READINGS)('%j is read as %j, else as %j', (typed = '', readings = '', others = '') => {
    const read = readTypedPerson(typed);
    expect([written(read.readings), written(read.others)]).toEqual([readings, others]);
  });

  test('there are few readings however many words were typed', () => {
    const { readings, others } = readTypedPerson('word '.repeat(40));
    expect([readings.length, others.length]).toEqual([4, 4]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';
import { type Header, HeaderError, mapHeader, rowHash } from '../../src/dataset/header.ts';
import { refusalOf } from '../support/refusal.ts';
import { pairsOf } from '../support/tables.ts';

const REQUIRED = ['LICENSEE_NAME', 'BOARD', 'LICENSE_NUMBER', 'TYPE', 'STATUS', 'EXPIRATION_DATE'];

const labels = ({ extra }: Header) =>
  Object.fromEntries(extra.map(({ label, position }) => [label, position]));

/** The labels of these columns behind the required ones, which have the positions 0 to 5. */
const labelsOf = (...columns: readonly string[]) =>
  labels(mapHeader('individual', [...REQUIRED, ...columns]));

/** The names of columns by what is read in them. */
const namesIn = (names: readonly string[], columns: Readonly<Record<string, number | undefined>>) =>
  Object.fromEntries(Object.entries(columns).map(([column, at]) => [column, names[at ?? -1]]));

const refusal = (file: 'individual' | 'business', names: readonly string[]) =>
  refusalOf(HeaderError, () => mapHeader(file, names));

describe("the State's header", () => {
  test.each([
    ['individual', INDIVIDUAL_COLUMNS, 'LICENSEE_NAME'],
    ['business', BUSINESS_COLUMNS, 'BUSINESS_NAME'],
  ] as const)('of the %s file has a column for every field of a record', (file, names, nameColumn) => {
    expect(namesIn(names, mapHeader(file, names).columns)).toEqual({
      ...{ name: nameColumn, board: 'BOARD', number: 'LICENSE_NUMBER', type: 'TYPE' },
      ...{ status: 'STATUS', subStatus: 'SUB_STATUS' },
      ...{ city: 'PARCEL_CITY', state: 'PARCEL_STATE', county: 'PARCEL_COUNTY' },
      ...{ issueDate: 'ISSUE_DATE', expirationDate: 'EXPIRATION_DATE', runDate: 'QUERY_RUN_DATE' },
    });
  });

  test('of the individual file has seven endorsements, each with its own columns', () => {
    const { endorsements } = mapHeader('individual', INDIVIDUAL_COLUMNS);
    expect(endorsements).toHaveLength(7);
    const { extra = [], ...columns } = endorsements[2] ?? {};
    expect(namesIn(INDIVIDUAL_COLUMNS, columns)).toEqual({
      ...{ number: 'ENDORSEMENT_NUMBER_3', type: 'ENDORSEMENT_TYPE_3' },
      ...{ status: 'ENDORSEMENT_STATUS_3', subStatus: 'ENDORSEMENT_SUB_STATUS_3' },
      ...{ issueDate: 'ENDORSEMENT_ISSUE_DATE_3', expirationDate: 'ENDORSEMENT_EXPIRATION_DATE_3' },
    });
    expect(extra.map(({ label, position }) => [label, INDIVIDUAL_COLUMNS[position]])).toEqual([
      ['Issue Date', 'ENDORSEMENT_ISSUE_DATE_3'],
      ['Sub Category', 'ENDORSEMENT_SUB_CATEGORY_3'],
      ['Board Action', 'ENDORSEMENT_BOARD_ACTION_3'],
    ]);
  });

  test.each([
    ['individual', INDIVIDUAL_COLUMNS],
    ['business', BUSINESS_COLUMNS],
  ] as const)('of the %s file has for every other column a different label in extra_data', (file, names) => {
    const header = mapHeader(file, names);
    const read = [...Object.values(header.columns), ...header.extra.map(({ position }) => position)];
    expect(new Set(read).size).toBe(names.length);
    expect(Object.keys(labels(header))).toHaveLength(header.extra.length);
  });

  test('gives columns their labels', () => {
    const positions = labels(mapHeader('individual', INDIVIDUAL_COLUMNS));
    const named = pairsOf(`
PARCEL_COUNTY = County; PARCEL_ZIP_CODE = ZIP; ISSUE_DATE = Issue Date; PARCEL_COUNTRY = Country
EFFECTIVE_DATE = Effective Date; ENDORSEMENT_NUMBER_1 = Endorsement Number 1
MED_SPECIALTY_TYPE_10 = Medical Specialty Type 10; NATIONAL_CERTIFICATION_FOCI_5 = National Certification Foci 5
`);
    expect(named.map(([, label]) => [INDIVIDUAL_COLUMNS[positions[label] ?? -1], label])).toEqual(named);
  });
});

test.each([
  ['lower case', (name: string) => name.toLowerCase()],
  ['blanks for underscores', (name: string) => name.replaceAll('_', ' ')],
  ['hyphens for underscores', (name: string) => name.replaceAll('_', '-')],
  ['several blanks for underscores', (name: string) => name.replaceAll('_', ' \t ')],
  ['blanks around', (name: string) => `  ${name}\t`],
  ['a byte order mark before', (name: string) => `\ufeff${name}`],
])('a header may have its names in another form: %s', (_how, write) => {
  expect(mapHeader('individual', INDIVIDUAL_COLUMNS.map(write))).toEqual(
    mapHeader('individual', INDIVIDUAL_COLUMNS),
  );
});

test('a header may have the names of older files', () => {
  const names = [
    ...'licensee_name board_name license_no license_type license_status'.split(' '),
    ...'license_sub_status city state county zip license_issue_date'.split(' '),
    ...'license_expiration_date run_date'.split(' '),
  ];
  const header = mapHeader('individual', names);
  expect(Object.values(header.columns).sort((a, b) => a - b)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12,
  ]);
  expect(labels(header)).toEqual({ County: 8, ZIP: 9, 'Issue Date': 10 });
  expect(mapHeader('business', names).columns.name).toBe(0);
});

test('a header with both the current and an older name uses the current one, and keeps the other in extra_data', () => {
  const header = mapHeader('individual', ['county', ...REQUIRED, 'PARCEL_COUNTY', 'board_name']);
  expect(header.columns).toMatchObject({ county: 7, board: 2 });
  expect(labels(header)).toEqual({ 'County (COUNTY)': 0, County: 7, 'Board Name': 8 });
});

test.each<[string, string[], Record<string, number>]>([
  ['several names of the holder', ['full_name', 'name'], { 'Full Name': 6, Name: 7 }],
  [
    'two of the same label',
    ['MED_UNIT', 'MEDICAL_UNIT'],
    { 'Medical Unit': 7, 'Medical Unit (MED_UNIT)': 6 },
  ],
  ['the same, swapped', ['MEDICAL_UNIT', 'MED_UNIT'], { 'Medical Unit': 6, 'Medical Unit (MED_UNIT)': 7 }],
  ['unknown ones', ['SOMETHING_NEW', 'Favourite colour'], { 'Something New': 6, 'Favourite Colour': 7 }],
  [
    'unknown dates and short forms',
    ['last_visit_date', 'ON_MED_LEAVE'],
    { 'Last Visit Date': 6, 'On Med Leave': 7 },
  ],
  ['none without a name', ['', ' ', 'MOOD'], { Mood: 8 }],
  ['attributes of endorsements', ['ENDORSED_LICENSE'], { 'Endorsed License (ENDORSED_LICENSE)': 6 }],
])('a header keeps other columns in extra_data: %s', (_which, columns, expected) => {
  expect(labelsOf(...columns)).toEqual(expected);
});

test('a header with an older name of the name column keeps a newer one in extra_data', () => {
  const header = mapHeader('individual', ['licensee_full_name', ...REQUIRED.slice(1), 'full_name']);
  expect([header.columns.name, labels(header)]).toEqual([0, { 'Full Name': 6 }]);
});

test("a header gives extra_data the State's order, new columns last, whatever the order of the file", () => {
  const names = ['ZZ_NEW', 'PARCEL_COUNTRY', 'AA_NEW', 'PARCEL_ZIP_CODE', 'BOARD_ACTION'];
  for (const columns of [names, names.toReversed()])
    expect(Object.keys(labelsOf(...columns))).toEqual('Board Action|ZIP|Country|Aa New|Zz New'.split('|'));
});

test('a header marks columns of places, in which HIDDEN means blank, and of dates', () => {
  const dates = ['EFFECTIVE_DATE', 'NATIONAL_CERTIFICATION_EXPIRATION_DATE_2'];
  expect(mapHeader('individual', [...REQUIRED, 'zip', ...dates, 'MED_SPECIALTY_1']).extra).toEqual([
    { position: 6, label: 'ZIP', isPlace: true, isDate: false },
    { position: 7, label: 'Effective Date', isPlace: false, isDate: true },
    { position: 9, label: 'Medical Specialty 1', isPlace: false, isDate: false },
    { position: 8, label: 'National Certification Expiration Date 2', isPlace: false, isDate: true },
  ]);
});

test('a header may lack the columns that are not required', () => {
  const header = mapHeader('individual', REQUIRED);
  expect(header.columns).toEqual({ name: 0, board: 1, number: 2, type: 3, status: 4, expirationDate: 5 });
  expect(header).toMatchObject({ extra: [], endorsements: [], width: 6 });
});

test('a header keeps further columns of an endorsement', () => {
  const names =
    'ENDORSEMENT_NUMBER_7 ENDORSEMENT_BOARD_ACTION_7 ENDORSEMENT_SUB_CATEGORY_7 ENDORSEMENT_NUMBER_8';
  const { endorsements } = mapHeader('individual', [...REQUIRED, ...names.split(' ')]);
  const attribute = { isPlace: false, isDate: false };
  expect(endorsements).toEqual([
    {
      number: 6,
      ...{ type: undefined, status: undefined, subStatus: undefined },
      ...{ issueDate: undefined, expirationDate: undefined },
      extra: [
        { position: 8, label: 'Sub Category', ...attribute },
        { position: 7, label: 'Board Action', ...attribute },
      ],
    },
  ]);
});

test.each(REQUIRED)('a header without %s is refused', (column) => {
  const others = INDIVIDUAL_COLUMNS.filter((name) => name !== column);
  expect(refusal('individual', others)).toBe(`The individual file lacks ${column}.`);
});

test('a header without several required columns is refused with all of them', () => {
  expect(refusal('business', ['BOARD', 'LICENSEE', 'TYPE'])).toBe(
    'The business file lacks BUSINESS_NAME, LICENSE_NUMBER, STATUS, EXPIRATION_DATE.',
  );
});

test('a header of the other file is refused', () => {
  const swapped = (file: string) => ` It has the columns of the ${file} file: are the two files swapped?`;
  const people = ['licensee_full_name', ...REQUIRED.slice(1)];
  expect([refusal('individual', BUSINESS_COLUMNS), refusal('business', people)]).toEqual([
    `The individual file lacks LICENSEE_NAME.${swapped('business')}`,
    `The business file lacks BUSINESS_NAME.${swapped('individual')}`,
  ]);
});

test.each([
  ['LICENSE_NUMBER', 'LICENSE_NUMBER'],
  ['License Number', 'LICENSE_NUMBER'],
])('a header with %s beside %s is refused, because neither can be trusted', (again, column) => {
  expect(refusal('individual', [...INDIVIDUAL_COLUMNS, again])).toBe(
    `The individual file has the column ${column} twice.`,
  );
});

test('a header may have an unknown column twice, and both are kept', () => {
  const header = mapHeader('individual', [...INDIVIDUAL_COLUMNS, 'MOOD', 'MOOD']);
  expect(header.extra.slice(-2).map(({ label }) => label)).toEqual(['Mood', 'Mood 156']);
});

test('a header loses no column if a generated label is the name of another column', () => {
  const names = [...INDIVIDUAL_COLUMNS, 'MOOD_157', 'MOOD', 'MOOD'];
  const positions = mapHeader('individual', names).extra.map(({ position }) => position);
  expect(positions).toEqual(expect.arrayContaining([154, 155, 156]));
});

test('a header tells which columns about discipline are missing', () => {
  expect(mapHeader('individual', INDIVIDUAL_COLUMNS).missing).toEqual([]);
  expect(mapHeader('individual', [...REQUIRED, 'license_sub_status']).missing).toEqual(['BOARD_ACTION']);
  expect(mapHeader('individual', REQUIRED).missing).toEqual(['SUB_STATUS', 'BOARD_ACTION']);
});

test('the hash of a row does not depend on the order of columns, empty ones or the run date, and stays the same', () => {
  const row = (...fields: string[]) => ({ line: 1, raw: '', fields });
  const columns = (...names: string[]) => mapHeader('individual', [...names, ...REQUIRED]);
  const hash = rowHash(row('1', ' 2 '), columns('B', 'A'));
  // Another hash of the same row would make every license look changed on the day of an upgrade.
  expect(hash).toBe(2_203_766_443);
  expect(rowHash(row('2', '', '1', '2026-11-20'), columns('A', 'NEW', 'B', 'QUERY_RUN_DATE'))).toBe(hash);
  for (const other of [row('1', '2'), row('2', ''), row('', '1'), row('21', '')])
    expect(rowHash(other, columns('A', 'B'))).not.toBe(hash);
  expect(rowHash(row('', ' '), columns('A', 'B'))).toBe(0);
});

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { FILTER_NAMES, mapFilters } from '../../src/licenses/filters.ts';
import { fold } from '../../src/licenses/fold.ts';
import {
  type HolderKind,
  type LicenseRecord,
  licenseDocument,
  licenseId,
} from '../../src/licenses/license.ts';
import { nurseRecord } from '../support/records.ts';

const keysOf = (fields: Partial<LicenseRecord>, kind: HolderKind = 'person') =>
  licenseDocument(nurseRecord(fields), kind, 'individual:2:0').keys;
const KINDS = ['person', 'business'] as const;

test('the document of a license of a person has keys for number, name, type, status and place', () => {
  const place = { city: 'ST. CLAIRSVILLE', county: 'Van Wert' };
  const fields = { full_name: "O'BRIEN JR, MARY ANN", raw_status: 'Active - Probation', ...place };
  expect(keysOf(fields)).toEqual({
    ...{ kind: 'person', number: 'RN123456', digits: '123456' },
    ...{ name: 'NUR/OBRIEN/MARYANN', holder: ['NUR/OBRIEN/MARYANN'], surname: ['NUR/OBRIEN'] },
    license_type: ['REGISTEREDNURSERN', 'REGISTEREDNURSE', 'RN'],
    ...{ status: ['ACTIVE', 'ACTIVEPROBATION'], city: ['STCLAIRSVILLE'], county: ['VANWERT'] },
  });
});

test('the document of a license of a person with a hyphenated surname has keys for the whole and for each half', () => {
  expect(keysOf({ full_name: 'SMITH-JONES, ANN B' })).toMatchObject({
    name: 'NUR/SMITHJONES/ANNB',
    holder: ['NUR/SMITHJONES/ANNB', 'NUR/SMITH/ANNB', 'NUR/JONES/ANNB'],
    surname: ['NUR/SMITHJONES', 'NUR/SMITH', 'NUR/JONES'],
  });
});

test('the document of a license of a person with a double surname or a fifth suffix has keys for what is typed instead', () => {
  expect(keysOf({ full_name: 'GARCIA LOPEZ V, ANN' })).toMatchObject({
    name: 'NUR/GARCIALOPEZ/ANN',
    holder: [
      ...['NUR/GARCIALOPEZ/ANN', 'NUR/GARCIALOPEZ/ANNV', 'NUR/GARCIALOPEZV/ANN'],
      ...['NUR/GARCIA-/ANN', 'NUR/LOPEZ-/ANN'],
    ],
    surname: ['NUR/GARCIALOPEZ'],
  });
});

test('the document of a license of a business has keys for both trade names, with and without legal form, with and without board', () => {
  const number = { license_number: '02-1234567', board: 'Board of Pharmacy' };
  const license_type = 'Terminal Distributor of Dangerous Drugs';
  const fields = { ...number, full_name: 'THE ACME & SONS LLC D.B.A WIDGETS', license_type };
  expect(keysOf(fields, 'business')).toEqual({
    ...{ kind: 'business', number: '021234567', digits: '1234567', name: 'PRX/ACMESONS' },
    business: [
      ...'PRX/ACMESONS /ACMESONS PRX/ACMESONSLLC /ACMESONSLLC PRX/WIDGETS /WIDGETS'.split(' '),
      ...'PRX/ACMESONSLLCDBAWIDGETS /ACMESONSLLCDBAWIDGETS'.split(' '),
    ],
    words: ['PRX/ACME', '/ACME', 'PRX/SONS', '/SONS', 'PRX/WIDGETS', '/WIDGETS'],
    license_type: ['TERMINALDISTRIBUTOROFDANGEROUSDRUGS'],
    ...{ status: ['ACTIVE'], city: ['COLUMBUS'], county: ['FRANKLIN'] },
  });
});

test('the document of a license has no empty keys for missing values, so that no request can match them', () => {
  const missing = { license_type: null, status: null, raw_status: null, city: null, county: null };
  for (const kind of KINDS)
    expect(keysOf(missing, kind)).toMatchObject({ license_type: [], status: [], city: [], county: [] });
});

test('the document of a license of a business named only D.B.A has a name key with its board only', () => {
  expect(keysOf({ full_name: 'D.B.A' }, 'business')).toMatchObject({ name: 'NUR/', words: [] });
});

test('each filter has a key in the index template, without which it would find nothing', () => {
  const template: unknown = JSON.parse(readFileSync('index-templates/licenses.json', 'utf8'));
  expect(template).toHaveProperty(
    'template.mappings.properties.keys.properties',
    expect.objectContaining(Object.fromEntries(FILTER_NAMES.map((name) => [name, expect.anything()]))),
  );
});

test('each filter has examples that can be searched for', () => {
  const shortest = mapFilters(({ examples }) =>
    Object.values(examples).map((all) => all.map(fold).toSorted()[0]),
  );
  expect(Object.values(shortest).flat()).toEqual(Array(8).fill(expect.stringMatching(/^[A-Z]+$/)));
});

test.each([
  ['Registered Nurse (RN)', ['REGISTEREDNURSERN', 'REGISTEREDNURSE', 'RN']],
  ['Pharmacist', ['PHARMACIST']],
  ['Trainee (Pharmacy) Technician', ['TRAINEEPHARMACYTECHNICIAN']],
  ['Massage Therapist)', ['MASSAGETHERAPIST']],
  ['(RN)', ['RN']],
  ['( )', []],
])('the keys of the license type %j are %j', (licenseType, keys) => {
  for (const kind of KINDS) expect(keysOf({ license_type: licenseType }, kind).license_type).toEqual(keys);
});

test.each([
  ['Nursing Board', 'RN.123456', 'NUR/RN.123456'],
  ['Board of Pharmacy', '02-123/4', 'PRX/02-123/4'],
  ['Board of Tarot Readers', 'T 1', 'BOARDOFTAROTREADERS/T 1'],
])('at the %s, the number %s has the document id %s', (board, number, id) => {
  expect(licenseId(board, number)).toBe(id);
});

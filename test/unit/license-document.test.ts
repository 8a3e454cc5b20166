import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { FILTER_NAMES, mapFilters } from '../../src/licenses/filters.ts';
import { fold } from '../../src/licenses/fold.ts';
import { licenseDocument, licenseId } from '../../src/licenses/license.ts';
import { nurseRecord } from '../support/records.ts';

describe('the document of a license', () => {
  test('of a person has keys for number, name, type, status and place', () => {
    const record = nurseRecord({
      full_name: "O'BRIEN JR, MARY ANN",
      raw_status: 'Active - Probation',
      city: 'ST. CLAIRSVILLE',
      county: 'Van Wert',
    });
    expect(licenseDocument(record, 'person', 'individual:2:0').keys).toEqual({
      kind: 'person',
      number: 'RN123456',
      digits: '123456',
      name: 'NUR/OBRIEN/MARYANN',
      holder: ['NUR/OBRIEN/MARYANN'],
      surname: ['NUR/OBRIEN'],
      license_type: ['REGISTEREDNURSERN', 'REGISTEREDNURSE', 'RN'],
      status: ['ACTIVE', 'ACTIVEPROBATION'],
      city: ['STCLAIRSVILLE'],
      county: ['VANWERT'],
    });
  });

  test('of a person with a hyphenated surname has keys for the whole and for each half', () => {
    const { keys } = licenseDocument(
      nurseRecord({ full_name: 'SMITH-JONES, ANN B' }),
      'person',
      'individual:2:0',
    );
    expect(keys.name).toBe('NUR/SMITHJONES/ANNB');
    expect(keys.holder).toEqual(['NUR/SMITHJONES/ANNB', 'NUR/SMITH/ANNB', 'NUR/JONES/ANNB']);
    expect(keys.surname).toEqual(['NUR/SMITHJONES', 'NUR/SMITH', 'NUR/JONES']);
  });

  test('of a person with a double surname or a fifth suffix has keys for what is typed instead', () => {
    const keysOf = (full_name: string) =>
      licenseDocument(nurseRecord({ full_name }), 'person', 'individual:2:0').keys;
    expect(keysOf('GARCIA LOPEZ V, ANN')).toMatchObject({
      name: 'NUR/GARCIALOPEZ/ANN',
      holder: [
        ...['NUR/GARCIALOPEZ/ANN', 'NUR/GARCIALOPEZ/ANNV', 'NUR/GARCIALOPEZV/ANN'],
        ...['NUR/GARCIA-/ANN', 'NUR/LOPEZ-/ANN'],
      ],
      surname: ['NUR/GARCIALOPEZ'],
    });
  });

  test('of a business has keys for both trade names, with and without legal form, with and without board', () => {
    const record = nurseRecord({
      license_number: '02-1234567',
      full_name: 'THE ACME & SONS LLC D.B.A WIDGETS',
      board: 'Board of Pharmacy',
      license_type: 'Terminal Distributor of Dangerous Drugs',
    });
    expect(licenseDocument(record, 'business', 'business:2:0').keys).toEqual({
      kind: 'business',
      number: '021234567',
      digits: '1234567',
      name: 'PRX/ACMESONS',
      business: [
        ...'PRX/ACMESONS /ACMESONS PRX/ACMESONSLLC /ACMESONSLLC PRX/WIDGETS /WIDGETS'.split(' '),
        ...'PRX/ACMESONSLLCDBAWIDGETS /ACMESONSLLCDBAWIDGETS'.split(' '),
      ],
      words: ['PRX/ACME', '/ACME', 'PRX/SONS', '/SONS', 'PRX/WIDGETS', '/WIDGETS'],
      license_type: ['TERMINALDISTRIBUTOROFDANGEROUSDRUGS'],
      status: ['ACTIVE'],
      city: ['COLUMBUS'],
      county: ['FRANKLIN'],
    });
  });

  test('has no empty keys for missing values, so that no request can match them', () => {
    const record = nurseRecord({
      license_type: null,
      status: null,
      raw_status: null,
      city: null,
      county: null,
    });
    for (const kind of ['person', 'business'] as const) {
      expect(licenseDocument(record, kind, 'individual:2:0').keys).toMatchObject({
        license_type: [],
        status: [],
        city: [],
        county: [],
      });
    }
  });

  test('of a business named only D.B.A has a name key with its board only', () => {
    const { keys } = licenseDocument(nurseRecord({ full_name: 'D.B.A' }), 'business', 'business:2:0');
    expect(keys.name).toBe('NUR/');
    expect(keys.words).toEqual([]);
  });
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

describe('the keys of the license type', () => {
  test.each([
    ['Registered Nurse (RN)', ['REGISTEREDNURSERN', 'REGISTEREDNURSE', 'RN']],
    ['Pharmacist', ['PHARMACIST']],
    ['Trainee (Pharmacy) Technician', ['TRAINEEPHARMACYTECHNICIAN']],
    ['Massage Therapist)', ['MASSAGETHERAPIST']],
    ['(RN)', ['RN']],
    ['( )', []],
  ])('%j are %j', (licenseType, keys) => {
    const record = nurseRecord({ license_type: licenseType });
    for (const kind of ['person', 'business'] as const) {
      expect(licenseDocument(record, kind, 'individual:2:0').keys.license_type).toEqual(keys);
    }
  });
});

test.each([
  ['Nursing Board', 'RN.123456', 'NUR/RN.123456'],
  ['Board of Pharmacy', '02-123/4', 'PRX/02-123/4'],
  ['Board of Tarot Readers', 'T 1', 'BOARDOFTAROTREADERS/T 1'],
])('at the %s, the number %s has the document id %s', (board, number, id) => {
  expect(licenseId(board, number)).toBe(id);
});

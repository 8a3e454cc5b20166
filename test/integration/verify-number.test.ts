import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { numberMissIn, recordIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { fixturesAnd, nurseRow } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const MEDICAL = 'Medical Board';
const COUNSELORS = 'Counselor, Social Worker and Marriage and Family Therapist Board';
const SPEECH = 'Speech and Hearing Professionals Board';
const PSYCHOLOGY = 'Psychology Board';

let service: TestService;
let rest: ApiClient;

beforeAll(async () => {
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          nurseRow('TWIN, DOT', 'RN.71.0001'),
          nurseRow('TWIN, NODOT', 'RN.710.001'),
          nurseRow('SHARED, NURSE', 'RN.72.0001'),
          nurseRow('SHARED, DOCTOR', 'RN.72.0001', { BOARD: MEDICAL, TYPE: 'Doctor of Medicine (MD)' }),
        ],
      }),
  });
  rest = service.rest;
});
afterAll(() => service.stop());

function byNumber(board: string, license_number: string) {
  return rest.verify({ board, license_number });
}

describe('an existing number', () => {
  verifies(
    ['LOOKUP-03', 'LOOKUP-10', 'ERRORS-01', 'RECORD-02', 'SERVICE-01'],
    'gives 200 with the record itself, not an array',
    async () => {
      expect(recordIn(await byNumber(NURSING, 'RN.700001'))).toMatchObject({
        found: true,
        license_number: 'RN.700001',
        full_name: 'DE LA CRUZ, MARIA ELENA',
        license_type: 'Registered Nurse (RN)',
        status: 'ACTIVE',
        expiry_date: '2099-10-31',
        city: 'COLUMBUS',
        county: 'Franklin',
        state: 'OH',
      });
      expect(recordIn(await byNumber(PHARMACY, '0270000002'))).toMatchObject({
        full_name: 'BEST LITTLE PHARMACY OF LIMA',
      });
    },
  );

  verifies('LOOKUP-03', 'of an endorsement gives the endorsement, not the endorsed license', async () => {
    expect(recordIn(await byNumber(NURSING, 'APRN.CNP.0070001'))).toMatchObject({
      license_number: 'APRN.CNP.0070001',
      license_type: 'APRN - Certified Nurse Practitioner (CNP)',
      raw_status: 'Inactive - Lapsed',
      extra_data: { 'Endorsed License': 'RN.700001' },
    });
  });

  verifies(
    'NUMBER-02',
    'is found in any case, with spaces around and within, and with a slash for the dot',
    async () => {
      for (const written of ['rn.700001', '  RN.700001 ', 'RN 700001', 'RN/700001', 'rn . 700 001']) {
        expect([written, recordIn(await byNumber(NURSING, written)).license_number]).toEqual([
          written,
          'RN.700001',
        ]);
      }
      expect(recordIn(await byNumber(NURSING, 'aprn/cnp/0070001')).license_number).toBe('APRN.CNP.0070001');
      expect(recordIn(await byNumber('Chiropractic Board', 'dc-01234')).license_number).toBe('DC-01234');
    },
  );

  verifies('NUMBER-03', 'of only digits may have a hyphen after the first two', async () => {
    expect(recordIn(await byNumber(PHARMACY, '03-700011')).full_name).toBe('PILL, PAT');
    expect(recordIn(await byNumber(PHARMACY, '02-70000001')).license_number).toBe('0270000001');
  });

  verifies(
    ['NUMBER-06', 'VERSIONS-03'],
    'is found whatever license_type and the other filters are',
    async () => {
      const plain = await byNumber(NURSING, 'RN.700001');
      const narrowed = await rest.verify({
        board: NURSING,
        license_number: 'RN.700001',
        license_type: 'Barber',
        status: 'Closed',
        city: 'Nowhere',
        county: 'None',
      });
      expect(narrowed.text).toBe(plain.text);
      expect(recordIn(narrowed)).not.toHaveProperty('cached');
      numberMissIn(await rest.verify({ board: NURSING, license_number: 'RN.1', license_type: 'Barber' }));
    },
  );

  verifies('INPUT-03', 'is found if the body has unknown fields', async () => {
    const answer = await rest.verify({
      board: NURSING,
      license_number: 'RN.700001',
      colour: ['teal'],
      a: null,
    });
    expect(recordIn(answer).license_number).toBe('RN.700001');
  });

  test.each([
    '"__proto__": {"license_number": "RN.700002"}',
    '"more": [{"__proto__": {"license_number": "RN.700002"}}]',
    '"constructor": {"prototype": {"license_number": "RN.700002"}}',
  ])('is found with %s in the body, which changes nothing', async (field) => {
    const posted = (fields: string) =>
      rest.request('POST', '/api/v1/lookup/verify', {
        headers: { 'content-type': 'application/json' },
        body: `{${field}, ${fields}}`,
      });
    const answer = await posted('"board": "Nursing Board", "license_number": "RN.700001"');
    expect(recordIn(answer).license_number).toBe('RN.700001');
    expect((await posted('"board": "Nursing Board"')).status).toBe(400);
  });

  test('takes precedence over a name in the same body, which is compared with the holder’s', async () => {
    const compared: [string, Record<string, string>, boolean][] = [
      ['RN.700002', { last_name: 'Smith' }, false],
      ['RN.700002', { last_name: 'de la Cruz', first_name: 'mar' }, true],
      ['RN.700002', { last_name: 'de la Cruz', first_name: 'maria' }, false],
      ['RN.700003', { last_name: 'Jones', first_name: 'Maryann' }, true],
      ['RN.700003', { last_name: 'smith jones' }, true],
      ['RN.700005', { last_name: 'Smith III', first_name: 'M' }, true],
      ['rn 700005', { last_name: '*' }, false],
      ['RN.700002', { first_name: 'mar' }, true],
      ['RN.700002', { first_name: 'maria' }, false],
      ['RN.700002', { first_name: 'Delacruz' }, false],
      ['RN.700003', { last_name: ' ', first_name: 'MARY-ANN' }, true],
    ];
    for (const [license_number, name, name_match] of compared) {
      const record = recordIn(await rest.verify({ board: NURSING, license_number, ...name }));
      expect([license_number, name, record.name_match]).toEqual([license_number, name, name_match]);
    }
    const plain = await rest.verify({ board: NURSING, license_number: 'RN.700002', last_name: ' ' });
    expect(recordIn(plain)).not.toHaveProperty('name_match');
  });

  test('with the suffix of another license gives that license alone', async () => {
    expect(recordIn(await byNumber(COUNSELORS, 'E.1234567'))).toMatchObject({ status: 'ACTIVE' });
    expect(recordIn(await byNumber(COUNSELORS, 'e.1234567-supv'))).toMatchObject({ status: 'CLOSED' });
  });

  test('gives the record of a suspended, revoked, expired or closed license', async () => {
    expect(recordIn(await byNumber('Medical Board', '35.700006'))).toMatchObject({
      status: 'INACTIVE',
      raw_status: 'Inactive - Revocation',
      extra_data: { 'Board Action': 'Yes' },
    });
  });
});

describe('a number without a single match', () => {
  verifies(
    ['LOOKUP-12', 'ERRORS-04', 'NUMBER-01'],
    'that does not exist gives 404 with detail and did_you_mean',
    async () => {
      expect(numberMissIn(await byNumber(NURSING, 'RN.999999')).did_you_mean).toEqual([]);
      expect(numberMissIn(await byNumber(PHARMACY, '03')).did_you_mean).toEqual([]);
    },
  );

  verifies(
    'NUMBER-01',
    'gets suggestions of similar numbers without holders, from other boards only if its board has none',
    async () => {
      const offers: [string, string, string[]][] = [
        [NURSING, 'APRN.CNP.70001', ['APRN.CNP.0070001']],
        [NURSING, 'RN.0700001', ['RN.700001']],
        [NURSING, '700001', ['RN.700001']],
        [NURSING, 'PN.700001', ['RN.700001']],
        [NURSING, 'RN.70000*', ['RN.700001', 'RN.700002', 'RN.700003']],
        [COUNSELORS, '1234567', ['E.1234567', 'E.1234567-SUPV']],
        [COUNSELORS, 'S.1234567-SUPV', ['E.1234567-SUPV', 'E.1234567']],
        [PHARMACY, '700001', ['RN.700001']],
        [PHARMACY, 'APRN.CNP.70001', ['APRN.CNP.0070001']],
        [COUNSELORS, 'RN.70000', ['RN.700001', 'RN.700002', 'RN.700003']],
        [SPEECH, 'SP.070013', ['SP.70013']],
        [PSYCHOLOGY, 'SP.070013', ['SP-70013']],
        [NURSING, 'SP.070013', ['SP.70013', 'SP-70013']],
        [PHARMACY, '270000001', ['0270000001']],
        [NURSING, 'RN.7', []],
      ];
      for (const [board, written, numbers] of offers) {
        const answer = await byNumber(board, written);
        const { detail, did_you_mean } = numberMissIn(answer);
        expect([written, did_you_mean]).toEqual([written, numbers]);
        for (const number of numbers) expect(detail).toContain(number);
        expect(answer.text).not.toMatch(/cruz|smith|weiss|joe|speaker|school/i);
      }
    },
  );

  verifies(
    ['MISS-01', 'SERVICE-03'],
    'gets a message with the publication and the board as authority, and without the word unlicensed',
    async () => {
      const { detail } = numberMissIn(await byNumber(NURSING, 'RN.999999'));
      expect(detail).toContain('number');
      expect(detail).toContain('2026-11-20');
      expect(detail).toMatch(/issuing board is the authority/);
      expect(detail).not.toMatch(/unlicen[sc]ed|not licensed|fake|invalid/i);
    },
  );

  verifies(
    ['NUMBER-05', 'NUMBER-01'],
    'that exists at another board gives 404 that says so without the holder',
    async () => {
      const answer = await byNumber(PHARMACY, 'RN.700001');
      expect(numberMissIn(answer).detail).toContain(NURSING);
      expect(answer.text).not.toMatch(/cruz|maria/i);
    },
  );

  verifies(
    ['NUMBER-05', 'NUMBER-01'],
    'that exists at several other boards gives 404 with the boards, and suggests each form of the number',
    async () => {
      for (const [board, written, boards, forms] of [
        [NURSING, 'sp 70013', [PSYCHOLOGY, SPEECH], ['SP-70013', 'SP.70013']],
        [NURSING, 'SP.70013', [SPEECH], ['SP.70013', 'SP-70013']],
      ] as const) {
        const answer = await byNumber(board, written);
        const { detail, did_you_mean } = numberMissIn(answer);
        const named = [PSYCHOLOGY, SPEECH].filter((name) => detail.includes(name));
        expect([board, written, named, did_you_mean]).toEqual([...[board, written, boards, forms]]);
        expect(answer.text).not.toMatch(/speaker|school, sal/i);
      }
    },
  );

  verifies('NUMBER-04', 'that fits two licenses gives 404 with both numbers and no record', async () => {
    const answer = await byNumber(NURSING, 'RN710001');
    expect(numberMissIn(answer).did_you_mean.sort()).toEqual(['RN.71.0001', 'RN.710.001']);
    expect(answer.text).not.toContain('TWIN');
    expect(recordIn(await byNumber(NURSING, 'rn.71.0001')).full_name).toBe('TWIN, DOT');
  });

  verifies('NUMBER-04', 'that two boards have gives the license of the given board', async () => {
    for (const written of ['sp 70013', 'SP.70013', 'SP-70013', 'sp.70013']) {
      expect(recordIn(await byNumber(SPEECH, written)).full_name).toBe('SPEAKER, SUE');
      expect(recordIn(await byNumber(PSYCHOLOGY, written)).full_name).toBe('SCHOOL, SAL');
    }
    expect(recordIn(await byNumber(NURSING, 'RN.72.0001')).full_name).toBe('SHARED, NURSE');
    expect(recordIn(await byNumber(MEDICAL, 'RN.72.0001')).full_name).toBe('SHARED, DOCTOR');
    const elsewhere = await byNumber(PSYCHOLOGY, 'RN.72.0001');
    expect(numberMissIn(elsewhere).detail).toContain('one of the Medical Board and the Nursing Board');
    expect(elsewhere.text).not.toContain('SHARED');
  });

  verifies('INPUT-01', 'that is a pattern or a query gives 404', async () => {
    for (const written of [
      '*',
      'RN.*',
      'RN.70000?',
      'RN.70000[1-9]',
      '"RN.700001"',
      'RN.700001 OR 1=1',
      '%',
    ]) {
      numberMissIn(await byNumber(NURSING, written));
    }
  });

  test('that is a part of an existing number, or has other leading zeros, gives 404', async () => {
    for (const written of ['700001', 'RN', 'RN.70000', 'RN.0700001', 'RN.7000011', '.', '☃']) {
      numberMissIn(await byNumber(NURSING, written));
    }
  });
});

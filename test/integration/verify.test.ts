import { beforeAll, expect, test } from '@jest/globals';
import { detailIn, matchesIn, noMatchIn, numberMissIn, numbersIn, recordIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { fixturesAnd, nurseRow, pharmacyRow, times } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

// What POST /lookup/verify accepts and returns. Which forms of numbers and names find what: matching.test.ts.

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const MEDICAL = 'Medical Board';
const PSYCHOLOGY = 'Psychology Board';
const FUNERALS = 'Embalmers and Funeral Directors Board';

let service: TestService;
let rest: ApiClient;

function padded(number: number): string {
  return String(number).padStart(3, '0');
}

beforeAll(async () => {
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          nurseRow('TWIN, DOT', 'RN.71.0001'),
          nurseRow('TWIN, NODOT', 'RN.710.001'),
          nurseRow('SHARED, NURSE', 'RN.72.0001'),
          nurseRow('SHARED, DOCTOR', 'RN.72.0001', { BOARD: MEDICAL, TYPE: 'Doctor of Medicine (MD)' }),
          ...times(120, (number) => nurseRow(`CROWD, GIVEN${padded(number)}`, `RN.${810_000 + number}`)),
          ...times(100, (number) => nurseRow(`HUNDRED, H${number}`, `RN.${820_000 + number}`)),
          nurseRow('ORDER, ANNA', 'RN.830003'),
          nurseRow('ORDER, ANN', 'RN.830002'),
          nurseRow('ORDER, ANN', 'RN.830001'),
          nurseRow('ORDER-BOOK, AARON', 'RN.830000'),
          ...times(101, (number) => nurseRow('ABLE-ZEBRA, ANN', `RN.${840_000 + number}`)),
          nurseRow('ZEBRA, ANN', 'RN.840000'),
        ],
        business: [
          ...times(101, (number) =>
            pharmacyRow(`ALPHA ${number} D.B.A ZED DRUGS ${number}`, `02${80_000_000 + number}`),
          ),
          pharmacyRow('ZED DRUGS', '0289000000'),
        ],
      }),
  });
  rest = service.rest;
});

function byNumber(board: string, license_number: string) {
  return rest.verify({ board, license_number });
}

function byName(last_name: string, more: Record<string, string> = {}) {
  return rest.verify({ board: NURSING, last_name, ...more });
}

function business(board: string, asked: Record<string, string>) {
  return rest.verify({ board, search_type: 'business', ...asked });
}

verifies(
  ['LOOKUP-03', 'LOOKUP-10', 'ERRORS-01', 'RECORD-02', 'SERVICE-01'],
  'a number that one license has returns 200 with the record itself, not an array',
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
  },
);

verifies(
  ['NUMBER-06', 'VERSIONS-03'],
  'a lookup by number returns the same, found or not, whatever the filters are',
  async () => {
    const filters = { license_type: 'Barber', status: 'Closed', city: 'Nowhere', county: 'None' };
    const narrowed = await rest.verify({ board: NURSING, license_number: 'RN.700001', ...filters });
    expect(narrowed.text).toBe((await byNumber(NURSING, 'RN.700001')).text);
    expect(recordIn(narrowed)).not.toHaveProperty('cached');
    numberMissIn(await rest.verify({ board: NURSING, license_number: 'RN.1', license_type: 'Barber' }));
  },
);

verifies('INPUT-03', 'unknown fields of the body are ignored, also __proto__ and constructor', async () => {
  for (const field of [
    '"colour": ["teal"]',
    '"__proto__": {"license_number": "RN.700002"}',
    '"more": [{"__proto__": {"license_number": "RN.700002"}}]',
    '"constructor": {"prototype": {"license_number": "RN.700002"}}',
  ]) {
    const posted = (fields: string) =>
      rest.request('POST', '/api/v1/lookup/verify', {
        headers: { 'content-type': 'application/json' },
        body: `{${field}, ${fields}}`,
      });
    const answer = await posted('"board": "Nursing Board", "license_number": "RN.700001"');
    expect([field, recordIn(answer).license_number]).toEqual([field, 'RN.700001']);
    expect((await posted('"board": "Nursing Board"')).status).toBe(400);
  }
});

test('name_match says whether a name sent with the number is the holder’s, and is absent if no name was sent', async () => {
  for (const [license_number, name, name_match] of [
    ['RN.700002', { last_name: 'de la Cruz', first_name: 'mar' }, true],
    ['RN.700002', { last_name: 'Smith' }, false],
    ['RN.700002', { first_name: 'maria' }, false],
    ['RN.700003', { last_name: ' ', first_name: 'MARY-ANN' }, true],
    ['RN.700002', { last_name: ' ' }, undefined],
  ] as const) {
    const record = recordIn(await rest.verify({ board: NURSING, license_number, ...name }));
    expect([name, record.name_match]).toEqual([name, name_match]);
  }
});

verifies('NUMBER-04', 'a number that two boards have returns the license of the board asked', async () => {
  expect(recordIn(await byNumber(NURSING, 'RN.72.0001')).full_name).toBe('SHARED, NURSE');
  expect(recordIn(await byNumber(MEDICAL, 'RN.72.0001')).full_name).toBe('SHARED, DOCTOR');
});

verifies('LOOKUP-07', 'a number with search_type business returns the record of the business', async () => {
  expect(
    recordIn(await business('Cosmetology and Barber Board', { license_number: 'coss.70003' })),
  ).toMatchObject({ full_name: 'SHEAR #1 SALON INC', raw_status: 'Inactive - Expired' });
});

verifies(
  ['LOOKUP-12', 'ERRORS-04', 'NUMBER-01', 'MISS-01', 'SERVICE-03'],
  'a number that no license has gets 404; the message names the publication and the board as authority',
  async () => {
    const { detail, reason, did_you_mean } = numberMissIn(await byNumber(NURSING, 'RN.999999'));
    expect([reason, did_you_mean]).toEqual(['unknown', []]);
    expect(detail).toMatch(/number "RN\.999999".*2026-11-20.*issuing board is the authority/);
    expect(detail).not.toMatch(/unlicen[sc]ed|not licensed|fake|invalid/i);
    numberMissIn(await business(PHARMACY, { license_number: '0299999999' }));
  },
);

verifies(
  'NUMBER-04',
  'a number whose spelling fits two licenses gets 404 with both numbers and no holder',
  async () => {
    const answer = await byNumber(NURSING, 'RN710001');
    const { reason, did_you_mean } = numberMissIn(answer);
    expect([reason, did_you_mean]).toEqual(['ambiguous', ['RN.71.0001', 'RN.710.001']]);
    expect(answer.text).not.toContain('TWIN');
    expect(recordIn(await byNumber(NURSING, 'rn.71.0001')).full_name).toBe('TWIN, DOT');
  },
);

verifies(
  ['NUMBER-05', 'NUMBER-01'],
  'a number that only other boards have gets 404 with these boards and no holder',
  async () => {
    const answer = await byNumber(PSYCHOLOGY, 'RN.72.0001');
    const { detail, reason } = numberMissIn(answer);
    expect(reason).toBe('other_board');
    expect(detail).toContain('one of the Medical Board and the Nursing Board');
    expect(answer.text).not.toContain('SHARED');
  },
);

verifies(
  'BUSINESS-04',
  'a person’s number with search_type business gets 404 without the holder',
  async () => {
    const answer = await business(PHARMACY, { license_number: '03700011' });
    expect(numberMissIn(answer)).toMatchObject({
      detail: expect.stringMatching(/not a business/),
      reason: 'not_a_business',
    });
    expect(answer.text).not.toMatch(/pill/i);
    expect(recordIn(await byNumber(PHARMACY, '03700011')).full_name).toBe('PILL, PAT');
  },
);

verifies(
  ['LOOKUP-04', 'LOOKUP-06', 'LOOKUP-10', 'SEARCH-03', 'SERVICE-01'],
  'a search with one match returns its record, of a person or a business',
  async () => {
    expect(recordIn(await byName('Twice'))).toMatchObject({ full_name: 'TWICE, ONE' });
    const home = recordIn(await business(FUNERALS, { business_name: 'Smith Funeral Home' }));
    expect(home).toMatchObject({
      license_number: 'FH.70004',
      full_name: 'SMITH FUNERAL HOME',
      board: FUNERALS,
      license_type: 'Funeral Home',
      status: 'ACTIVE',
      city: 'LIMA',
    });
  },
);

verifies(
  ['SEARCH-01', 'LOOKUP-11', 'SEARCH-04'],
  'a search with several matches returns their records in the array multiple, with count and date',
  async () => {
    const answer = matchesIn(await byName('Smith'));
    expect(answer).toMatchObject({
      found: true,
      count: 3,
      truncated: false,
      source: 'dataset',
      last_scraped: '2026-11-20T00:00:00',
    });
    expect(answer.multiple).toHaveLength(3);
    expect(answer).not.toHaveProperty('message');
  },
);

verifies('SEARCH-02', 'a search without a match returns 200 with found false and the date', async () => {
  for (const answer of [
    await byName('Nobody'),
    await business(PHARMACY, { business_name: 'Nowhere Drugs' }),
  ]) {
    expect(noMatchIn(answer)).toEqual({
      found: false,
      count: 0,
      message: expect.stringContaining('dataset of 2026-11-20'),
      did_you_mean: [],
      source: 'dataset',
      last_scraped: '2026-11-20T00:00:00',
      data_age_days: expect.any(Number),
    });
  }
});

verifies(
  'SEARCH-05',
  'a search with 120 matches returns the first 100 by name, truncated, with the advice to narrow it',
  async () => {
    const answer = matchesIn(await byName('Crowd'));
    expect(answer).toMatchObject({ count: 100, truncated: true });
    expect(answer.message).toMatch(/first_name.*license_type.*status.*city.*county/);
    expect(answer.multiple.map(({ full_name }) => full_name)).toEqual(
      times(100, (number) => `CROWD, GIVEN${padded(number)}`),
    );
    for (const again of await Promise.all(times(5, () => byName('Crowd')))) {
      expect(again.text).toBe((await byName('Crowd')).text);
    }
    expect(numbersIn(await byName('Crowd', { first_name: 'given11' }))).toHaveLength(10);
  },
);

verifies('SEARCH-05', 'a search with 100 matches returns all of them, not truncated', async () => {
  expect(matchesIn(await byName('Hundred'))).toMatchObject({ count: 100, truncated: false });
});

verifies('SEARCH-06', 'matches are in order: exact names first, then by name, then by number', async () => {
  expect(numbersIn(await byName('Order'))).toEqual(['RN.830001', 'RN.830002', 'RN.830003', 'RN.830000']);
  expect(numbersIn(await byName('Smith'))).toEqual(['RN.700005', 'PN.700004', 'RN.700003']);
});

verifies(
  'SEARCH-06',
  'an exact name is the first match, even if 101 others come before it by name',
  async () => {
    for (const [answer, exact] of [
      [await byName('Zebra'), 'ZEBRA, ANN'],
      [await byName('Zebra', { first_name: 'Ann' }), 'ZEBRA, ANN'],
      [await business(PHARMACY, { business_name: 'Zed Drugs' }), 'ZED DRUGS'],
    ] as const) {
      const { multiple, truncated } = matchesIn(answer);
      expect([multiple[0]?.full_name, multiple.length, truncated]).toEqual([exact, 100, true]);
    }
  },
);

verifies('INPUT-02', 'blank fields count as absent', async () => {
  const blanks = { license_number: ' ', search_type: '', business_name: '\t', city: '  ', status: '' };
  expect(recordIn(await byName('Twice', { first_name: ' ', ...blanks })).license_number).toBe('RN.700015');
});

test('a search without a match says what excludes the holders of the surname, or suggests similar surnames', async () => {
  for (const [narrowed, excluded] of [
    [{ first_name: 'Zebedee' }, 'none of the name "Smith, Zebedee"'],
    [{ city: 'Nowhere' }, 'none with city "Nowhere"'],
    [{ status: 'Closed', city: 'Lima' }, 'none with status "Closed" and city "Lima"'],
  ] as const) {
    const missed = noMatchIn(await byName('Smith', narrowed));
    expect(missed.did_you_mean).toEqual([]);
    expect(missed.message).toMatch(/^The Nursing Board has licenses of the (sur)?name "Smith" /);
    expect(missed.message).toContain(excluded);
    const misspelled = await byName('Smiht', narrowed);
    expect(noMatchIn(misspelled).did_you_mean).toEqual(['SMITH']);
    expect(noMatchIn(misspelled).message).toMatch(/^No license of the Nursing Board matches the name "Smiht/);
    expect(misspelled.text).not.toMatch(/mary|RN\.|PN\./i);
  }
});

verifies(
  'LOOKUP-09',
  'a search for a business without business_name and license_number gets 400',
  async () => {
    for (const asked of [{}, { business_name: '  ' }, { last_name: 'Smith' }]) {
      expect(detailIn(await business(PHARMACY, asked), 400)).toMatch(/business_name or license_number/);
    }
  },
);

verifies('BUSINESS-03', 'business_name without search_type gets 400, which says what to add', async () => {
  const detail = detailIn(await rest.verify({ board: PHARMACY, business_name: 'best' }), 400);
  expect(detail).toContain('"search_type": "business"');
});

verifies('LOOKUP-08', 'a search_type other than "business" gets 400', async () => {
  for (const search_type of ['individual', 'Business']) {
    const answer = await rest.verify({ board: PHARMACY, search_type, business_name: 'best' });
    expect(detailIn(answer, 400)).toContain('"business"');
  }
});

const CACHED_BODIES = [
  { board: NURSING, license_number: 'RN.700001', license_type: 'Registered Nurse (RN)' },
  { board: NURSING, license_number: 'RN.0700001' },
  { board: PHARMACY, license_number: 'RN.700001' },
  { board: NURSING, license_number: 'RN.700001', last_name: 'Smith' },
  { board: NURSING, last_name: 'Smith' },
  { board: NURSING, last_name: 'Smiht' },
  { board: PHARMACY, search_type: 'business', business_name: 'best' },
  { board: 'Nursing Bord', license_number: 'RN.700001' },
  { board: NURSING },
];

verifies(
  ['VERSIONS-02', 'VERSIONS-03', 'VERSIONS-04'],
  '/lookup/cached responds byte for byte as /lookup/verify, also with errors, plus headers that name its successor',
  async () => {
    for (const body of CACHED_BODIES) {
      const current = await rest.verify(body);
      const deprecated = await rest.verify(body, '/api/v1/lookup/cached');
      expect([deprecated.status, deprecated.text]).toEqual([current.status, current.text]);
      expect(deprecated.headers.get('deprecation')).toMatch(/^@\d+$/);
      expect(deprecated.headers.get('link')).toBe('</api/v1/lookup/verify>; rel="successor-version"');
      expect(current.headers.get('deprecation')).toBeNull();
      expect(current.headers.get('link')).toBeNull();
    }
  },
);

verifies('VERSIONS-04', '/lookup/cached sends these headers for every form of its path', async () => {
  for (const [path, status, isDeprecated] of [
    ['/api/v1/lookup/cached/', 200, true],
    ['/api/v1/lookup/cached?x=1', 200, true],
    ['/api/v1/lookup/CACHED', 404, false],
  ] as const) {
    const { headers, ...answer } = await rest.verify(CACHED_BODIES[0], path);
    expect([path, answer.status, headers.has('deprecation')]).toEqual([path, status, isDeprecated]);
  }
});

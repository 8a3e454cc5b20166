import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { detailIn, matchesIn, noMatchIn, numberMissIn, numbersIn, recordIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { fixturesAnd, pharmacyRow, times } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const PHARMACY = 'Board of Pharmacy';
const FUNERALS = 'Embalmers and Funeral Directors Board';
const BEAUTY = 'Cosmetology and Barber Board';

let service: TestService;
let rest: ApiClient;

beforeAll(async () => {
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        business: [
          ...times(101, (number) =>
            pharmacyRow(`CHAIN STORE ${String(number).padStart(4, '0')}`, `02${80_000_000 + number}`),
          ),
          pharmacyRow('CHAIN', '0289000000'),
          pharmacyRow('NARROW DRUGS', '0290000001', { parcel_city: 'AKRON', parcel_county: 'Summit' }),
          pharmacyRow('NARROW DRUGS', '0290000002', {
            license_status: 'Closed',
            sub_status: 'Out of Business',
          }),
        ],
      }),
  });
  rest = service.rest;
});
afterAll(() => service.stop());

function business(board: string, asked: Record<string, string>) {
  return rest.verify({ board, search_type: 'business', ...asked });
}

async function numbers(business_name: string, asked: Record<string, string> = {}) {
  return numbersIn(await business(PHARMACY, { business_name, ...asked }));
}

const JOES = '0270000001';
const LIMA = '0270000002';

describe('a business by name', () => {
  verifies(
    ['LOOKUP-06', 'SERVICE-01', 'SEARCH-03', 'LOOKUP-10'],
    'gets its record when it is the only match',
    async () => {
      const record = recordIn(await business(FUNERALS, { business_name: 'Smith Funeral Home' }));
      expect(record).toMatchObject({
        license_number: 'FH.70004',
        full_name: 'SMITH FUNERAL HOME',
        board: FUNERALS,
        license_type: 'Funeral Home',
        status: 'ACTIVE',
        city: 'LIMA',
      });
    },
  );

  verifies('BUSINESS-01', 'is found by a prefix of either trade name', async () => {
    expect((await numbers('best little')).sort()).toEqual([JOES, LIMA]);
    expect(await numbers('joe & son')).toEqual([JOES]);
    expect(await numbers("JOE & SON'S DRUGS")).toEqual([JOES]);
    expect(await numbers('the best little pharmacy llc')).toContain(JOES);
  });

  test('is found by prefixes of its words in any order, if no name starts with the search', async () => {
    expect(await numbers('drugs')).toEqual([JOES, '0290000001', '0290000002']);
    expect(await numbers('little pharmacy')).toEqual([JOES, LIMA]);
    expect(await numbers('pharm litt, best')).toEqual([JOES, LIMA]);
    expect(await numbers('lima pharmacy')).toEqual([LIMA]);
    expect(await numbers('drugs', { city: 'Akron' })).toEqual(['0290000001']);
    expect(await numbers('ittle pharmacy')).toEqual([]);
    expect(await numbers('little salon')).toEqual([]);
    expect(await numbers('of lima drugs')).toEqual([]);
    expect(noMatchIn(await business(BEAUTY, { business_name: 'little pharmacy' })).count).toBe(0);
  });

  test('that is misspelled is not found; similar existing names are suggested, best first', async () => {
    const offers: [string, string[]][] = [
      [
        'Best Littel Pharmcy',
        ['BEST LITTLE PHARMACY OF LIMA', "THE BEST LITTLE PHARMACY LLC D.B.A JOE & SON'S DRUGS"],
      ],
      ['narow drugs', ['NARROW DRUGS']],
      ['lima pharmcy', ['BEST LITTLE PHARMACY OF LIMA']],
      ['lmia phramacy', ['BEST LITTLE PHARMACY OF LIMA']],
      ['lima farmacy', []],
      ['lima salon', []],
      ['Nowhere Drugs', []],
    ];
    for (const [written, names] of offers) {
      const { did_you_mean } = noMatchIn(await business(PHARMACY, { business_name: written }));
      expect([written, did_you_mean]).toEqual([written, names]);
    }
    expect(noMatchIn(await business(BEAUTY, { business_name: 'narow drugs' })).did_you_mean).toEqual([]);
  });

  test('is suggested only if it passes the filters', async () => {
    for (const [filters, names] of [
      [{ city: 'akron' }, ['NARROW DRUGS']],
      [{ county: 'SUMMIT', status: 'Active' }, ['NARROW DRUGS']],
      [{ city: 'akron', status: 'Closed' }, []],
      [{ city: 'Nowhere' }, []],
    ] as const) {
      const { did_you_mean } = noMatchIn(
        await business(PHARMACY, { business_name: 'narow drugs', ...filters }),
      );
      expect([filters, did_you_mean]).toEqual([filters, names]);
    }
  });

  verifies('BUSINESS-02', 'is found with or without THE, whatever the case and punctuation', async () => {
    for (const written of [
      'the best little',
      'BEST LITTLE',
      'Best-Little',
      "The 'Best' Little",
      'bestlittle',
    ]) {
      expect([written, (await numbers(written)).sort()]).toEqual([written, [JOES, LIMA]]);
    }
    for (const written of ['joe and sons', 'Joe & Sons', 'JOE SONS', "joe son's"]) {
      expect([written, await numbers(written)]).toEqual([written, [JOES]]);
    }
    const shears = await business(BEAUTY, { business_name: 'shear 1 salon' });
    expect(recordIn(shears).license_number).toBe('COSS.70003');
  });

  verifies('SEARCH-06', 'is listed first when its name matches exactly', async () => {
    const { multiple } = matchesIn(await business(PHARMACY, { business_name: 'Best Little Pharmacy' }));
    expect(multiple.map(({ license_number }) => license_number)).toEqual([JOES, LIMA]);
    expect((await numbers('chain'))[0]).toBe('0289000000');
  });

  verifies(
    ['SEARCH-01', 'LOOKUP-11', 'SEARCH-05'],
    'is returned with at most 99 others, and truncated says that there are more',
    async () => {
      const answer = matchesIn(await business(PHARMACY, { business_name: 'chain' }));
      expect(answer).toMatchObject({ count: 100, truncated: true, message: expect.stringMatching(/city/) });
    },
  );

  verifies('SEARCH-02', 'that does not exist gives 200 with found false', async () => {
    expect(noMatchIn(await business(PHARMACY, { business_name: 'Nowhere Drugs' }))).toMatchObject({
      found: false,
      count: 0,
      last_scraped: '2026-11-20T00:00:00',
    });
  });

  verifies('FILTERS-01', 'can be filtered by license_type, status, city and county', async () => {
    const [akron, closed] = ['0290000001', '0290000002'];
    expect(await numbers('narrow')).toEqual([akron, closed]);
    expect(await numbers('narrow', { city: 'Akron' })).toEqual([akron]);
    expect(await numbers('narrow', { county: 'allen' })).toEqual([closed]);
    expect(await numbers('narrow', { status: 'Closed' })).toEqual([closed]);
    expect(await numbers('narrow', { status: 'Closed - Out of Business' })).toEqual([closed]);
    expect(await numbers('narrow', { license_type: 'Terminal Distributor of Dangerous Drugs' })).toEqual([
      akron,
      closed,
    ]);
  });

  verifies('INPUT-01', 'is not found by wildcards or quotes', async () => {
    for (const written of ['BEST*LIMO', 'B*TTLE', 'b?st', '"qz"', 'q.*', '|qz']) {
      expect([written, await numbers(written)]).toEqual([written, []]);
    }
    expect(await numbers('PHARMACY*BEST')).toEqual(await numbers('pharmacy best'));
  });

  test('is searched only at the given board, and without persons', async () => {
    expect(noMatchIn(await business(BEAUTY, { business_name: 'best little' })).count).toBe(0);
    expect(noMatchIn(await business(PHARMACY, { business_name: 'Pill' })).count).toBe(0);
  });
});

describe('a business by number', () => {
  verifies('LOOKUP-07', 'gets its record', async () => {
    expect(recordIn(await business(BEAUTY, { license_number: 'coss.70003' }))).toMatchObject({
      full_name: 'SHEAR #1 SALON INC',
      raw_status: 'Inactive - Expired',
    });
    expect(recordIn(await business(PHARMACY, { license_number: LIMA }))).not.toHaveProperty('name_match');
  });

  test('has name_match, which says whether the name that was sent is one of its names', async () => {
    for (const [business_name, name_match] of [
      ['joe', true],
      ["Joe & Son's Drugs, Inc.", true],
      ['the best little pharmacy', true],
      ["THE BEST LITTLE PHARMACY LLC D.B.A JOE & SON'S DRUGS", true],
      ['little', true],
      ['the best little pharmacy joe & sons drugs', true],
      ["drugs, Joe & Son's", true],
      ['litle', false],
      ['little salon', false],
      ['Shear', false],
      ['*', false],
    ] as const) {
      const record = recordIn(await business(PHARMACY, { license_number: JOES, business_name }));
      expect([business_name, record]).toEqual([
        business_name,
        expect.objectContaining({ license_number: JOES, name_match }),
      ]);
    }
  });

  verifies(
    'BUSINESS-04',
    'is not found when the number is a person’s, and the response does not name the person',
    async () => {
      const answer = await business(PHARMACY, { license_number: '03700011' });
      expect(numberMissIn(answer).detail).toMatch(/not a business/);
      expect(answer.text).not.toMatch(/pill/i);
      expect(recordIn(await rest.verify({ board: PHARMACY, license_number: '03700011' })).full_name).toBe(
        'PILL, PAT',
      );
    },
  );

  verifies('LOOKUP-12', 'that does not exist gives 404', async () => {
    numberMissIn(await business(PHARMACY, { license_number: '0299999999' }));
  });

  verifies('BUSINESS-04', 'that does not exist gets suggestions only from businesses', async () => {
    const offers: [string, string, string[], string[]][] = [
      [BEAUTY, 'COSS.070003', ['COSS.70003'], ['COSS.70003']],
      [FUNERALS, 'COSS.070003', ['COSS.70003'], ['COSS.70003']],
      [FUNERALS, 'FH.700006', [], ['35.700006']],
      [PHARMACY, '700011', [], []],
      [PHARMACY, '3700011', [], ['03700011']],
    ];
    for (const [board, license_number, businesses, all] of offers) {
      const ofBusinesses = numberMissIn(await business(board, { license_number })).did_you_mean;
      const ofAll = numberMissIn(await rest.verify({ board, license_number })).did_you_mean;
      expect([license_number, ofBusinesses, ofAll]).toEqual([license_number, businesses, all]);
    }
  });
});

describe('an incomplete business search', () => {
  verifies('LOOKUP-09', 'is refused without business_name and license_number', async () => {
    for (const asked of [{}, { business_name: '  ' }, { last_name: 'Smith' }]) {
      expect(detailIn(await business(PHARMACY, asked), 400)).toMatch(/business_name or license_number/);
    }
  });

  verifies(
    'BUSINESS-03',
    'is refused with business_name but no search_type, and the error says so',
    async () => {
      const detail = detailIn(await rest.verify({ board: PHARMACY, business_name: 'best' }), 400);
      expect(detail).toContain('"search_type": "business"');
    },
  );

  verifies('LOOKUP-08', 'is refused with a search_type other than "business"', async () => {
    for (const search_type of ['individual', 'Business', 'person', 'businesses']) {
      const answer = await rest.verify({ board: PHARMACY, search_type, business_name: 'best' });
      expect(detailIn(answer, 400)).toContain('"business"');
    }
  });
});

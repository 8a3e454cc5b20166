import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { matchesIn, recordIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { fixturesAnd, nurseRow } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const MEDICAL = 'Medical Board';
const PHARMACY = 'Board of Pharmacy';

/** Specification 2.4, and one that it does not list. */
const PRIMARY_STATUSES = [
  'Active',
  'Inactive',
  'Closed',
  'In Review',
  'Submitted',
  'Relinquished',
  'Bewitched',
];

/** Specification 2.5, and one that it does not list. */
const SUB_STATUSES = [
  ...['Expired', 'Lapsed', 'Late Renewal', 'Not Renewing'],
  ...[
    'Suspended',
    'Revoked',
    'Revocation',
    'Permanent Revocation',
    'Probation',
    'Board Action',
    'Restricted',
  ],
  ...['Surrendered', 'Permanent Surrender', 'Forfeited', 'Abandoned', 'Withdrawn', 'Permanent Withdrawal'],
  ...[
    'Denied',
    'Permanent Denial',
    'Permanently Denied',
    'Failed Exam',
    'Out of Business',
    'Closed',
    'Deceased',
  ],
  ...['Exam Eligible', 'Exam Scheduled', 'Exam No Show', 'Pending Approval', 'Conditional Approval'],
  ...[
    'Additional Information',
    'Additional Information Required',
    'Incomplete',
    'Fee Required',
    'Provisional',
  ],
  ...['Pending Basic', 'Pending Advanced', 'Pending Receipt of Plan', 'Active In Renewal'],
  ...['Additional Endorsement Pending', 'Retired', 'Permanent Retirement', 'Emeritus', 'Escrow', 'OnDeposit'],
  ...['Exempt', 'Advanced', 'Upgraded', 'Limited Temp', 'Finished', 'Turned to Stone'],
];

let service: TestService;
let rest: ApiClient;

beforeAll(async () => {
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          ...PRIMARY_STATUSES.map((STATUS, at) => nurseRow('PRIMARY, P', `RN.${91_000 + at}`, { STATUS })),
          ...SUB_STATUSES.map((SUB_STATUS, at) => nurseRow('SUB, S', `RN.${92_000 + at}`, { SUB_STATUS })),
          nurseRow('BARE, BEN', 'RN.93000', {
            TYPE: '',
            STATUS: '',
            PARCEL_CITY: '',
            PARCEL_STATE: '',
            PARCEL_COUNTY: '',
            ISSUE_DATE: '',
            EXPIRATION_DATE: '',
          }),
          nurseRow('TODAY, TIM', 'RN.94000', { EXPIRATION_DATE: todayInNewYork() }),
        ],
      }),
  });
  rest = service.rest;
});
afterAll(() => service.stop());

async function record(board: string, license_number: string) {
  return recordIn(await rest.verify({ board, license_number }));
}

/** Today's date in Ohio's time zone, worked out by other means than the service's. */
function todayInNewYork(): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/New_York',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(new Date());
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')}`;
}

function daysFromToday(date: string): number {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const [thisYear = 0, thisMonth = 0, today = 0] = todayInNewYork().split('-').map(Number);
  return (Date.UTC(year, month - 1, day) - Date.UTC(thisYear, thisMonth - 1, today)) / 86_400_000;
}

describe('a record', () => {
  verifies(
    [
      'SPEC-2.2-01',
      'SPEC-2.2-03',
      'SPEC-2.2-08',
      'SPEC-2.2-10',
      'SPEC-2.2-11',
      'SPEC-2.2-12',
      'DESIGN-DATE-01',
    ],
    'has exactly the fields of the specification, as the row has them',
    async () => {
      expect(await record('Chiropractic Board', 'DC-01234')).toEqual({
        found: true,
        license_number: 'DC-01234',
        full_name: 'SPINE, SAM',
        board: 'Chiropractic Board',
        license_type: 'Chiropractor',
        status: 'ACTIVE',
        expiry_date: '2099-01-01',
        days_until_expiry: daysFromToday('2099-01-01'),
        city: 'LIMA',
        state: 'OH',
        raw_status: 'Active',
        county: 'Allen',
        issue_date: '2000-01-01',
        extra_data: { County: 'Allen', ZIP: '45801', 'Issue Date': '2000-01-01', 'Board Action': 'No' },
        source: 'dataset',
        last_scraped: '2026-11-20T00:00:00',
      });
    },
  );

  verifies('SPEC-2.2-04', 'has the catalogue name of its board and one of that board’s types', async () => {
    const answered = await record(NURSING, 'RN.700020');
    expect(answered.board).toBe(NURSING);
    const types = z
      .object({ license_types: z.array(z.string()) })
      .parse((await rest.get('/api/v1/lookup/boards/Nursing%20Board/types')).body);
    expect(types.license_types).toContain(answered.license_type);
  });

  verifies('SPEC-2.2-06', 'has dates as YYYY-MM-DD, however the file writes them', async () => {
    expect(await record(NURSING, 'RN.700005')).toMatchObject({
      issue_date: '2003-05-17',
      expiry_date: '2099-10-31',
      extra_data: { 'Issue Date': '2003-05-17' },
    });
  });

  verifies(['DESIGN-EXTRA-01', 'DESIGN-EXTRA-02'], 'keeps all else of its row in extra_data', async () => {
    const { extra_data: person } = await record(NURSING, 'RN.700001');
    expect(person).toEqual({
      County: 'Franklin',
      ZIP: '43004',
      'Issue Date': '2001-05-17',
      'Board Action': 'No',
      'Compact Eligibility': 'Multi-State',
      'Endorsement Number 1': 'APRN.CNP.0070001',
      'Endorsement Type 1': 'APRN - Certified Nurse Practitioner (CNP)',
      'Endorsement Status 1': 'Inactive',
      'Endorsement Sub Status 1': 'Lapsed',
      'Endorsement Issue Date 1': '2010-01-02',
      'Endorsement Expiration Date 1': '2020-10-31',
      'Favourite Colour': 'teal',
    });
    const { extra_data: business } = await record(PHARMACY, '0270000001');
    expect(Object.values(business)).toContain('1 MAIN ST, SUITE 2');
  });

  verifies('DESIGN-NULLS-01', 'has null for all that its row lacks or hides', async () => {
    expect(await record(NURSING, 'RN.93000')).toMatchObject({
      license_type: null,
      status: null,
      raw_status: null,
      city: null,
      state: null,
      county: null,
      issue_date: null,
      expiry_date: null,
      days_until_expiry: null,
      extra_data: {},
    });
    expect(await record(NURSING, 'RN.700003')).toMatchObject({ city: null, state: null, county: null });
    expect(await record(MEDICAL, '35.700007')).toMatchObject({ city: 'MIAMI', state: 'FL', county: null });
  });

  test('comes through with line breaks and quotes in it', async () => {
    expect(await record('Athletic Commission', 'BOX.70014')).toMatchObject({
      full_name: 'QUOTE "Q", QUINN',
      city: 'LIMA,\nNORTH',
      status: 'IN REVIEW',
    });
  });

  test('is answered in the same words to a search as to a lookup by number', async () => {
    const found = matchesIn(await rest.verify({ board: NURSING, last_name: 'delacruz' }));
    for (const each of found.multiple) expect(each).toEqual(await record(NURSING, each.license_number));
  });
});

describe('days_until_expiry', () => {
  verifies(
    ['SPEC-2.2-07', 'DESIGN-DAYS-01'],
    'counts from today in Ohio: ahead, today, past, and null without a date',
    async () => {
      expect((await record(NURSING, 'RN.700001')).days_until_expiry).toBe(daysFromToday('2099-10-31'));
      expect((await record(NURSING, 'RN.94000')).days_until_expiry).toBe(
        daysFromToday(await expiryOfToday()),
      );
      const past = await record(MEDICAL, '35.700007');
      expect(past).toMatchObject({ status: 'ACTIVE', days_until_expiry: daysFromToday('2025-04-01') });
      expect(past.days_until_expiry).toBeLessThan(0);
      expect(await record(MEDICAL, '33.700008')).toMatchObject({
        expiry_date: null,
        days_until_expiry: null,
      });
    },
  );

  async function expiryOfToday(): Promise<string> {
    return (await record(NURSING, 'RN.94000')).expiry_date ?? '';
  }
});

describe('statuses', () => {
  verifies(
    ['SPEC-2.4-01', 'SPEC-2.2-05', 'SPEC-3-02', 'DESIGN-STATUS-01'],
    'are the primary status in upper case, known or not, and raw_status as the board writes it',
    async () => {
      const { multiple } = matchesIn(await rest.verify({ board: NURSING, last_name: 'Primary' }));
      expect(multiple.map(({ status, raw_status }) => [status, raw_status])).toEqual(
        PRIMARY_STATUSES.map((primary) => [primary.toUpperCase(), primary]),
      );
    },
  );

  verifies(
    ['SPEC-2.5-01', 'SPEC-2.2-09', 'DESIGN-STATUS-01'],
    'have the sub-status after the primary one in raw_status',
    async () => {
      const { multiple } = matchesIn(await rest.verify({ board: NURSING, last_name: 'Sub' }));
      expect(multiple.map(({ status, raw_status }) => [status, raw_status])).toEqual(
        SUB_STATUSES.map((sub) => ['ACTIVE', `Active - ${sub}`]),
      );
    },
  );
});

import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import statuses from '../../data/statuses.json' with { type: 'json' };
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { matchesIn, recordIn } from '../support/answers.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { daysAfter, daysBetween, onOneDay, shiftedClock, todayInNewYork } from '../support/days.ts';
import { fixturesAnd, nurseRow } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const MEDICAL = 'Medical Board';
const PHARMACY = 'Board of Pharmacy';

/** The catalog's, and one that it does not have. */
const PRIMARY_STATUSES = [...statuses.primary, 'Bewitched'];
const SUB_STATUSES = [...statuses.sub, 'Turned to Stone'];

/** Expiry dates in the test data, in days from the day on which the test starts. */
const DAYS_AHEAD = [-400, -1, 0, 1, 400];
const PLANTED_ON = todayInNewYork();

/** Expiry dates around the dates of the shifted clocks. */
const EXPIRY_DATES = ['2026-06-30', '2026-07-01', '2026-07-02', '2026-12-30', '2026-12-31', '2027-01-01'];

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
            ...{ TYPE: '', STATUS: '', PARCEL_CITY: '', PARCEL_STATE: '', PARCEL_COUNTY: '' },
            ...{ ISSUE_DATE: '', EXPIRATION_DATE: '' },
          }),
          ...DAYS_AHEAD.map((days, at) =>
            nurseRow('AHEAD, A', `RN.${94_000 + at}`, { EXPIRATION_DATE: daysAfter(PLANTED_ON, days) }),
          ),
          ...EXPIRY_DATES.map((EXPIRATION_DATE, at) =>
            nurseRow('DATED, D', `RN.${95_000 + at}`, { EXPIRATION_DATE }),
          ),
        ],
      }),
  });
  rest = service.rest;
});

async function record(board: string, license_number: string) {
  return recordIn(await rest.verify({ board, license_number }));
}

describe('a record', () => {
  verifies(
    ['RECORD-01', 'RECORD-03', 'RECORD-08', 'RECORD-10', 'RECORD-11', 'RECORD-12', 'DATE-01'],
    'has exactly the required fields, with the values of the row',
    async () => {
      const { today, answer } = await onOneDay(() => record('Chiropractic Board', 'DC-01234'));
      expect(answer).toEqual({
        ...{ found: true, license_number: 'DC-01234', full_name: 'SPINE, SAM', board: 'Chiropractic Board' },
        ...{ license_type: 'Chiropractor', status: 'ACTIVE', raw_status: 'Active' },
        ...{ expiry_date: '2099-01-01', days_until_expiry: daysBetween(today, '2099-01-01') },
        ...{ city: 'LIMA', state: 'OH', county: 'Allen', issue_date: '2000-01-01' },
        extra_data: { County: 'Allen', ZIP: '45801', 'Issue Date': '2000-01-01', 'Board Action': 'No' },
        cautions: [],
        notes: [],
        source: 'dataset',
        last_scraped: '2026-11-20T00:00:00',
        data_age_days: daysBetween('2026-11-20', today),
      });
    },
  );

  verifies(
    'RECORD-04',
    'has the catalog name of its board and one of the board’s license types',
    async () => {
      const answered = await record(NURSING, 'RN.700020');
      expect(answered.board).toBe(NURSING);
      const types = z
        .object({ license_types: z.array(z.string()) })
        .parse((await rest.get('/api/v1/lookup/boards/Nursing%20Board/types')).body);
      expect(types.license_types).toContain(answered.license_type);
    },
  );

  verifies('RECORD-06', 'has dates as YYYY-MM-DD, whatever their format in the file', async () => {
    expect(await record(NURSING, 'RN.700005')).toMatchObject({
      issue_date: '2003-05-17',
      expiry_date: '2099-10-31',
      extra_data: { 'Issue Date': '2003-05-17' },
    });
  });

  verifies(['RECORD-15', 'RECORD-16'], 'has all other columns of its row in extra_data', async () => {
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

  verifies('RECORD-14', 'has null for values that its row lacks or hides', async () => {
    expect(await record(NURSING, 'RN.93000')).toMatchObject({
      ...{ license_type: null, status: null, raw_status: null, city: null, state: null, county: null },
      ...{ issue_date: null, expiry_date: null, days_until_expiry: null, extra_data: {} },
    });
    expect(await record(NURSING, 'RN.700003')).toMatchObject({ city: null, state: null, county: null });
    expect(await record(MEDICAL, '35.700007')).toMatchObject({ city: 'MIAMI', state: 'FL', county: null });
  });

  test('keeps line breaks and quotes', async () => {
    expect(await record('Athletic Commission', 'BOX.70014')).toMatchObject({
      full_name: 'QUOTE "Q", QUINN',
      city: 'LIMA,\nNORTH',
      status: 'IN REVIEW',
    });
  });

  test('is the same from a name search as from a lookup by number', async () => {
    const found = matchesIn(await rest.verify({ board: NURSING, last_name: 'delacruz' }));
    for (const each of found.multiple) expect(each).toEqual(await record(NURSING, each.license_number));
  });
});

describe('days_until_expiry', () => {
  async function expiries(client: ApiClient, last_name: string) {
    const { multiple } = matchesIn(await client.verify({ board: NURSING, last_name }));
    return multiple.map(({ expiry_date, days_until_expiry }) => [expiry_date, days_until_expiry]);
  }

  verifies(
    ['RECORD-07', 'RECORD-13'],
    'is the number of days from today in Ohio to expiry_date: negative after it, null without a date',
    async () => {
      const { today, answer } = await onOneDay(() => expiries(rest, 'Ahead'));
      const daysSince = daysBetween(PLANTED_ON, today);
      expect(answer).toEqual(DAYS_AHEAD.map((days) => [daysAfter(PLANTED_ON, days), days - daysSince]));
      expect(await record(MEDICAL, '35.700007')).toMatchObject({
        status: 'ACTIVE',
        expiry_date: '2025-04-01',
      });
      expect(await record(MEDICAL, '33.700008')).toMatchObject({
        expiry_date: null,
        days_until_expiry: null,
      });
    },
  );

  for (const [instant, what, days] of [
    ['2027-01-01T04:30:00Z', 'January 1 in UTC is still December 31 in Ohio', [-184, -183, -182, -1, 0, 1]],
    [
      '2026-07-01T04:30:00Z',
      'July 1 in daylight saving time, June 30 in standard time',
      [-1, 0, 1, 182, 183, 184],
    ],
  ] as const) {
    verifies(['RECORD-07', 'RECORD-13'], `follows the clock: ${what}`, async () => {
      const { client, stop } = await clientAt(instant);
      try {
        expect(await expiries(client, 'Dated')).toEqual(EXPIRY_DATES.map((date, at) => [date, days[at]]));
      } finally {
        await stop();
      }
    });
  }

  /** A client of another API process, whose clock started at this instant. */
  async function clientAt(instant: string) {
    const { environment } = service;
    const [PORT = 0, ADMIN_PORT = 0] = await freePorts(2);
    const api = await startApi({
      ...environment.variables,
      ...shiftedClock(Date.parse(instant) - Date.now()),
      PORT: String(PORT),
      ADMIN_PORT: String(ADMIN_PORT),
    });
    const client = await apiClient({ ...environment, config: { ...environment.config, PORT } });
    return { client, stop: () => api.stop() };
  }
});

describe('statuses', () => {
  verifies(
    ['STATUS-01', 'RECORD-05', 'STATUS-03', 'STATUS-04'],
    'are the primary status in upper case, even an unlisted one, with raw_status as in the file',
    async () => {
      const { multiple } = matchesIn(await rest.verify({ board: NURSING, last_name: 'Primary' }));
      expect(multiple.map(({ status, raw_status }) => [status, raw_status])).toEqual(
        PRIMARY_STATUSES.map((primary) => [primary.toUpperCase(), primary]),
      );
    },
  );

  verifies(
    ['STATUS-02', 'RECORD-09', 'STATUS-04'],
    'have the sub-status after the primary status in raw_status',
    async () => {
      const { multiple } = matchesIn(await rest.verify({ board: NURSING, last_name: 'Sub' }));
      expect(multiple.map(({ status, raw_status }) => [status, raw_status])).toEqual(
        SUB_STATUSES.map((sub) => ['ACTIVE', `Active - ${sub}`]),
      );
    },
  );
});

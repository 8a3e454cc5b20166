import { describe, expect, test } from '@jest/globals';
import { lastScraped } from '../../src/answers/origin.ts';
import { needOf, responseRecord, toResponseRecord, viewOf } from '../../src/answers/view.ts';
import type { InvalidLookup, LookupOutcome } from '../../src/licenses/lookup.ts';
import { ANSWERED_LICENSE, nurseRecord, storedLicense } from '../support/records.ts';

describe('a record in a response', () => {
  const origin = { date: '2026-11-20', today: '2026-11-21' };

  test('has exactly the required fields', () => {
    expect(toResponseRecord(storedLicense(), origin)).toEqual(ANSWERED_LICENSE);
  });

  test.each([true, false])("says whether the name sent with the number is the holder's: %s", (nameMatch) => {
    const compared = toResponseRecord(storedLicense(), origin, { nameMatch });
    const cautions = nameMatch ? [] : ['name_mismatch'];
    expect(compared).toEqual({ ...ANSWERED_LICENSE, cautions, name_match: nameMatch });
    expect(responseRecord.parse(compared)).toEqual(compared);
  });

  test.each([
    ['Nursing Board', 'RN.123456', 'https://a.example/licenses/NUR/RN.123456'],
    ['Nursing Board', 'RN/1 #2?', 'https://a.example/licenses/NUR/RN%2F1%20%232%3F'],
    ['A Board of Tomorrow', 'RN.123456', undefined],
  ])('of the %s with the number %s has the address of its page: %s', (board, number, url) => {
    const record = { ...storedLicense(), board, license_number: number };
    expect(toResponseRecord(record, { ...origin, publicUrl: 'https://a.example' }).url).toBe(url);
    expect(toResponseRecord(record, origin)).not.toHaveProperty('url');
  });

  test.each([
    ['2026-11-22', 1],
    ['2026-11-21', 0],
    ['2026-11-20', -1],
    ['2025-11-21', -365],
    [null, null],
  ])('with the expiry date %s counts the days from today, not from the publication: %j', (expiry, days) => {
    const record = nurseRecord({ expiry_date: expiry });
    expect(toResponseRecord(record, { ...origin, date: '2026-11-01' }).days_until_expiry).toBe(days);
  });

  test('has null for missing values', () => {
    const blank = {
      ...{ license_type: null, status: null, expiry_date: null, city: null, state: null, raw_status: null },
      ...{ county: null, issue_date: null },
    };
    const answer = toResponseRecord(nurseRecord({ ...blank, extra_data: {} }), origin);
    expect(answer).toMatchObject({ ...blank, days_until_expiry: null, extra_data: {} });
    expect(responseRecord.parse(answer)).toEqual(answer);
  });
});

const request = { by: 'number', number: 'RN.1', businessOnly: false } as const;
const miss = { outcome: 'none', reason: 'unknown', request, didYouMean: ['RN.2'] } as const;

test.each<[string, string, LookupOutcome | InvalidLookup]>([
  ['a clear license', 'clear', { outcome: 'found', record: nurseRecord() }],
  ['one with a note', 'clear', { outcome: 'found', record: nurseRecord({ expiry_date: '2026-11-22' }) }],
  ['one with a caution', 'attention', { outcome: 'found', record: nurseRecord({ expiry_date: null }) }],
  ['another name', 'attention', { outcome: 'found', record: nurseRecord(), nameMatch: false }],
  ['several licenses', 'attention', { outcome: 'several', records: [nurseRecord()], truncated: false }],
  ['a miss', 'not_found', miss],
  ['a miss near a number of the name', 'attention', { ...miss, ofTheName: ['RN.2'] }],
  ['an invalid item', 'invalid', { outcome: 'invalid', detail: 'Send a name.' }],
])('%s in a list is %s', (_what, need, outcome) => {
  const origin = { publication: 'p', date: '2026-11-20', today: '2026-11-21', isSampleData: false };
  expect(needOf(viewOf(outcome, origin))).toBe(need);
});

test('last_scraped is midnight of the run date, without a time zone', () => {
  expect(lastScraped('2026-11-20')).toBe('2026-11-20T00:00:00');
});

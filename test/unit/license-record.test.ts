import { expect, test } from '@jest/globals';
import { needOf, toResponseRecord, viewOf } from '../../src/answers/view.ts';
import type { InvalidLookup, LookupOutcome } from '../../src/licenses/lookup.ts';
import { nurseRecord, storedLicense } from '../support/records.ts';
import { verifies } from '../support/verifies.ts';

const origin = { date: '2026-11-20', today: '2026-11-21' };

test.each([
  ['Nursing Board', 'RN.123456', 'https://a.example/licenses/NUR/RN.123456'],
  ['Nursing Board', 'RN/1 #2?', 'https://a.example/licenses/NUR/RN%2F1%20%232%3F'],
  ['A Board of Tomorrow', 'RN.123456', undefined],
])('a record of the %s with the number %s has the address of its page: %s', (board, number, url) => {
  const record = { ...storedLicense(), board, license_number: number };
  expect(toResponseRecord(record, { ...origin, publicUrl: 'https://a.example' }).url).toBe(url);
  expect(toResponseRecord(record, origin)).not.toHaveProperty('url');
});

verifies(['RECORD-07', 'RECORD-13'], 'days_until_expiry counts from today, not from the publication', () => {
  for (const [expiry_date, days] of [
    ['2026-11-22', 1],
    ['2026-11-21', 0],
    ['2025-11-21', -365],
    [null, null],
  ] as const) {
    const record = toResponseRecord(nurseRecord({ expiry_date }), {
      date: '2026-11-01',
      today: '2026-11-21',
    });
    expect([expiry_date, record.days_until_expiry]).toEqual([expiry_date, days]);
  }
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

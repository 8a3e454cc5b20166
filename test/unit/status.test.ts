import { expect, test } from '@jest/globals';
import { isKnownStatus, isKnownSubStatus, recordStatus } from '../../src/licenses/standing.ts';

test.each([
  // The others: test/integration/records.test.ts.
  ['Some New Status', 'OnDeposit', 'SOME NEW STATUS', 'Some New Status - OnDeposit'],
  ['', 'Expired', null, 'Expired'],
  ['', '', null, null],
])('STATUS %j with SUB_STATUS %j gives status %j and raw_status %j', (primary, sub, status, raw) => {
  expect(recordStatus(primary, sub)).toEqual({ status, raw_status: raw });
});

test.each(['', 'Active', 'ACTIVE', 'inactive', 'Closed', 'In Review', 'Submitted', 'Relinquished'])(
  'the STATUS %j is known',
  (primary) => {
    expect(isKnownStatus(primary)).toBe(true);
  },
);

test.each(['Expired', 'Active - Expired', 'InReview', ' Active', 'Current'])(
  'the STATUS %j is unknown',
  (primary) => {
    expect(isKnownStatus(primary)).toBe(false);
  },
);

test.each(['', 'Expired', 'PROBATION', 'Active In Renewal', 'permanent revocation', 'OnDeposit'])(
  'the SUB_STATUS %j is known',
  (sub) => {
    expect(isKnownSubStatus(sub)).toBe(true);
  },
);

test.each(['Active', 'Probated', 'Active - Probation'])('the SUB_STATUS %j is unknown', (sub) => {
  expect(isKnownSubStatus(sub)).toBe(false);
});

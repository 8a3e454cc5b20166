import { expect, test } from '@jest/globals';
import statuses from '../../data/statuses.json' with { type: 'json' };
import { isKnownStatus, isKnownSubStatus, recordStatus } from '../../src/licenses/standing.ts';
import { verifies } from '../support/verifies.ts';

verifies(
  ['STATUS-01', 'STATUS-02', 'STATUS-03', 'STATUS-04', 'RECORD-05', 'RECORD-09'],
  'a record has the primary status in upper case, and both as in the file, listed or not',
  () => {
    for (const primary of [...statuses.primary, 'Bewitched'])
      expect(recordStatus(primary, '')).toEqual({ status: primary.toUpperCase(), raw_status: primary });
    for (const sub of [...statuses.sub, 'Turned to Stone'])
      expect(recordStatus('Active', sub)).toEqual({ status: 'ACTIVE', raw_status: `Active - ${sub}` });
    expect(recordStatus('', 'Expired')).toEqual({ status: null, raw_status: 'Expired' });
    expect(recordStatus('', '')).toEqual({ status: null, raw_status: null });
  },
);

test.each([
  [
    'STATUS',
    isKnownStatus,
    '|Active|ACTIVE|inactive|In Review|Relinquished',
    'Expired|Active - Expired|InReview| Active',
  ],
  [
    'SUB_STATUS',
    isKnownSubStatus,
    '|Expired|PROBATION|permanent revocation|OnDeposit',
    'Active|Probated|Active - Probation',
  ],
])('of each %s it is known whether the catalog has it', (_what, isKnown, known, unknown) => {
  for (const each of known.split('|')) expect([each, isKnown(each)]).toEqual([each, true]);
  for (const each of unknown.split('|')) expect([each, isKnown(each)]).toEqual([each, false]);
});

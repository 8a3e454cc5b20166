import { describe, expect, test } from '@jest/globals';
import {
  CAUTIONS,
  cautionSentences,
  cautionsOf,
  endorsedLicense,
  endorsedLicenseAttributes,
  endorsementsOf,
} from '../../src/licenses/cautions.ts';
import type { StandingFields } from '../../src/licenses/status.ts';

const TODAY = '2026-11-21';

function license(fields: Partial<StandingFields> = {}): StandingFields {
  return { status: 'ACTIVE', raw_status: 'Active', expiry_date: '2027-10-31', extra_data: {}, ...fields };
}

function endorsementOf(fields: Partial<StandingFields>, status: string, subStatus = ''): StandingFields {
  const endorsed = { ...license(fields), license_number: 'RN.1' };
  return license({ extra_data: endorsedLicenseAttributes(endorsed, { status, subStatus }) });
}

const SUSPENDED = endorsementOf({ extra_data: { 'Board Action': 'Yes' } }, 'Inactive', 'Suspended');

describe('the cautions', () => {
  test.each<[string, StandingFields, string]>([
    ['an active license', license(), ''],
    ['one that expires today', license({ expiry_date: TODAY }), ''],
    ['one without an expiry date', license({ expiry_date: null }), ''],
    ['one that expired yesterday', license({ expiry_date: '2026-11-20' }), 'past_expiry'],
    [
      'an inactive one, long expired',
      license({ status: 'INACTIVE', raw_status: 'Inactive', expiry_date: '2020-01-01' }),
      'not_active',
    ],
    ['a renewal under way', license({ raw_status: 'Active - Active In Renewal' }), 'sub_status'],
    [
      'an expired one',
      license({ status: 'INACTIVE', raw_status: 'Inactive - Expired' }),
      'not_active sub_status',
    ],
    ['no status at all', license({ status: null, raw_status: null }), 'not_active'],
    ['a sub-status alone', license({ status: null, raw_status: 'Suspended' }), 'not_active sub_status'],
    ['a status in capital letters', license({ raw_status: 'ACTIVE' }), ''],
    ['a status that no board has', license({ status: 'FROZEN', raw_status: 'Frozen' }), 'not_active'],
    ['a board action', license({ extra_data: { 'Board Action': 'Yes' } }), 'board_action'],
    ['a board action in capital letters', license({ extra_data: { 'Board Action': 'YES' } }), 'board_action'],
    ['no board action', license({ extra_data: { 'Board Action': 'No' } }), ''],
    ['an endorsement of a clear license', endorsementOf({}, 'Active'), ''],
    ['an endorsement of a suspended license', SUSPENDED, 'endorsed_license'],
    [
      'an endorsement of one with a board action',
      endorsementOf({ extra_data: { 'Board Action': 'Yes' } }, 'Active'),
      'endorsed_license',
    ],
    [
      'an endorsement of one past its expiry date',
      endorsementOf({ expiry_date: '2026-11-20' }, 'Active'),
      'endorsed_license',
    ],
    [
      'an endorsement of one in renewal',
      endorsementOf({}, 'Active', 'Active In Renewal'),
      'endorsed_license',
    ],
    ['an endorsement of one without a status', endorsementOf({}, ''), 'endorsed_license'],
    ['an endorsement as 0.2.0 stored it', license({ extra_data: { 'Endorsed License': 'RN.1' } }), ''],
  ])('of %s', (_which, each, expected) => {
    expect(cautionsOf(each, TODAY).join(' ')).toBe(expected);
  });

  test('are in a fixed order, name_mismatch first', () => {
    const all = {
      ...license({ status: 'ACTIVE', raw_status: 'Active - Probation', expiry_date: '2026-11-20' }),
      extra_data: { ...SUSPENDED.extra_data, 'Board Action': 'Yes' },
    };
    const expected = CAUTIONS.filter((caution) => caution !== 'not_active');
    expect(cautionsOf(all, TODAY, false)).toEqual(expected);
    expect(cautionsOf(all, TODAY, true)).toEqual(expected.slice(1));
    expect(cautionSentences(all, expected)).toHaveLength(expected.length);
  });
});

test('what an endorsement stores of the license that it endorses is read back unchanged', () => {
  expect(endorsedLicense(SUSPENDED)).toEqual({
    number: 'RN.1',
    standing: {
      status: 'INACTIVE',
      raw_status: 'Inactive - Suspended',
      expiry_date: '2027-10-31',
      extra_data: { 'Board Action': 'Yes' },
    },
  });
  expect(endorsedLicense(endorsementOf({ expiry_date: null }, ''))?.standing).toEqual({
    status: null,
    raw_status: null,
    expiry_date: null,
    extra_data: {},
  });
  expect(endorsedLicense(license())).toBeUndefined();
});

test('the endorsements of a license are those that have a number, with the values of its row', () => {
  const endorsements = endorsementsOf({
    extra_data: {
      ZIP: '43215',
      'Endorsement Number 2': 'APRN.CNP.2',
      'Endorsement Type 2': 'CNP',
      'Endorsement Status 2': 'Active',
      'Endorsement Sub Status 2': 'Probation',
      'Endorsement Expiration Date 2': '2027-10-31',
      'Endorsement Board Action 2': 'Yes',
      'Endorsement Type 3': 'without a number',
      'Endorsement Number 4': 'APRN.CNP.4',
      'Endorsement Expiration Date 4': 'soon',
    },
  });
  expect(endorsements).toEqual([
    {
      number: 'APRN.CNP.2',
      type: 'CNP',
      standing: {
        status: 'ACTIVE',
        raw_status: 'Active - Probation',
        expiry_date: '2027-10-31',
        extra_data: { 'Board Action': 'Yes' },
      },
    },
    {
      number: 'APRN.CNP.4',
      type: undefined,
      standing: { status: null, raw_status: null, expiry_date: null, extra_data: {} },
    },
  ]);
});

test.each<[string, StandingFields, string[]]>([
  ['nothing of a clear license', license(), []],
  [
    'a sub-status',
    license({ raw_status: 'Active - Probation' }),
    ['Report the full status: Active - Probation.'],
  ],
  [
    'another status than Active',
    license({ status: 'INACTIVE', raw_status: 'Inactive - Suspended' }),
    ['Report the full status: Inactive - Suspended, whatever its expiry date.'],
  ],
  [
    'a blank status',
    license({ status: null, raw_status: null }),
    ['Report the full status: the State does not state one, whatever its expiry date.'],
  ],
  [
    'an endorsed license, its status, expiry date and board action',
    SUSPENDED,
    [
      'Tell of the license that it endorses, too (RN.1): its status is Inactive - Suspended, its expiry date 2027-10-31, the board has acted on it.',
    ],
  ],
])('the sentences for a reader say %s', (_what, each, sentences) => {
  expect(cautionSentences(each, cautionsOf(each, TODAY))).toEqual(sentences);
});

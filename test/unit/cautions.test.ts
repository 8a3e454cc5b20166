import { expect, test } from '@jest/globals';
import { recordSentences } from '../../src/answers/words.ts';
import type { StandingFields } from '../../src/licenses/standing.ts';
import {
  CAUTIONS,
  cautionsOf,
  endorsedLicense,
  endorsedLicenseAttributes,
  endorsementsOf,
  NOTES,
  notesOf,
} from '../../src/licenses/standing.ts';

const TODAY = '2026-11-21';

function license(fields: Partial<StandingFields> = {}): StandingFields {
  return { status: 'ACTIVE', raw_status: 'Active', expiry_date: '2027-10-31', extra_data: {}, ...fields };
}

/** A license with this raw status. */
function raw(status: string, fields: Partial<StandingFields> = {}): StandingFields {
  const [primary = ''] = status.split(' - ');
  return license({ status: primary.toUpperCase(), raw_status: status, ...fields });
}

const action = (text: string) => license({ extra_data: { 'Board Action': text } });

/** An endorsement of a license with these fields and this status. */
function endorsementOf(fields: Partial<StandingFields>, status: string, subStatus = ''): StandingFields {
  const endorsed = { ...license(fields), license_number: 'RN.1' };
  return license({ extra_data: endorsedLicenseAttributes(endorsed, { status, subStatus }) });
}

const ACTED = { extra_data: { 'Board Action': 'Yes' } };
const NO_ACTION = { extra_data: { 'Board Action': 'No' } };
const PAST = { expiry_date: '2026-11-20' };
const SUSPENDED = endorsementOf(ACTED, 'Inactive', 'Suspended');

test.each<[string, StandingFields, string]>([
  ['an active license', license(), ''],
  ['one that expires today', license({ expiry_date: TODAY }), ''],
  ['one without an expiry date', license({ expiry_date: null }), 'no_expiry_date'],
  ['a closed one without an expiry date', raw('Closed', { expiry_date: null }), 'not_active'],
  ['one issued after it expires', license({ issue_date: '2028-01-01' }), 'dates_conflict'],
  ['one issued on the day on which it expires', license({ issue_date: '2027-10-31' }), ''],
  ['one that expired yesterday', license({ expiry_date: '2026-11-20' }), 'past_expiry'],
  ['an inactive one, long expired', raw('Inactive', { expiry_date: '2020-01-01' }), 'not_active'],
  ['a renewal under way', raw('Active - Active In Renewal'), 'sub_status'],
  ['an expired one', raw('Inactive - Expired'), 'not_active sub_status'],
  ['no status at all', license({ status: null, raw_status: null }), 'not_active'],
  ['a sub-status alone', raw('Suspended', { status: null }), 'not_active sub_status board_action'],
  ['a status in capital letters', license({ raw_status: 'ACTIVE' }), ''],
  ['a status that no board has', raw('Frozen'), 'not_active'],
  ['a board action', action('Yes'), 'board_action'],
  ['a board action in capital letters', action('YES'), 'board_action'],
  ['no board action', action('No'), ''],
  ['no board action in other letters', action(' no '), ''],
  ['a board action in words', action('Yes - Consent Agreement'), 'board_action'],
  ['a board action of an unknown value', action('Y'), 'board_action'],
  ['a disciplinary sub-status and No', raw('Active - Probation', NO_ACTION), 'sub_status board_action'],
  ['one with more after it', raw('Active - permanent  surrender - Stayed'), 'sub_status board_action'],
  ['an endorsement without a date', endorsementOf({ expiry_date: null }, 'Active'), 'endorsed_license'],
  ['an endorsement of a clear license', endorsementOf({}, 'Active'), ''],
  ['an endorsement of a suspended license', SUSPENDED, 'endorsed_license'],
  ['an endorsement of one with a board action', endorsementOf(ACTED, 'Active'), 'endorsed_license'],
  ['an endorsement past its date', endorsementOf(PAST, 'Active'), 'endorsed_license'],
  ['an endorsement in renewal', endorsementOf({}, 'Active', 'Active In Renewal'), 'endorsed_license'],
  ['an endorsement of one without a status', endorsementOf({}, ''), 'endorsed_license'],
  ['an endorsement as 0.2.0 stored it', license({ extra_data: { 'Endorsed License': 'RN.1' } }), ''],
])('the cautions of %s', (_which, each, expected) => {
  expect(cautionsOf(each, TODAY).join(' ')).toBe(expected);
});

test('the cautions are in a fixed order, name_mismatch first', () => {
  const all = {
    ...license({ status: 'ACTIVE', raw_status: 'Active - Probation', expiry_date: '2026-11-20' }),
    issue_date: '2026-11-21',
    extra_data: { ...SUSPENDED.extra_data, 'Board Action': 'Yes' },
  };
  const text = 'name_mismatch sub_status past_expiry board_action dates_conflict endorsed_license';
  const expected = text.split(' ');
  expect(CAUTIONS.filter((caution) => expected.includes(caution))).toEqual(expected);
  expect(cautionsOf(all, TODAY, false)).toEqual(expected);
  expect(cautionsOf(all, TODAY, true)).toEqual(expected.slice(1));
  expect(sentencesOf(all, false)).toHaveLength(expected.length);
});

/** With an endorsement: `Status=Active; Board Action=Yes`. */
const endorsed = (fields: string, number = 'APRN.CNP.1') => {
  const labels = [...(number === '' ? [] : [`Number=${number}`]), ...fields.split('; ')]
    .map((each) => each.split('='))
    .map(([label, text]) => [`Endorsement ${label} 1`, text]);
  return license({ extra_data: Object.fromEntries(labels) });
};
test.each<[string, StandingFields, string]>([
  ['an active license', license(), ''],
  ['one that expires today', license({ expiry_date: TODAY }), 'expires_soon'],
  ['one that expires in 30 days', license({ expiry_date: '2026-12-21' }), 'expires_soon'],
  ['one that expires in 31 days', license({ expiry_date: '2026-12-22' }), ''],
  ['one that expired yesterday', license(PAST), ''],
  ['an inactive one that expires tomorrow', raw('Inactive', { expiry_date: '2026-11-22' }), ''],
  ['an active endorsement', endorsed('Status=Active'), ''],
  ['a lapsed endorsement', endorsed('Status=Inactive'), 'endorsement'],
  ['an endorsement without a status', endorsed('Type=CNP'), 'endorsement'],
  ['one that expired yesterday', endorsed('Status=Active; Expiration Date=2026-11-20'), 'endorsement'],
  ['an active one that expires today', endorsed(`Status=Active; Expiration Date=${TODAY}`), ''],
  ['one with a board action', endorsed('Status=Active; Board Action=Yes'), 'endorsement'],
  ['a suspended one without a number', endorsed('Status=Active; Sub Status=Suspended', ''), 'endorsement'],
])('the notes of %s', (_which, each, expected) => {
  expect(notesOf(each, TODAY).join(' ')).toBe(expected);
});

test('the notes are told in words', () => {
  const each = { ...endorsed('Status=Inactive; Sub Status=Lapsed'), expiry_date: '2026-12-01' };
  expect(notesOf(each, TODAY)).toEqual(NOTES);
  expect(sentencesOf(each)).toEqual([
    'It expires on 2026-12-01, in 10 days.',
    'Look at its endorsements, too: APRN.CNP.1: Inactive - Lapsed.',
  ]);
  const days = ['2026-11-21', '2026-11-22'].map((expiry_date) => sentencesOf(license({ expiry_date }))[0]);
  expect(days).toEqual(['It expires on 2026-11-21, today.', 'It expires on 2026-11-22, in 1 day.']);
});

/** What a reader is told, by whether the name sent with the number is the holder's. */
function sentencesOf(each: StandingFields, nameMatch?: boolean): string[] {
  const codes = { cautions: cautionsOf(each, TODAY, nameMatch), notes: notesOf(each, TODAY) };
  return recordSentences({ ...each, board: 'Nursing Board' }, codes, TODAY);
}

test('what an endorsement stores of the license that it endorses is read back unchanged', () => {
  const none = { status: null, raw_status: null, expiry_date: null, extra_data: {} };
  const standing = { ...raw('Inactive - Suspended'), ...ACTED };
  expect(endorsedLicense(SUSPENDED)).toEqual({ number: 'RN.1', standing });
  expect(endorsedLicense(endorsementOf({ expiry_date: null }, ''))?.standing).toEqual(none);
  expect(endorsedLicense(license())).toBeUndefined();
});

test('the endorsements of a license have the values of its row', () => {
  const second = Object.entries({
    ...{ Number: 'APRN.CNP.2', Type: 'CNP', Status: 'Active', 'Sub Status': 'Probation' },
    ...{ 'Expiration Date': '2027-10-31', 'Board Action': 'Yes' },
  }).map(([label, value]) => [`Endorsement ${label} 2`, value]);
  const others = { 'Endorsement Number 4': 'APRN.CNP.4', 'Endorsement Expiration Date 4': 'soon' };
  const endorsements = endorsementsOf({
    extra_data: {
      ...{ ZIP: '43215', ...Object.fromEntries(second) },
      ...{ 'Endorsement Type 3': 'without a number', ...others },
    },
  });
  const none = { status: null, raw_status: null, expiry_date: null, extra_data: {} };
  expect(endorsements).toEqual([
    { number: 'APRN.CNP.2', type: 'CNP', standing: { ...raw('Active - Probation'), ...ACTED } },
    { number: undefined, type: 'without a number', standing: none },
    { number: 'APRN.CNP.4', type: undefined, standing: none },
  ]);
});

const THE_BOARD = 'The board has acted on it. Ask the board for details.';
const CONTRADICTED = `${THE_BOARD} Its status shows the action, although the State’s column Board Action says No.`;
const CONFLICT = 'issued 2028-01-01, expiry date 2027-10-31. Ask the board which is right.';
const ENDORSED = 'status Inactive - Suspended, expiry date 2027-10-31, the board has acted on it.';

test.each<[StandingFields, string]>([
  [license(), ''],
  [raw('Active - Probation'), `Report the full status: Active - Probation. ${THE_BOARD}`],
  [license({ status: null, raw_status: null }), 'The State gives no status: ask the board.'],
  [
    raw('Inactive - Revoked', NO_ACTION),
    `Report the full status, whatever the expiry date: Inactive - Revoked. ${CONTRADICTED}`,
  ],
  [
    license({ extra_data: { 'Board Action': 'Pending' } }),
    'The State’s column Board Action says “Pending”. Ask the board for details.',
  ],
  [license({ expiry_date: null }), 'The State gives no expiry date for it: ask the board when it expires.'],
  [license({ issue_date: '2028-01-01' }), `Its dates conflict: ${CONFLICT}`],
  [SUSPENDED, `Also report the license that it endorses (RN.1): ${ENDORSED}`],
])('the sentences for a reader of %j: %s', (each, sentences) => {
  expect(sentencesOf(each).join(' ')).toBe(sentences);
});

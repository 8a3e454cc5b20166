import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import statusMeanings from '../../data/status-meanings.json' with { type: 'json' };
import statuses from '../../data/statuses.json' with { type: 'json' };
import { viewOf } from '../../src/answers/view.ts';
import { boardActionInWords } from '../../src/answers/words.ts';
import type { StandingFields } from '../../src/licenses/standing.ts';
import { answerTable, RESULT_COLUMNS } from '../../src/rosters/answer.ts';
import { statusTags, verdictOf } from '../../src/web/verdict.ts';
import { nurseRecord } from '../support/records.ts';
import { cellsOf } from '../support/tables.ts';

const TODAY = '2026-11-23';

/** A license as its status columns say it. */
function license(
  raw: string | null,
  expiry_date: string | null = '2027-10-31',
  extra_data: Record<string, string> = { 'Board Action': 'No' },
): StandingFields {
  const [primary] = raw?.split(' - ') ?? [];
  return { status: primary?.toUpperCase() ?? null, raw_status: raw, expiry_date, extra_data };
}

function verdict(...parts: Parameters<typeof license>): string {
  const { tone, sentences } = verdictOf(license(...parts), TODAY);
  return `${tone}: ${sentences.join(' ')}`;
}

const ACTED = { 'Board Action': 'Yes' };

/** Of a license: the status, the expiry date, its extra data, and the verdict. */
const VERDICTS = `
Active | 2028-03-12 | Board Action=No | good: Active until March 12, 2028.
Active | 2026-12-07 | Board Action=No | good: Active until December 7, 2026 (in 14 days).
Active | 2028-03-12 | Board Action=Yes | caution: Active until March 12, 2028. The board has acted on it. Ask the board for details.
Active | 2028-03-12 | Board Action=Pending | caution: Active until March 12, 2028. The State’s column Board Action says “Pending”. Ask the board for details.
Active | 2020-01-31 | Board Action=No | caution: Active, but its expiry date has passed (January 31, 2020). Ask the board.
Inactive - Retired |  | Board Action=No | ended: Not active: Inactive - Retired. The holder has retired.
Dormant |  | Board Action=No | neutral: The State says “Dormant”. Ask the board what that means.
Active - Suspended - Stayed | 2028-03-12 | Board Action=No | bad: The State says “Active - Suspended - Stayed”. Ask the board what that means. The board has acted on it. Ask the board for details.
 |  | Board Action=No | neutral: The State gives no status for this license. Ask the board.
Active - Active In Renewal | 2026-11-30 | Board Action=No | caution: Active - Active In Renewal (expires November 30, 2026, in 7 days). A renewal is under way.
Active |  | Board Action=No | caution: Active. The State gives no expiry date: ask the board.
Inactive | 2020-01-31 | Board Action=Yes | bad: Not active: Inactive. The board has acted on it. Ask the board for details.
Active | 2028-03-12 | Endorsement Number 1=APRN.1; Endorsement Status 1=Inactive | good: Active until March 12, 2028. Look at its endorsement APRN.1, too: Inactive.
Active | 2028-03-12 | Endorsement Number 1=APRN.1; Endorsement Status 1=Active; Endorsement Expiration Date 1=2020-01-31; Endorsement Board Action 1=Yes | good: Active until March 12, 2028. Look at its endorsement APRN.1, too: Active, its expiry date has passed, the board has acted on it.
Active - Something New | 2020-01-31 | Board Action=Yes | bad: Active - Something New, but its expiry date has passed (January 31, 2020). Ask the board. The board has acted on it. Ask the board for details.
Active - Something New |  | Board Action=No | neutral: Active - Something New. The State gives no expiry date: ask the board.
Dormant - Suspended |  | Board Action=No | bad: The State says “Dormant - Suspended”. Ask the board what that means. The board has acted on it. Ask the board for details.
In Review |  | Board Action=Yes | bad: Not active: In Review. The board is reviewing it. Ask the board what is allowed until it decides. The board has acted on it. Ask the board for details.
`;

/** The attributes of an endorsement of a license with this status, Board Action and expiry date. */
const endorsing = (status: string, action: string, expires = '2028-03-12') => ({
  ...{ 'Endorsed License': 'RN.1', 'Endorsed License Status': status },
  ...{ 'Endorsed License Expiration Date': expires, 'Endorsed License Board Action': action },
});

describe('the verdict', () => {
  test.each([
    ['good', ['Active']],
    ['caution', ['Active - Active In Renewal', 'Active - Probation', 'Active - Restricted']],
    ['bad', ['Active - Suspended', 'Inactive - Revoked']],
    ['ended', ['Active - Lapsed', 'Inactive', 'Inactive - Retired', 'Closed - Deceased']],
    ['neutral', ['In Review', 'Submitted - Fee Required', 'Active - Something New', 'Dormant', null]],
  ])('is %s of %j', (tone, statuses) => {
    expect(statuses.map((raw) => verdictOf(license(raw), TODAY).tone)).toEqual(statuses.map(() => tone));
  });

  test.each(cellsOf(VERDICTS))('of %s, %s, %s: %s', (raw = '', expires = '', extra = '', expected = '') => {
    const fields = Object.fromEntries(extra.split('; ').map((each) => each.split('=')));
    expect(verdict(raw || null, expires || null, fields)).toBe(expected);
  });

  test('of a sub-status without a main status is what the sub-status says', () => {
    const alone = (raw_status: string) => verdictOf({ ...license(raw_status), status: null }, TODAY);
    expect(alone('Suspended').sentences).toEqual([
      'The State gives no main status, only “Suspended”. Ask the board.',
      'The board has suspended it. Ask the board for details.',
    ]);
    expect(['Suspended', 'Retired', 'Something New'].map((raw) => alone(raw).tone)).toEqual([
      'bad',
      'ended',
      'neutral',
    ]);
  });

  test('of a license issued after it expired says so', () => {
    const odd = { ...license('Active', '2028-03-12'), issue_date: '2029-01-01' };
    const conflict = 'Its dates conflict (issued on January 1, 2029): ask the board which is right.';
    const sentences = ['Active until March 12, 2028.', conflict];
    expect(verdictOf(odd, TODAY)).toMatchObject({ tone: 'caution', sentences });
  });

  test('of an endorsement is the worse of both, and says why', () => {
    expect(verdict('Active', '2027-10-31', endorsing('Active', 'Yes'))).toBe(
      'caution: The license that it endorses, RN.1: Active until March 12, 2028. The board has acted on it. Ask the board for details. The endorsement itself: Active until October 31, 2027.',
    );
    const suspended = { ...endorsing('Inactive', 'Yes'), 'Endorsed License Sub Status': 'Suspended' };
    expect(verdict('Inactive - Lapsed', '2023-10-31', suspended)).toMatch(
      /^bad: The license that it endorses, RN.1: Not active: Inactive - Suspended\./,
    );
    expect(verdict('Inactive - Lapsed', '2023-10-31', endorsing('Active', 'No'))).toMatch(
      /^ended: Not active: Inactive - Lapsed\. .*The license that it endorses, RN.1: Active/,
    );
  });
});

describe('whether the board has acted', () => {
  test.each([
    [license('Active'), 'No'],
    [license('Active', null, {}), 'Not given by the State'],
    [license('Active', null, ACTED), 'Yes. Ask the board for details.'],
    [license('Active', null, { 'Board Action': 'Filed' }), 'The State’s column says “Filed”. Ask the board.'],
    [
      license('Inactive - Suspended'),
      'Yes: the license has the status “Inactive - Suspended”. (The State’s column “Board Action” says No.)',
    ],
  ])('%j: %s', (standing, answer) => {
    expect(boardActionInWords(standing)).toBe(answer);
  });

  test.each([
    ['Active', 'No', 'No'],
    ['Active', '', ''],
    ['Active', 'Yes', 'Yes'],
    ['Active', 'Consent Agreement', 'Consent Agreement'],
    ['Active - Probation', 'No', 'Yes'],
    ['Inactive - Suspended', '', 'Yes'],
  ])('of %s with %j in the State’s column is %j in a CSV', (raw_status, column, expected) => {
    const record = nurseRecord({ raw_status, extra_data: column === '' ? {} : { 'Board Action': column } });
    const origin = { publication: 'p', date: TODAY, today: TODAY, isSampleData: false };
    const format = { separator: ',', newline: '\n', hasByteOrderMark: false } as const;
    const { shape } = answerTable({ columns: ['a'], rows: [{ number: 1, cells: ['x'] }], format });
    const view = viewOf({ outcome: 'found', record }, origin);
    const csv = shape([{ index: 0, reference: null, view, suggestionsOmitted: false }]);
    const [row] = parse<Record<string, string>>(csv, { columns: ['a', ...RESULT_COLUMNS] });
    expect(row?.result_board_action).toBe(expected);
  });
});

/** Each tag as its class, its shape and its words. */
function tagsOf(standing: StandingFields, nameMatch?: boolean): string[] {
  const tags = String(statusTags(standing, TODAY, nameMatch));
  return [...tags.matchAll(/class="status (\w+)".*?><span[^>]*>(.)<\/span> ([^<]+)</g)].map((tag) =>
    tag.slice(1).join(' '),
  );
}
const LICENSE = 'caution ! Active; caution ! License RN.1: Active';
const withoutDate = { 'Endorsed License': 'RN.1', 'Endorsed License Status': 'Active' };

// The raw status, the expiry date, the license that it endorses, and the tags.
const LATER = '2028-03-12';
test.each<[string | null, string | null, Record<string, string> | undefined, string]>([
  ['Active', LATER, undefined, 'good ✓ Active'],
  ['Active', '2020-01-31', undefined, 'caution ! Active, past expiry'],
  ['Active', null, undefined, 'caution ! Active; caution ! No expiry date'],
  ['Active', '2026-12-01', undefined, 'good ✓ Active; neutral i Expires soon'],
  ['Inactive - Suspended', LATER, undefined, 'bad ✕ Inactive - Suspended; caution ! Board action'],
  ['Inactive - Retired', LATER, undefined, 'ended – Inactive - Retired'],
  [null, LATER, undefined, 'neutral ? No status given'],
  ['Active', LATER, endorsing('Active', 'No'), 'good ✓ Active'],
  ['Active', LATER, endorsing('Active', 'Yes'), `${LICENSE}, board action`],
  ['Active', LATER, endorsing('Active', 'No', '2020-01-31'), `${LICENSE}, past expiry`],
  ['Active', LATER, withoutDate, `${LICENSE}, no expiry date`],
])('a status in a list is words, shape and color: %s, %s, %j', (raw, expires, endorsed, tags) => {
  expect(tagsOf(license(raw, expires, endorsed)).join('; ')).toBe(tags);
});

test('a status in a list begins with a name that does not fit, and has a tag for a board action', () => {
  expect(tagsOf(license('Active', '2028-03-12', ACTED), false)).toEqual([
    'caution ! Name does not match',
    'caution ! Active',
    'caution ! Board action',
  ]);
});

test('every status of the catalog has a meaning, and no other', () => {
  const upper = (names: readonly string[]) => names.map((name) => name.toUpperCase()).toSorted();
  expect(Object.keys(statusMeanings.primary).toSorted()).toEqual(upper(statuses.primary));
  expect(Object.keys(statusMeanings.sub).toSorted()).toEqual(upper(statuses.sub));
});

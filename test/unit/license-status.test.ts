import { describe, expect, test } from '@jest/globals';
import statusMeanings from '../../data/status-meanings.json' with { type: 'json' };
import statuses from '../../data/statuses.json' with { type: 'json' };
import { boardActionInWords } from '../../src/answers/words.ts';
import type { StandingFields } from '../../src/licenses/standing.ts';
import { statusTags, verdictOf } from '../../src/web/verdict.ts';

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

  test.each([
    ['a license without a caution', ['Active', '2028-03-12'], 'good: Active until March 12, 2028.'],
    ['one that ends soon', ['Active', '2026-12-07'], 'good: Active until December 7, 2026 (in 14 days).'],
    [
      'one on which the board has acted',
      ['Active', '2028-03-12', ACTED],
      'caution: Active until March 12, 2028. The board has acted on it: ask what it ordered.',
    ],
    [
      'one that has expired',
      ['Active', '2020-01-31'],
      'caution: The State says Active, but it expired on January 31, 2020. Ask the board.',
    ],
    [
      'a retired one',
      ['Inactive - Retired', null],
      'ended: Not active: Inactive - Retired. The holder has retired.',
    ],
    [
      'an unknown status',
      ['Dormant', null],
      'neutral: The State says “Dormant”. Ask the board what that means.',
    ],
    [
      'an active one with an unknown sub-status that has expired',
      ['Active - Something New', '2020-01-31'],
      'neutral: The State says “Active - Something New”. Ask the board what that means. It expired on January 31, 2020.',
    ],
    [
      'a disciplinary sub-status with something after it',
      ['Active - Suspended - Stayed', '2028-03-12'],
      'neutral: The State says “Active - Suspended - Stayed”. Ask the board what that means. The board has acted on it: ask what it ordered.',
    ],
    ['no status', [null, null], 'neutral: The State gives no status for this license. Ask the board.'],
    [
      'one in renewal that ends soon',
      ['Active - Active In Renewal', '2026-11-30'],
      'caution: Active - Active In Renewal (expires November 30, 2026, in 7 days). A renewal is under way.',
    ],
    [
      'one without an expiry date',
      ['Active', null],
      'caution: Active. The State gives no expiry date: ask the board.',
    ],
    [
      'an ended one on which the board has acted',
      ['Inactive', '2020-01-31', ACTED],
      'bad: Not active: Inactive. The board has acted on it: ask what it ordered.',
    ],
    [
      'one with an endorsement that is not active',
      ['Active', '2028-03-12', { 'Endorsement Number 1': 'APRN.1', 'Endorsement Status 1': 'Inactive' }],
      'good: Active until March 12, 2028. Look at its endorsement APRN.1: Inactive.',
    ],
    [
      'one with an active endorsement on which the board has acted',
      [
        'Active',
        '2028-03-12',
        {
          'Endorsement Number 1': 'APRN.1',
          'Endorsement Status 1': 'Active',
          'Endorsement Board Action 1': 'Yes',
        },
      ],
      'good: Active until March 12, 2028. Look at its endorsement APRN.1: Active, the board has acted on it.',
    ],
  ] as const)('of %s says why', (_what, [raw, expires, extra], expected) => {
    expect(verdict(raw, expires, extra)).toBe(expected);
  });

  test('of a license issued after it expired says so', () => {
    const odd = { ...license('Active', '2028-03-12'), issue_date: '2029-01-01' };
    expect(verdictOf(odd, TODAY)).toMatchObject({
      tone: 'caution',
      sentences: [
        'Active until March 12, 2028.',
        'Its dates conflict (issued on January 1, 2029): ask the board which is right.',
      ],
    });
  });

  test('of an endorsement is the worse of both, and says why', () => {
    const extra = {
      'Endorsed License': 'RN.1',
      'Endorsed License Status': 'Active',
      'Endorsed License Expiration Date': '2028-03-12',
      'Endorsed License Board Action': 'Yes',
    };
    expect(verdict('Active', '2027-10-31', extra)).toBe(
      'caution: Active until October 31, 2027. The license that it endorses, RN.1: Active until March 12, 2028. The board has acted on it: ask what it ordered.',
    );
    const suspended = {
      ...extra,
      'Endorsed License Status': 'Inactive',
      'Endorsed License Sub Status': 'Suspended',
    };
    expect(verdict('Inactive - Lapsed', '2023-10-31', suspended)).toMatch(
      /^bad: Not active: Inactive - Lapsed\./,
    );
  });
});

describe('whether the board has acted', () => {
  test.each([
    [license('Active'), 'No'],
    [license('Active', null, {}), 'Not given by the State'],
    [license('Active', null, ACTED), 'Yes. Ask the board what it ordered.'],
    [
      license('Inactive - Suspended'),
      'Yes: the license has the status “Inactive - Suspended”. (The State’s column “Board Action” says No.)',
    ],
  ])('%j: %s', (standing, answer) => {
    expect(boardActionInWords(standing)).toBe(answer);
  });
});

describe('a status in a list', () => {
  /** Each tag as its class, its shape and its words. */
  function tagsOf(standing: StandingFields, nameMatch?: boolean): string[] {
    const tags = String(statusTags(standing, TODAY, nameMatch));
    return [...tags.matchAll(/class="status (\w+)".*?><span[^>]*>(.)<\/span> ([^<]+)</g)].map((tag) =>
      tag.slice(1).join(' '),
    );
  }
  const endorsing = (status: string, action: string, expires = '2028-03-12') => ({
    ...{ 'Endorsed License': 'RN.1', 'Endorsed License Status': status },
    ...{ 'Endorsed License Expiration Date': expires, 'Endorsed License Board Action': action },
  });

  test.each<[standing: StandingFields, tags: string[]]>([
    [license('Active'), ['good ✓ Active']],
    [license('Active', '2020-01-31'), ['caution ! Active, date passed']],
    [license('Active', null), ['caution ! Active', 'caution ! No expiry date']],
    [license('Active', '2026-12-01'), ['good ✓ Active', 'neutral i Expires soon']],
    [license('Inactive - Suspended'), ['bad ✕ Inactive - Suspended', 'caution ! Board action']],
    [license('Inactive - Retired'), ['ended – Inactive - Retired']],
    [license(null), ['neutral ? No status given']],
    [license('Active', '2028-03-12', endorsing('Active', 'No')), ['good ✓ Active']],
    [
      license('Active', '2028-03-12', endorsing('Active', 'Yes')),
      ['caution ! Active', 'caution ! License RN.1: Active, board action'],
    ],
    [
      license('Active', '2028-03-12', endorsing('Active', 'No', '2020-01-31')),
      ['caution ! Active', 'caution ! License RN.1: Active, date passed'],
    ],
  ])('is words, shape and color: %j', (standing, tags) => {
    expect(tagsOf(standing)).toEqual(tags);
  });

  test('begins with a name that does not fit, and has a tag for a board action', () => {
    expect(tagsOf(license('Active', '2028-03-12', ACTED), false)).toEqual([
      'caution ! Name does not match',
      'caution ! Active',
      'caution ! Board action',
    ]);
  });
});

test('every status of the catalog has a meaning, and no other', () => {
  const upper = (names: readonly string[]) => names.map((name) => name.toUpperCase()).toSorted();
  expect(Object.keys(statusMeanings.primary).toSorted()).toEqual(upper(statuses.primary));
  expect(Object.keys(statusMeanings.sub).toSorted()).toEqual(upper(statuses.sub));
});

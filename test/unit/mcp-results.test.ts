import { describe, expect, test } from '@jest/globals';
import type { Origin } from '../../src/answers/origin.ts';
import { type View, viewOf } from '../../src/answers/view.ts';
import type { LicenseRecord } from '../../src/licenses/license.ts';
import type { LookupOutcome, NotFoundReason } from '../../src/licenses/lookup.ts';
import { type LookupCall, lookupResult, lookupToolResult } from '../../src/mcp/results.ts';
import { times } from '../support/fixtures.ts';
import { ANSWERED_LICENSE, storedLicense } from '../support/records.ts';

const DATE = '2026-11-20';
const TODAY = '2026-11-21';
const SEARCHED = { license_number: 'RN.123456', last_name: 'Example' };
const AUTHORITY =
  'The data is the State of Ohio’s daily dataset, not primary-source verification; the issuing board is the authority.';

const BY_NAME = { by: 'person', lastName: 'Smiht', filters: {} } as const;
const BY_NUMBER = { by: 'number', number: 'RN 123', businessOnly: false } as const;

/** The result, which is one that the tools' schema allows. */
function result(
  outcome: LookupOutcome,
  call: Partial<LookupCall & Pick<View, 'foundBy'>> = {},
  origin: Partial<Origin> = {},
) {
  const { foundBy, ...rest } = call;
  const from = { publication: 'p', date: DATE, isSampleData: false, today: TODAY, ...origin };
  const answered = lookupToolResult(viewOf(outcome, from, foundBy), {
    ...{ searched: SEARCHED, unusedFilters: ['first_name', 'city'], limit: 100, ...rest },
  });
  expect(lookupResult.parse(answered)).toEqual(answered);
  expect(answered).toMatchObject({ data_as_of: DATE, data_age_days: 1, searched: SEARCHED });
  expect(answered.message.endsWith(AUTHORITY)).toBe(true);
  return answered;
}

function record(fields: Partial<LicenseRecord> = {}) {
  return { outcome: 'found', record: storedLicense(fields) } as const;
}

describe('the tool result for a number that is found', () => {
  test('has the whole record as in REST, and the board action', () => {
    const answered = result(record());
    expect(answered).toMatchObject({ outcome: 'found', count: 1, truncated: false, did_you_mean: [] });
    expect(answered.licenses).toStrictEqual([{ ...ANSWERED_LICENSE, board_action: null }]);
    expect(answered.message).toBe(AUTHORITY);
  });

  test('has every caution in one message, with the notice about sample data first', () => {
    const license = record({
      status: 'ACTIVE',
      raw_status: 'Active - Probation',
      expiry_date: '2026-11-20',
      extra_data: { 'Board Action': 'Yes' },
    });
    const call = { foundBy: 'name' } as const;
    const outcome = { ...license, nameMatch: false, isNameAtBoard: true };
    const { licenses, message } = result(outcome, call, { isSampleData: true });
    expect(licenses).toMatchObject([{ name_match: false, name_at_board: true, board_action: 'Yes' }]);
    expect(message).toBe(
      [
        'SAMPLE DATA: generated, of no real person or business.',
        'This is the only license that fits: compare the whole name, the city and the type before you take it for the one meant.',
        'The name given is not the holder’s: the number may be mistyped, so do not take this license for that person’s.',
        'Another license of the Nursing Board has that name: search by the name.',
        'Report the full status: Active - Probation.',
        'The State lists it as active although its expiry date has passed: report both.',
        'The board has acted on this license; only the board can tell what it ordered.',
        AUTHORITY,
      ].join(' '),
    );
  });

  test('has the street of a business beside its name', () => {
    const { licenses } = result(record({ extra_data: { 'Street Address': '1 MAIN ST' } }));
    expect(licenses).toMatchObject([{ street: '1 MAIN ST', extra_data: { 'Street Address': '1 MAIN ST' } }]);
  });
});

describe('the tool result for nothing found', () => {
  test('by name suggests similar names', () => {
    const answered = result({
      outcome: 'none',
      reason: 'unknown',
      request: BY_NAME,
      didYouMean: ['SMITH', 'SMYTHE'],
    });
    expect(answered).toMatchObject({ outcome: 'not_found', count: 0, licenses: [], truncated: false });
    expect(answered.did_you_mean).toEqual(['SMITH', 'SMYTHE']);
    expect(answered.message).toBe(
      `No license of any of the 24 boards matches the name "Smiht" in the State's dataset of 2026-11-20. Check the spelling and the board. That does not mean that nobody is licensed. ${AUTHORITY}`,
    );
  });

  test('by number does not suggest the number that was asked for', () => {
    const outcome = {
      outcome: 'none',
      reason: 'other_board',
      request: BY_NUMBER,
      didYouMean: ['RN.123456', 'RN.0123456'],
      ofTheName: ['RN.0123456'],
      boards: ['Nursing Board'],
    } as const;
    expect(result(outcome)).toMatchObject({
      did_you_mean: ['RN.0123456'],
      did_you_mean_name_match: [true],
    });
  });

  test('by number says whose the similar numbers are, if a name was sent', () => {
    const answered = result({
      outcome: 'none',
      reason: 'unknown',
      request: BY_NUMBER,
      didYouMean: ['RN.123', 'RN.0123'],
      ofTheName: ['RN.0123'],
    });
    expect(answered.did_you_mean_name_match).toEqual([false, true]);
    expect(answered.message).toContain('The holder of RN.0123 has the name given.');
  });

  test('by number says when a license left the dataset, and what its status was', () => {
    const left = { lastInDataset: '2026-11-19', lastRawStatus: 'Active' };
    expect(
      result({ outcome: 'none', reason: 'removed', request: BY_NUMBER, didYouMean: [], left }),
    ).toMatchObject({ reason: 'removed', last_in_dataset: '2026-11-19', last_raw_status: 'Active' });
  });

  test.each<[NotFoundReason, 'not_found' | 'ambiguous', string]>([
    ['unknown', 'not_found', 'Similar numbers that exist: RN.123, RN.0123.'],
    ['ambiguous', 'ambiguous', 'Send it as the board writes it.'],
    ['other_board', 'not_found', 'Ask again with that board.'],
    ['not_a_business', 'not_found', 'verify_license looks it up.'],
  ])('by number (%s) is %s, and says what to do', (reason, word, advice) => {
    const didYouMean = ['RN.123', 'RN.0123'];
    const boards = ['Nursing Board', 'Medical Board'];
    const answered = result({ outcome: 'none', reason, request: BY_NUMBER, didYouMean, boards });
    expect(answered).toMatchObject({
      outcome: word,
      reason,
      count: 0,
      licenses: [],
      did_you_mean: didYouMean,
    });
    expect(answered.message).toContain(`${advice} That does not mean that nobody is licensed. ${AUTHORITY}`);
  });
});

describe('the tool result for several matches', () => {
  const records = times(57, (number) => storedLicense({ license_number: `RN.${number}` }));
  const several = { outcome: 'several', records, truncated: false } as const;

  test('lists them with only the fields that distinguish licenses', () => {
    const { licenses, count, truncated, message } = result(several);
    expect([licenses.length, count, truncated]).toEqual([57, 57, false]);
    expect(licenses[0]).toStrictEqual({
      license_number: 'RN.1',
      full_name: 'EXAMPLE, JANE Q',
      board: 'Nursing Board',
      license_type: 'Registered Nurse (RN)',
      status: 'ACTIVE',
      raw_status: 'Active',
      expiry_date: '2027-10-31',
      city: 'COLUMBUS',
      state: 'OH',
      county: 'FRANKLIN',
      cautions: [],
      notes: [],
      board_action: null,
    });
    expect(message).toBe(
      `57 licenses match: check which one is meant, and ask if that is not clear. verify_license with its number gives the whole record. ${AUTHORITY}`,
    );
  });

  test('has the streets of businesses, which distinguish the shops of a chain', () => {
    const shops = ['1 MAIN ST', '9 ELM ST'].map((street) =>
      storedLicense({ extra_data: { 'Street Address': street } }),
    );
    const { licenses } = result({ outcome: 'several', records: shops, truncated: false });
    expect(licenses.map(({ street }) => street)).toEqual(['1 MAIN ST', '9 ELM ST']);
  });

  test('lists as many as the limit, and says how many there are', () => {
    const { licenses, count, truncated, message } = result(several, { limit: 10 });
    expect([licenses.length, count, truncated]).toEqual([10, 10, true]);
    expect(licenses.map(({ license_number }) => license_number)).toEqual(
      records.slice(0, 10).map(({ license_number }) => license_number),
    );
    expect(message).toBe(
      `57 licenses match (10 listed, exact names first); narrow the search by first_name, city. A higher limit (up to 100) lists more. ${AUTHORITY}`,
    );
  });

  test.each([
    [57, true],
    [50, false],
  ])(
    'says so if there are more matches than were returned, with a limit of 100 or less (%s listed)',
    (limit, isAll) => {
      const { truncated, message } = result({ ...several, truncated: true }, { limit: isAll ? 100 : limit });
      expect(truncated).toBe(true);
      expect(message).toContain(`More than 57 licenses match (${limit} listed`);
      expect(/A higher limit/.test(message)).toBe(!isAll);
    },
  );

  test('does not advise to narrow the search if all filters are used', () => {
    const { message } = result({ ...several, truncated: true }, { unusedFilters: [] });
    expect(message).toBe(`More than 57 licenses match (57 listed, exact names first). ${AUTHORITY}`);
  });

  test('has an output schema that requires every field that distinguishes licenses', () => {
    const { licenses, ...rest } = result(several, { limit: 1 });
    const [license] = licenses;
    const refused = Object.keys(license ?? {}).filter((field) => {
      const lacking = { ...license, [field]: undefined };
      return !lookupResult.safeParse({ ...rest, licenses: [lacking] }).success;
    });
    expect(refused.toSorted()).toEqual([
      'board',
      'board_action',
      'cautions',
      'city',
      'county',
      'expiry_date',
      'full_name',
      'license_number',
      'license_type',
      'notes',
      'raw_status',
      'state',
      'status',
    ]);
  });
});

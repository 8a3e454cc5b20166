import { describe, expect, test } from '@jest/globals';
import type { LookupOutcome, NumberNotFoundReason } from '../../src/licenses/lookup-outcome.ts';
import { verifyResponse } from '../../src/rest/verify-response.ts';
import { ANSWERED_LICENSE, storedLicense } from '../support/records.ts';

const DATE = '2026-11-20';
const TODAY = '2026-11-21';

const MISSES: readonly (readonly [NumberNotFoundReason, detail: string])[] = [
  [
    'unknown',
    "No license with this number is in the State's dataset of 2026-11-20. Similar numbers that exist: DC-01234, DC.01234. The issuing board is the authority; ask it before you conclude anything.",
  ],
  [
    'ambiguous',
    "This way of writing the number fits more than one license in the State's dataset of 2026-11-20. Similar numbers that exist: DC-01234, DC.01234. Send it as the board writes it.",
  ],
  [
    'other_board',
    "This number is not one of the board asked, but one of the Chiropractic Board and the Medical Board in the State's dataset of 2026-11-20. Ask again with that board.",
  ],
  [
    'not_a_business',
    "This number is a person's license in the State's dataset of 2026-11-20, not a business's. Leave out search_type to look it up.",
  ],
];

function answer(outcome: LookupOutcome) {
  return verifyResponse(outcome, DATE, TODAY);
}

describe('the answer', () => {
  test('to one match is the record', () => {
    expect(answer({ outcome: 'record', record: storedLicense() })).toEqual({
      status: 200,
      body: ANSWERED_LICENSE,
    });
  });

  test.each([true, false])("to a number with a name says whether it is the holder's: %s", (nameMatch) => {
    const record = storedLicense();
    expect(answer({ outcome: 'record', record, nameMatch })).toEqual({
      status: 200,
      body: { ...ANSWERED_LICENSE, name_match: nameMatch },
    });
  });

  test('keeps to itself where the record was read and what it is found by', () => {
    const { body } = answer({ outcome: 'record', record: storedLicense() });
    expect(body).not.toHaveProperty('source_row');
    expect(body).not.toHaveProperty('keys');
  });

  test('to no match says so where the surname exists and something else excluded all', () => {
    expect(answer({ outcome: 'no_match', surnameExists: true, didYouMean: [] })).toMatchObject({
      status: 200,
      body: {
        found: false,
        count: 0,
        message: expect.stringMatching(
          /^The board asked has licenses of this surname .* of 2026-11-20, but none of them matches .* authority\.$/,
        ),
        did_you_mean: [],
      },
    });
  });

  test('to no match says so, and from which publication, and is no error', () => {
    expect(answer({ outcome: 'no_match', didYouMean: ['SMITH'] })).toEqual({
      status: 200,
      body: {
        found: false,
        count: 0,
        message: expect.stringMatching(
          /^No license of the board asked matches .* of 2026-11-20\. .* authority\.$/,
        ),
        did_you_mean: ['SMITH'],
        source: 'dataset',
        last_scraped: '2026-11-20T00:00:00',
      },
    });
  });

  test('to several matches has all of them, in their order', () => {
    const records = [storedLicense({ license_number: 'RN.2' }), storedLicense({ license_number: 'RN.1' })];
    expect(answer({ outcome: 'matches', records, truncated: false })).toEqual({
      status: 200,
      body: {
        found: true,
        count: 2,
        truncated: false,
        multiple: [
          { ...ANSWERED_LICENSE, license_number: 'RN.2' },
          { ...ANSWERED_LICENSE, license_number: 'RN.1' },
        ],
        source: 'dataset',
        last_scraped: '2026-11-20T00:00:00',
      },
    });
  });

  test('to more matches than are answered says how to narrow the search', () => {
    const records = Array.from({ length: 100 }, () => storedLicense());
    const { status, body } = answer({ outcome: 'matches', records, truncated: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      found: true,
      count: 100,
      truncated: true,
      message:
        'There are more than 100 matches. Narrow the search with first_name, license_type, status, city or county.',
    });
  });

  test.each(MISSES)(
    'to a number that is missed (%s) is 404 with the detail and the numbers that exist',
    (reason, detail) => {
      const outcome: Extract<LookupOutcome, { outcome: 'number_not_found' }> = {
        outcome: 'number_not_found',
        reason,
        didYouMean: ['DC-01234', 'DC.01234'],
        boards: ['Chiropractic Board', 'Medical Board'],
      };
      expect(answer(outcome)).toEqual({
        status: 404,
        body: { detail, did_you_mean: ['DC-01234', 'DC.01234'] },
      });
    },
  );

  test('to an unknown number has an empty list of numbers', () => {
    const { body } = answer({ outcome: 'number_not_found', reason: 'unknown', didYouMean: [] });
    expect(body).toMatchObject({ did_you_mean: [] });
  });
});

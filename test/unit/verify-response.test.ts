import { describe, expect, test } from '@jest/globals';
import { type LookupOutcome, NUMBER_NOT_FOUND_REASONS } from '../../src/licenses/lookup-outcome.ts';
import { notFoundDetail } from '../../src/licenses/not-found.ts';
import { verifyResponse } from '../../src/rest/verify-response.ts';
import { ANSWERED_LICENSE, storedLicense } from '../support/records.ts';

const DATE = '2026-11-20';
const TODAY = '2026-11-21';

const BY_NAME = { by: 'person', lastName: 'Smiht', filters: {} } as const;
const BY_NUMBER = { by: 'number', number: 'DC 1234', businessOnly: false } as const;

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
      body: { ...ANSWERED_LICENSE, cautions: nameMatch ? [] : ['name_mismatch'], name_match: nameMatch },
    });
  });

  test('keeps to itself where the record was read and what it is found by', () => {
    const { body } = answer({ outcome: 'record', record: storedLicense() });
    expect(body).not.toHaveProperty('source_row');
    expect(body).not.toHaveProperty('keys');
  });

  test('to no match says so, and from which publication, and is no error', () => {
    expect(answer({ outcome: 'no_match', request: BY_NAME, didYouMean: ['SMITH'] })).toEqual({
      status: 200,
      body: {
        found: false,
        count: 0,
        message: expect.stringMatching(
          /^No license of .* matches the name "Smiht" .* of 2026-11-20\. .* board is the authority/,
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

  test.each(NUMBER_NOT_FOUND_REASONS)(
    'to a number that is missed (%s) is 404 with the detail, the reason and the numbers that exist',
    (reason) => {
      const outcome = {
        ...({ outcome: 'number_not_found', request: BY_NUMBER, reason } as const),
        ...{ didYouMean: ['DC-01234', 'DC.01234'], boards: ['Chiropractic Board', 'Medical Board'] },
      };
      expect(answer(outcome)).toEqual({
        status: 404,
        body: { detail: notFoundDetail(outcome, DATE), reason, did_you_mean: ['DC-01234', 'DC.01234'] },
      });
    },
  );

  test('to an unknown number has an empty list of numbers', () => {
    const { body } = answer({
      outcome: 'number_not_found',
      request: BY_NUMBER,
      reason: 'unknown',
      didYouMean: [],
    });
    expect(body).toMatchObject({ did_you_mean: [] });
  });
});

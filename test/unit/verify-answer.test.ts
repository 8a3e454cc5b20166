import { describe, expect, test } from '@jest/globals';
import type { LookupOutcome, NumberMiss } from '../../src/licenses/lookup.ts';
import { missDetail } from '../../src/licenses/miss-detail.ts';
import { answerRecord } from '../../src/licenses/record.ts';
import { verifyAnswer } from '../../src/rest/verify-answer.ts';
import { storedLicense } from '../support/records.ts';

const DATE = '2026-11-20';
const TODAY = '2026-11-21';
const MISSES: NumberMiss[] = ['unknown', 'ambiguous', 'other_board', 'not_a_business'];

function answer(outcome: LookupOutcome) {
  return verifyAnswer(outcome, DATE, TODAY);
}

describe('the answer', () => {
  test('to one match is the record', () => {
    const record = storedLicense();
    expect(answer({ outcome: 'record', record })).toEqual({
      status: 200,
      body: answerRecord(record, DATE, TODAY),
    });
  });

  test.each([true, false])("to a number with a name says whether it is the holder's: %s", (nameMatch) => {
    const record = storedLicense();
    expect(answer({ outcome: 'record', record, nameMatch })).toEqual({
      status: 200,
      body: answerRecord(record, DATE, TODAY, nameMatch),
    });
    expect(answer({ outcome: 'record', record, nameMatch }).body).toHaveProperty('name_match', nameMatch);
  });

  test('keeps to itself where the record was read and what it is found by', () => {
    const { body } = answer({ outcome: 'record', record: storedLicense() });
    expect(body).not.toHaveProperty('source_row');
    expect(body).not.toHaveProperty('keys');
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
        multiple: records.map((record) => answerRecord(record, DATE, TODAY)),
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
    (miss) => {
      const outcome: Extract<LookupOutcome, { outcome: 'number_not_found' }> = {
        outcome: 'number_not_found',
        miss,
        didYouMean: ['DC-01234', 'DC.01234'],
        boards: ['Chiropractic Board', 'Medical Board'],
      };
      expect(answer(outcome)).toEqual({
        status: 404,
        body: {
          detail:
            missDetail(outcome, DATE, 'Leave out search_type to look it up.') +
            (miss === 'unknown'
              ? ' The issuing board is the authority; ask it before you conclude anything.'
              : ''),
          did_you_mean: ['DC-01234', 'DC.01234'],
        },
      });
    },
  );

  test('to an unknown number has an empty list of numbers', () => {
    const { body } = answer({ outcome: 'number_not_found', miss: 'unknown', didYouMean: [] });
    expect(body).toMatchObject({ did_you_mean: [] });
  });
});

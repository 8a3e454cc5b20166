import { describe, expect, test } from '@jest/globals';
import type { LookupOutcome, NumberMiss } from '../../src/licenses/lookup.ts';
import { missDetail } from '../../src/licenses/miss-detail.ts';
import { answerRecord } from '../../src/licenses/record.ts';
import { lookupResult, lookupToolResult } from '../../src/mcp/results.ts';
import { storedLicense } from '../support/records.ts';

const DATE = '2026-11-20';
const TODAY = '2026-11-21';
const SEARCHED = { license_number: 'RN.123456', last_name: 'Example' };
const AUTHORITY = /the issuing board is the authority\.$/;
const OTHER_NAME = /The name given is not the holder’s/;

/** The result, which is one that the tools' schema allows. */
function result(outcome: LookupOutcome) {
  const answered = lookupToolResult(outcome, SEARCHED, DATE, TODAY);
  expect(lookupResult.parse(answered)).toEqual(answered);
  expect(answered).toMatchObject({ data_as_of: DATE, searched: SEARCHED });
  expect(answered.message).toMatch(AUTHORITY);
  return answered;
}

describe('the result of a number that is found', () => {
  const record = storedLicense();

  test('with a name that is not the holder’s says so and warns against taking the license', () => {
    const answered = result({ outcome: 'record', record, nameMatch: false });
    expect(answered).toMatchObject({ outcome: 'found', count: 1, did_you_mean: [] });
    expect(answered.licenses).toEqual([answerRecord(record, DATE, TODAY, false)]);
    expect(answered.licenses[0]).toHaveProperty('name_match', false);
    expect(answered.message).toMatch(OTHER_NAME);
    expect(answered.message).toMatch(/may be mistyped.*do not take this license for that person’s/);
  });

  test('with the holder’s name says so in the license, without a warning', () => {
    const answered = result({ outcome: 'record', record, nameMatch: true });
    expect(answered.licenses).toEqual([answerRecord(record, DATE, TODAY, true)]);
    expect(answered.message).not.toMatch(OTHER_NAME);
  });

  test('without a name says nothing of names', () => {
    const answered = result({ outcome: 'record', record });
    expect(answered.licenses).toEqual([answerRecord(record, DATE, TODAY)]);
    expect(answered.licenses[0]).not.toHaveProperty('name_match');
    expect(answered.message).not.toMatch(OTHER_NAME);
  });
});

describe('the result of a miss', () => {
  test('by name offers the names that are spelt nearly alike', () => {
    const answered = result({ outcome: 'no_match', didYouMean: ['SMITH', 'SMYTHE'] });
    expect(answered).toMatchObject({ outcome: 'not_found', count: 0, licenses: [], truncated: false });
    expect(answered.did_you_mean).toEqual(['SMITH', 'SMYTHE']);
    expect(answered.message).toContain('That does not mean that nobody is licensed');
  });

  test.each<[NumberMiss, 'not_found' | 'ambiguous']>([
    ['unknown', 'not_found'],
    ['ambiguous', 'ambiguous'],
    ['other_board', 'not_found'],
    ['not_a_business', 'not_found'],
  ])('by number (%s) is %s, with the numbers that exist', (miss, word) => {
    const outcome: Extract<LookupOutcome, { outcome: 'number_not_found' }> = {
      outcome: 'number_not_found',
      miss,
      didYouMean: ['RN.123', 'RN.0123'],
      boards: ['Nursing Board', 'Medical Board'],
    };
    const answered = result(outcome);
    expect(answered).toMatchObject({ outcome: word, count: 0, licenses: [] });
    expect(answered.did_you_mean).toEqual(['RN.123', 'RN.0123']);
    expect(answered.message).toContain(missDetail(outcome, DATE));
  });
});

test.each([true, false])('several matches are all listed; truncated: %s', (truncated) => {
  const records = [storedLicense({ license_number: 'RN.2' }), storedLicense({ license_number: 'RN.1' })];
  const answered = result({ outcome: 'matches', records, truncated });
  expect(answered).toMatchObject({ outcome: 'found', count: 2, truncated, did_you_mean: [] });
  expect(answered.licenses).toEqual(records.map((record) => answerRecord(record, DATE, TODAY)));
  expect(/narrow the search/.test(answered.message)).toBe(truncated);
});

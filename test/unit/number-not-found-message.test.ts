import { describe, expect, test } from '@jest/globals';
import type { NumberNotFoundReason } from '../../src/licenses/lookup-outcome.ts';
import { numberNotFoundMessage } from '../../src/licenses/number-not-found-message.ts';

const DATE = '2026-11-20';
function missed(reason: NumberNotFoundReason, boards?: string[], didYouMean: string[] = []) {
  const outcome = { outcome: 'number_not_found', reason, didYouMean } as const;
  return numberNotFoundMessage(
    boards === undefined ? outcome : { ...outcome, boards },
    DATE,
    'Ask for persons.',
  );
}

const MISSES: NumberNotFoundReason[] = ['unknown', 'ambiguous', 'other_board', 'not_a_business'];

describe('the words for a missed number', () => {
  test.each(MISSES)('(%s) name the publication and call nobody unlicensed', (miss) => {
    const words = missed(miss, ['Nursing Board']);
    expect(words).toContain(DATE);
    expect(words).not.toMatch(/unlicensed|not licensed|no license exists|invalid/i);
  });

  test.each([
    [['Nursing Board'], 'one of the Nursing Board in the'],
    [['Medical Board', 'Nursing Board'], 'one of the Medical Board and the Nursing Board in the'],
    [
      ['Dental Board', 'Medical Board', 'Nursing Board'],
      'one of the Dental Board and the Medical Board and the Nursing Board in the',
    ],
  ])('of other boards name them: %j', (boards, words) => {
    expect(missed('other_board', boards)).toContain(words);
  });

  test('that fits several licenses ask for the way in which the board writes it', () => {
    expect(missed('ambiguous')).toContain('Send it as the board writes it');
  });

  test('that two boards have, written the same, ask for the board', () => {
    const words = missed('ambiguous', ['Medical Board', 'Nursing Board'], ['RN.1']);
    expect(words).toContain('More than one board has a license with this number');
    expect(words).toContain('the Medical Board and the Nursing Board');
    expect(words).toContain('Name the board');
    expect(words).not.toContain('Send it as');
  });

  test('of a person tell how to look it up', () => {
    expect(missed('not_a_business')).toContain("not a business's. Ask for persons.");
  });

  test.each<[NumberNotFoundReason, string[], string]>([
    ['unknown', [], "No license with this number is in the State's dataset of 2026-11-20."],
    [
      'unknown',
      ['RN.1', 'RN.01'],
      "No license with this number is in the State's dataset of 2026-11-20. Similar numbers that exist: RN.1, RN.01.",
    ],
    [
      'ambiguous',
      [],
      "This way of writing the number fits more than one license in the State's dataset of 2026-11-20. Send it as the board writes it.",
    ],
    [
      'ambiguous',
      ['RN.1', 'RN.01'],
      "This way of writing the number fits more than one license in the State's dataset of 2026-11-20. Similar numbers that exist: RN.1, RN.01. Send it as the board writes it.",
    ],
  ])('(%s) with the similar numbers %j are %j', (miss, didYouMean, words) => {
    expect(missed(miss, undefined, didYouMean)).toBe(words);
  });
});

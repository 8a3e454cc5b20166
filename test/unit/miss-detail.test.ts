import { describe, expect, test } from '@jest/globals';
import type { NumberMiss } from '../../src/licenses/lookup.ts';
import { missDetail } from '../../src/licenses/miss-detail.ts';

const DATE = '2026-11-20';
const MISSES: NumberMiss[] = ['unknown', 'ambiguous', 'other_board', 'not_a_business'];

describe('the words for a missed number', () => {
  test.each(MISSES)('(%s) name the publication and call nobody unlicensed', (miss) => {
    const words = missDetail(miss, 'Nursing Board', DATE);
    expect(words).toContain(DATE);
    expect(words).not.toMatch(/unlicensed|not licensed|no license exists|invalid/i);
  });

  test('that nobody has refer to the issuing board', () => {
    expect(missDetail('unknown', undefined, DATE)).toContain('The issuing board is the authority');
  });

  test('of another board name that board', () => {
    expect(missDetail('other_board', 'Nursing Board', DATE)).toContain('one of the Nursing Board');
  });

  test('that fits several licences ask for the way in which the board writes it', () => {
    expect(missDetail('ambiguous', undefined, DATE)).toContain('Send it as the board writes it');
  });

  test('of a person tell how to look it up', () => {
    expect(missDetail('not_a_business', undefined, DATE)).toContain('Leave out search_type');
  });
});

import { expect, test } from '@jest/globals';
import { freshness } from '../../src/answers/origin.ts';

test.each([
  [-13_146, 'stale'],
  [-1, 'stale'],
  [0, 'fresh'],
  [1, 'fresh'],
  [2, 'fresh'],
  [3, 'late'],
  [7, 'late'],
  [8, 'stale'],
  [365, 'stale'],
])('data that is %d days old is %s', (age, expected) => {
  expect(freshness(age)).toBe(expected);
});

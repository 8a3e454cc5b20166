import { expect, test } from '@jest/globals';
import { freshness } from '../../src/answers/origin.ts';
import { pairsOf } from '../support/tables.ts';

test('data is fresh, late or stale by its days', () => {
  const days = pairsOf(
    '-13146 = stale; -1 = stale; 0 = fresh; 1 = fresh; 2 = fresh; 3 = late; 7 = late; 8 = stale; 365 = stale',
  );
  expect(days.map(([age]) => [age, freshness(Number(age))])).toEqual(days);
});

import { expect, test } from '@jest/globals';
import { watchedDays } from '../../src/subscriptions/proof.ts';

/** A comparison at this hour of the dataset of a day in November 2026. */
function compared(day: number, hour: number, isWithdrawn = false) {
  return { date: dateOf(day), at: timeOf(hour), ...(isWithdrawn && { withdrawn: true as const }) };
}

const dateOf = (day: number) => `2026-11-${String(day).padStart(2, '0')}`;
const timeOf = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00.000Z`;

const range = { start: dateOf(1), createdAt: timeOf(2), until: dateOf(8) };

test('the days after the dataset that was live when the watch began are compared or missed', () => {
  expect(watchedDays([compared(2, 1), compared(3, 3), compared(5, 4), compared(6, 5)], range)).toEqual({
    coverage_start: dateOf(2),
    compared: [3, 5, 6].map(dateOf),
    missed: [4, 7, 8].map(dateOf),
    withdrawn: [],
  });
});

test('without an earlier comparison, they begin after the first dataset that is known', () => {
  expect(watchedDays([], { ...range, until: dateOf(3) })).toEqual({
    ...{ coverage_start: dateOf(1), compared: [], missed: [2, 3].map(dateOf), withdrawn: [] },
  });
});

test('a comparison that a rollback has undone leaves its day missed, unless another one holds', () => {
  const back = compared(3, 5);
  const comparisons = [compared(3, 3), compared(4, 4, true), back, compared(5, 6, true), compared(5, 7)];
  expect(watchedDays(comparisons, { ...range, until: dateOf(5) })).toEqual({
    ...{ coverage_start: dateOf(1), compared: [3, 5].map(dateOf), missed: [2, 4].map(dateOf) },
    withdrawn: [dateOf(4)],
  });
});

test.each([
  ['an earlier dataset is live than when the watch began, or a clock is wrong', dateOf(1)],
  ['nothing came since', dateOf(2)],
])('no day is missed where %s', (_why, until) => {
  expect(watchedDays([compared(2, 1)], { ...range, until })).toEqual({
    ...{ coverage_start: dateOf(2), compared: [], missed: [], withdrawn: [] },
  });
});

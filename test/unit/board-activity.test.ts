import { expect, test } from '@jest/globals';
import { activityOf } from '../../src/changes/board-activity.ts';
import { daysBefore } from '../../src/licenses/dates.ts';

const LAST = '2026-11-20';
const BOARDS = ['Nursing Board', 'Dental Board'];

/** A publication a day; the last one is of the last date. */
const days = (counts: readonly number[]) =>
  counts.map((count, at) => ({
    date: daysBefore(LAST, counts.length - 1 - at),
    boards: new Map([['Nursing Board', count]]),
  }));

const nursing = (counts: readonly number[]) => activityOf(days(counts), BOARDS).get('Nursing Board');

test.each<[string, number[], string | null, number | null]>([
  ['nothing known', [], null, null],
  ['too few publications', [5, 5, 5, 5, 5, 5], LAST, null],
  ['each day the same', Array(10).fill(5), LAST, 5],
  ['nothing for three days', [...Array(7).fill(4), 0, 0, 0], '2026-11-17', 2.67],
  ['one day with a renewal of thousands', [...Array(9).fill(2), 9000], LAST, 2],
  ['never', Array(10).fill(0), null, 0],
  ['what was more than 90 days ago', [...Array(30).fill(1000), ...Array(90).fill(1)], LAST, 1],
])('the activity of a board %s', (_what, counts, last_changed, usual_changes_per_day) => {
  expect(nursing(counts)).toEqual({ last_changed, usual_changes_per_day });
});

test('the activity of a board is that of the board alone', () => {
  expect(activityOf(days(Array(10).fill(5)), BOARDS).get('Dental Board')).toEqual({
    last_changed: null,
    usual_changes_per_day: 0,
  });
});

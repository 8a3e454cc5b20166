import { describe, expect, test } from '@jest/globals';
import {
  type FeedState,
  feedsOf,
  isWithdrawn,
  newFeed,
  nextFeed,
  rolledBackFeed,
} from '../../src/changes/feed.ts';

const PUBLISHED = 'published';
const BACK = 'rollback';
const BACK_TO_NEW_FEED = 'rollback, whose changes are not known';

/** What went live, and how. */
type Went = readonly [publication: string, how: typeof PUBLISHED | typeof BACK | typeof BACK_TO_NEW_FEED];

/** The epochs that are withdrawn after a publication (epoch 1), and what went live since (2, 3, …). */
function withdrawnAfter(steps: readonly Went[]): number[] {
  const date = '2026-11-01';
  const built = new Map([['p1', 1]]);
  let state = newFeed({ publication: 'p1', epoch: 1, date });
  const left = new Map<string, FeedState>([['p1', state]]);
  for (const [at, [publication, how]] of steps.entries()) {
    const epoch = at + 2;
    if (how !== PUBLISHED) {
      const to = { publication, epoch: built.get(publication) ?? 0, date };
      state = rolledBackFeed(state, left.get(publication), to) ?? state;
    }
    if (how === BACK_TO_NEW_FEED) state = nextFeed(state, true, { publication, epoch, date });
    else
      state = {
        ...state,
        segments: [...state.segments, { epoch, changes: 1, publication, date, at: date }],
      };
    if (how === PUBLISHED) built.set(publication, epoch);
    left.set(publication, state);
  }
  const all = feedsOf(state).flatMap(({ feed, segments }) => segments.map(({ epoch }) => ({ feed, epoch })));
  return all.filter((change) => isWithdrawn(state, change)).map(({ epoch }) => epoch);
}

describe('a rollback withdraws the publications after the one that it goes back to', () => {
  test.each<[string, readonly Went[], number[]]>([
    ['no publication', [], []],
    [
      'no rollback',
      [
        ['p2', PUBLISHED],
        ['p3', PUBLISHED],
      ],
      [],
    ],
    [
      'to what began the feed',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
      ],
      [2],
    ],
    [
      'to a later one',
      [
        ['p2', PUBLISHED],
        ['p3', PUBLISHED],
        ['p4', PUBLISHED],
        ['p2', BACK],
      ],
      [3, 4],
    ],
    [
      'then the corrected files',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
        ['p3', PUBLISHED],
      ],
      [2],
    ],
    [
      'twice the wrong files, then the right ones',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
        ['p3', PUBLISHED],
        ['p1', BACK],
        ['p4', PUBLISHED],
      ],
      [2, 4],
    ],
    [
      'two rollbacks in a row, the second further back',
      [
        ['p2', PUBLISHED],
        ['p3', PUBLISHED],
        ['p2', BACK],
        ['p1', BACK],
      ],
      [2, 3, 4],
    ],
    [
      'that is undone',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
        ['p2', BACK],
      ],
      [3],
    ],
    [
      'that is undone, and done again',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
        ['p2', BACK],
        ['p1', BACK],
      ],
      [2, 4],
    ],
    [
      'that is undone after other files',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
        ['p3', PUBLISHED],
        ['p2', BACK],
      ],
      [3, 4],
    ],
    [
      'then the same publication once more, by its job',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
        ['p2', PUBLISHED],
      ],
      [2],
    ],
    [
      'that started a new feed',
      [
        ['p2', PUBLISHED],
        ['p3', PUBLISHED],
        ['p4', PUBLISHED],
        ['p2', BACK_TO_NEW_FEED],
        ['p5', PUBLISHED],
      ],
      [3, 4],
    ],
    [
      'that started a new feed and undid another one',
      [
        ['p2', PUBLISHED],
        ['p1', BACK],
        ['p2', BACK_TO_NEW_FEED],
      ],
      [3],
    ],
  ])('%s', (_what, steps, expected) => {
    expect(withdrawnAfter(steps)).toEqual(expected);
  });
});

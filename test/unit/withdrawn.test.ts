import { describe, expect, test } from '@jest/globals';
import type { ChangeCause } from '../../src/changes/change.ts';
import { type Feed, newFeed, positionOf } from '../../src/changes/feed.ts';
import { type Segment, withdrawnEpochs } from '../../src/changes/segments.ts';

/** A publication or rollback: what went live, and why licenses changed. */
type Went = readonly [publication: string, ...causes: ChangeCause[]];
/** What became of a segment since. */
type Fate = 'pruned' | 'lost' | 'overwritten' | 'without counts';

/**
 * Feeds that begin with a publication each. Their publications and rollbacks have the epochs 2, 3, …; a feed's
 * beginning takes one, too.
 */
function historyOf(feeds: readonly (readonly [string, ...Went[]])[], fates: Readonly<Record<number, Fate>>) {
  let epoch = 0;
  const all: Feed[] = [];
  const stored: Segment[] = [];
  for (const [beginning, ...steps] of feeds) {
    epoch += 1;
    const { feed, since, start } = newFeed({ publication: beginning, epoch, date: '2026-11-01' });
    const segments: [number, number][] = [];
    let begins = start;
    for (const [publication, ...causes] of steps) {
      epoch += 1;
      const fate = fates[epoch];
      if (fate === 'pruned') begins = positionOf(epoch, 1);
      else segments.push([epoch, causes.length]);
      const counts = { kinds: {}, causes: Object.fromEntries(causes.map((cause) => [cause, 1])), boards: {} };
      const segment = { feed, epoch, publication, date: '2026-11-01', at: '2026-11-01T06:00:00.000Z' };
      if (fate === undefined) stored.push({ ...segment, counts });
      if (fate === 'without counts') stored.push(segment);
      if (fate === 'overwritten') stored.push({ ...segment, feed: 'another feed', counts });
    }
    all.push({ feed, since, start: begins, segments });
  }
  return withdrawnEpochs(all, stored);
}

const DATA = 'data';
const BACK = 'rollback';

describe('a rollback withdraws the publications after the one that it goes back to', () => {
  test.each<[string, readonly (readonly [string, ...Went[]])[], Readonly<Record<number, Fate>>, number[]]>([
    ['no publication', [['p1']], {}, []],
    ['no rollback', [['p1', ['p2', DATA], ['p3', DATA]]], {}, []],
    ['to what began the feed', [['p1', ['p2', DATA], ['p1', BACK]]], {}, [2]],
    ['to a later one', [['p1', ['p2', DATA], ['p3', DATA], ['p4', DATA], ['p2', BACK]]], {}, [3, 4]],
    [
      'that changed nothing, since one of the others had changed it back',
      [['p1', ['p2', DATA], ['p3', DATA], ['p1']]],
      {},
      [2, 3],
    ],
    ['then the corrected files', [['p1', ['p2', DATA], ['p1', BACK], ['p3', DATA]]], {}, [2]],
    [
      'twice the wrong files, then the right ones',
      [['p1', ['p2', DATA], ['p1', BACK], ['p3', DATA], ['p1', BACK], ['p4', DATA]]],
      {},
      [2, 4],
    ],
    [
      'two rollbacks in a row, the second further back',
      [['p1', ['p2', DATA], ['p3', DATA], ['p2', BACK], ['p1', BACK]]],
      {},
      [2, 3, 4],
    ],
    ['that is undone', [['p1', ['p2', DATA], ['p1', BACK], ['p2', BACK]]], {}, [3]],
    [
      'that is undone, and done again',
      [['p1', ['p2', DATA], ['p1', BACK], ['p2', BACK], ['p1', BACK]]],
      {},
      [2, 4],
    ],
    [
      'that is undone after other files',
      [['p1', ['p2', DATA], ['p1', BACK], ['p3', DATA], ['p2', BACK]]],
      {},
      [3, 4],
    ],
    [
      'to one that is no longer kept',
      [['p1', ['p2', DATA], ['p3', DATA], ['p4', DATA], ['p2', BACK]]],
      { 2: 'pruned' },
      [3, 4],
    ],
    [
      'to one that began the feed, whose first changes are no longer kept',
      [['p1', ['p2', DATA], ['p3', DATA], ['p1', BACK]]],
      { 2: 'pruned' },
      [3],
    ],
    [
      'whose causes are not known, to one that is kept',
      [['p1', ['p2', DATA], ['p3', DATA], ['p2', BACK]]],
      { 4: 'without counts' },
      [3],
    ],
    [
      'whose causes are not known, to one that is no longer kept',
      [['p1', ['p2', DATA], ['p3', DATA], ['p4', DATA], ['p2', BACK]]],
      { 2: 'pruned', 5: 'without counts' },
      [],
    ],
    [
      'then the same publication once more, by its job',
      [['p1', ['p2', DATA], ['p1', BACK], ['p2', DATA]]],
      {},
      [2],
    ],
    [
      'before one that is lost and may have undone it',
      [['p1', ['p2', DATA], ['p1', BACK], ['p2', BACK], ['p3', DATA]]],
      { 4: 'lost' },
      [],
    ],
    [
      'before one whose place another feed has taken',
      [['p1', ['p2', DATA], ['p1', BACK], ['p2', BACK], ['p3', DATA]]],
      { 4: 'overwritten' },
      [],
    ],
    [
      'after one that is lost, and to before it',
      [['p1', ['p2', DATA], ['p3', DATA], ['p4', DATA], ['p1', BACK]]],
      { 3: 'lost' },
      [4],
    ],
    [
      'after one that is lost, and to after it',
      [['p1', ['p2', DATA], ['p3', DATA], ['p4', DATA], ['p3', BACK]]],
      { 2: 'lost' },
      [4],
    ],
    [
      'before and after a restore',
      [
        ['p1', ['p2', DATA], ['p1', BACK], ['p3', DATA]],
        ['p4', ['p5', DATA], ['p4', BACK]],
      ],
      {},
      [2, 6],
    ],
    [
      'that began the feed anew',
      [
        ['p1', ['p2', DATA], ['p3', DATA], ['p4', DATA]],
        ['p2', ['p5', DATA]],
      ],
      {},
      [3, 4],
    ],
    ['that began the feed anew and undid another one', [['p1', ['p2', DATA], ['p1', BACK]], ['p2']], {}, [3]],
    [
      'to what is no longer kept of a feed that began anew',
      [
        ['p1', ['p2', DATA]],
        ['p3', ['p4', DATA], ['p5', DATA], ['p4', BACK]],
      ],
      { 4: 'pruned' },
      [5],
    ],
  ])('%s', (_what, feeds, fates, expected) => {
    expect([...historyOf(feeds, fates)].toSorted((one, other) => one - other)).toEqual(expected);
  });
});

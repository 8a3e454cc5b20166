import { expect, test } from '@jest/globals';
import { addedUp } from '../../src/access/usage.ts';

test('the counts of several processes are added up by key, day and outcome', () => {
  const stored = [
    { key: 'a', day: '2026-11-22', counts: { found: 2, none: 1 } },
    { key: 'b', day: '2026-11-22', counts: { refused: 4 } },
    { key: 'a', day: '2026-11-22', counts: { found: 3, failed: 1 } },
    { key: 'a', day: '2026-11-21', counts: { found: 7 } },
  ];
  expect(addedUp(stored)).toEqual([
    { key: 'a', day: '2026-11-22', counts: { found: 5, none: 1, failed: 1 } },
    { key: 'b', day: '2026-11-22', counts: { refused: 4 } },
    { key: 'a', day: '2026-11-21', counts: { found: 7 } },
  ]);
  expect(addedUp([])).toEqual([]);
});

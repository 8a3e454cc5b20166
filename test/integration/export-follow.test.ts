/** @room clients @long */

import { beforeAll, expect, test } from '@jest/globals';
import { rollBack } from '../../src/publications/rollback.ts';
import type { DayRow } from '../support/day-files.ts';
import { licensesOf } from '../support/day-files.ts';
import { exported } from '../support/exports.ts';
import { feedCopy } from '../support/feed-copy.ts';
import { type FeedService, NURSING, startFeedService } from '../support/feed-service.ts';

/** Several pages of an export. */
const NURSES = licensesOf(NURSING, 'RN.', 700);
const PAGE = 13;

let service: FeedService;

beforeAll(async () => {
  service = await startFeedService({ EXPORTS_PER_DAY: '100', INDEX_SHARDS: '3', KEEP_PUBLICATIONS: '5' });
});

/** The nurses with those from one place to another changed, or left out. */
function withChanged(
  nurses: readonly DayRow[],
  from: number,
  to: number,
  change: (nurse: DayRow) => DayRow | undefined,
): DayRow[] {
  return nurses.flatMap((nurse, at) => (at >= from && at < to ? (change(nurse) ?? []) : nurse));
}

test('a copy that begins with an export and follows the feed over five days is what a fresh export has', async () => {
  const { rest, publishDay, environment } = service;
  await publishDay(NURSES);
  const first = await exported(rest);
  const copies = [feedCopy(first.licenses, first.cursor)];

  /** Every copy equals a fresh export after it has read the feed; the fresh export is followed from now on, too. */
  async function expectCurrent(publication: string): Promise<void> {
    const fresh = await exported(rest);
    expect(fresh.publication).toBe(publication);
    for (const copy of copies) {
      await copy.catchUp(rest, PAGE);
      expect(copy.licenses).toEqual(fresh.licenses);
    }
    copies.push(feedCopy(fresh.licenses, fresh.cursor));
  }

  const second = withChanged(NURSES, 0, 40, (nurse) => ({
    ...nurse,
    status: 'Inactive',
    subStatus: 'Lapsed',
  }));
  second.push(...licensesOf(NURSING, 'PN.', 30));
  await expectCurrent(await publishDay(second));

  const hidden = withChanged(second, 100, 120, (nurse) => ({ ...nurse, city: 'HIDDEN' }));
  const third = withChanged(hidden, 200, 225, () => undefined);
  const thirdDay = await publishDay(third);
  await expectCurrent(thirdDay);

  const renumbered = withChanged(third, 300, 320, (nurse) => ({ ...nurse, number: `X${nurse.number}` }));
  const fourth = withChanged(renumbered, 400, 410, (nurse) => ({
    ...nurse,
    name: 'MARRIED, NOW',
    expires: '2098-12-31',
  }));
  await expectCurrent(await publishDay(fourth));

  await rollBack(environment.store, thirdDay);
  await expectCurrent(thirdDay);

  // Who was removed comes back, and a place that was erased.
  const fifth = [...third, ...NURSES.slice(200, 210)].map((nurse) => ({ ...nurse, city: 'LIMA' }));
  await expectCurrent(await publishDay(fifth));
  expect(Object.keys(copies[0]?.applied ?? {}).toSorted()).toEqual([
    'added data',
    'added rollback',
    'changed data',
    'changed rollback',
    'removed data',
    'removed rollback',
  ]);
}, 300_000);

import { expect, test } from '@jest/globals';
import { changedFields } from '../../src/changes/change.ts';
import { storedRecords } from '../../src/changes/compare.ts';
import { type FeedState, lastOf, newFeed } from '../../src/changes/feed.ts';
import { CHANGES, changeMaker, eraseWithdrawnPlaces } from '../../src/changes/stored-changes.ts';
import { onceForEach, readFeed, toEarlier, writeSwitch } from '../../src/changes/stored-feed.ts';
import { SearchUnavailableError } from '../../src/storage/errors.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { nurseRecord } from '../support/records.ts';

const BEGINNING = newFeed({ publication: 'p1', epoch: 1, date: '2026-11-01' });

/** The feed after this many more publications. */
function feedAfter(publications: number): FeedState {
  const { feed } = lastOf(BEGINNING);
  const switches = Array.from({ length: publications }, (_, at) => {
    const [publication, date] = [`p${at + 2}`, `2026-11-0${at + 2}`];
    return { feed, epoch: at + 2, changes: 1, publication, date, at: `${date}T00:00:00.000Z` };
  });
  return [...BEGINNING, ...switches];
}

const { store } = await newEnvironment();

test('what is done once for each publication is done again where it broke off', async () => {
  const done: number[] = [];
  const work = (isBroken: boolean) => async (each: { epoch: number }) => {
    if (isBroken && each.epoch === 3) throw new Error('broken off');
    done.push(each.epoch);
  };
  await expect(onceForEach(store, 'erased', feedAfter(3), work(true))).rejects.toThrow('broken off');
  await onceForEach(store, 'erased', feedAfter(3), work(false));
  await onceForEach(store, 'erased', feedAfter(3), work(false));
  expect(done).toEqual([2, 3, 4]);
});

test('a place that is withdrawn is erased also from changes under the number that the license had before', async () => {
  const beginning = newFeed({ publication: 'q1', epoch: 20, date: '2026-11-01' });
  const { feed } = lastOf(beginning);
  const origin = { feed, at: '2026-11-02T00:00:00.000Z', publication: 'q2', date: '2026-11-02' };
  const of = (number: string, city: string | null) => nurseRecord({ license_number: number, city });
  const made = (
    [
      ['RN.1', of('RN.1', 'AKRON'), of('RN.1', 'LIMA'), undefined],
      ['RN-1', undefined, of('RN-1', 'LIMA'), 'RN.1'],
      // And back, as a rollback does it.
      ['RN.1', undefined, of('RN.1', 'LIMA'), 'RN-1'],
      ['RN.1', of('RN.1', 'LIMA'), of('RN.1', null), undefined],
    ] as const
  ).flatMap(([number, before, after, renumbered], at) => {
    const maker = changeMaker(beginning, { ...origin, epoch: 21 + at }, { dateBefore: '2026-11-01' });
    const fields = changedFields(before, after);
    return maker.make({ license: `NUR/${number}`, before, after, renumbered, fields }, 'data') ?? [];
  });
  await CHANGES.putAll(
    store,
    made.map((change) => [String(change.position), change]),
  );
  await store.client.indices.refresh({ index: store.names.changes });
  const switches = made.map(({ epoch }) => ({ ...origin, epoch, changes: 1 }));
  await eraseWithdrawnPlaces(store, [...beginning, ...switches]);
  const read = await CHANGES.readAll(
    store,
    made.map(({ position }) => String(position)),
  );
  const erased = { before: null, after: null, erased: true };
  expect(read.map(({ fields }) => fields.city)).toEqual([erased, erased, erased, erased]);
});

test('a license that OpenSearch could not read is not taken for one that is not there', async () => {
  const { index } = await store.client.indices
    .create({ index: `${store.prefix}some` })
    .then(({ body }) => body);
  expect((await storedRecords(store.client, index, ['NUR/RN.1'])).size).toBe(0);
  // Of an index that is gone, each has an error in its place.
  const reading = storedRecords(store.client, `${store.prefix}gone`, ['NUR/RN.1']);
  await expect(reading).rejects.toThrow(SearchUnavailableError);
});

test('an installation of version 0.3.0 keeps its feeds, with their gaps and what was withdrawn', async () => {
  const [, first, second] = feedAfter(2);
  const after = { publication: 'p8', epoch: 8, date: '2026-11-08' };
  const last = { publication: 'p9', epoch: 9, date: '2026-11-09' };
  if (first === undefined || second === undefined) throw new Error('There is no feed.');
  const withGap = newFeed(after, [...BEGINNING, first, { ...second, withdrawn: true }]);
  const state = newFeed(last, withGap, 'without_gap');
  // Each switch writes what 0.3.0 did.
  for (const each of [feedAfter(1), feedAfter(2)])
    await writeSwitch(store, { index: 'p', epoch: 3, publication: 'p3', state: each });
  const found = await readFeed(store, 'none', toEarlier(state));
  const known = ({ feed, epoch, changes, date, begins, withdrawn }: FeedState[number]) => ({
    ...{ feed, epoch, changes, date, begins, withdrawn },
  });
  expect(found?.map(known)).toEqual(state.map(known));
  const lost = feedAfter(4).map((each, at) => (at === 3 ? { ...each, epoch: 77 } : each));
  expect(await readFeed(store, 'none', toEarlier(lost))).toBeUndefined();
});

test('the feed of an index is what the later of two versions of the service wrote', async () => {
  await writeSwitch(store, { index: 'one', epoch: 2, publication: 'p2', state: feedAfter(1) });
  await writeSwitch(store, { index: 'two', epoch: 3, publication: 'p3', state: feedAfter(2) });
  const epochIn = async (earlier: FeedState) => {
    const state = await readFeed(store, 'one', toEarlier(earlier));
    return state && lastOf(state).epoch;
  };
  // As a rollback by version 0.3.0 leaves it.
  expect(await epochIn(feedAfter(2))).toBe(3);
  expect(await epochIn(feedAfter(1))).toBe(2);
});

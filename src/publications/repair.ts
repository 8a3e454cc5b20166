import { trimmedFeed } from '../changes/feed.ts';
import { readSegments, segmentId } from '../changes/segments.ts';
import { countChangesOfEpoch } from '../changes/stored-changes.ts';
import type { Repaired } from '../storage/repair.ts';
import type { Store } from '../storage/store.ts';
import { deleteUnlessLive, repairEpochDocument } from './fence.ts';
import { readEvents } from './ledger.ts';
import { feedOf } from './live-feed.ts';
import {
  checkedIndices,
  indicesUnderAlias,
  licensesIndices,
  META_ID,
  readableLiveIndex,
  writeMetadata,
} from './metadata.ts';

/**
 * Finds the metadata of publications that are not valid.
 *
 * @param isRepaired whether they are replaced by what is left of them, too. Of an index that is not live, and of which
 * too little is left, the whole index is deleted: no rollback can go back to it.
 */
export async function repairMetadata(store: Store, isRepaired: boolean): Promise<Repaired[]> {
  const live = await indicesUnderAlias(store);
  const found: Repaired[] = [];
  for (const { index, isOurs, kept, problem } of await checkedIndices(store, store.names.licensesPattern)) {
    const isLive = live.includes(index);
    if (problem === undefined || !(isOurs || isLive)) continue;
    const bad = { index, id: META_ID, problem };
    if (!isRepaired || (kept === undefined && isLive)) {
      found.push({ ...bad, action: 'none' });
    } else if (kept === undefined) {
      await deleteUnlessLive(store, index);
      found.push({ ...bad, action: 'deleted' });
    } else {
      await store.client.indices.putMapping({ index, body: { [META_ID]: kept } });
      found.push({ ...bad, action: 'repaired' });
    }
  }
  return found;
}

/**
 * Finds the publications and rollbacks of the live feed of which changes are missing. Cursors before them get 410.
 *
 * @param isRepaired whether the feed is made to begin after the last of them, too
 */
export async function repairFeed(store: Store, isRepaired: boolean): Promise<Repaired[]> {
  const live = await readableLiveIndex(store);
  if (live === undefined) return [];
  const state = await feedOf(store, live.metadata);
  const found: Repaired[] = [];
  let dropped = 0;
  for (const [at, [epoch, changes]] of state.segments.entries()) {
    const stored = await countChangesOfEpoch(store, state, epoch);
    if (stored >= changes) continue;
    dropped = at + 1;
    const problem = `${stored} of ${changes} changes`;
    found.push({
      index: store.names.changes,
      id: segmentId(epoch),
      problem,
      action: isRepaired ? 'repaired' : 'none',
    });
  }
  if (!isRepaired || dropped === 0) return found;
  const last = await readSegments(store, { ...state, segments: state.segments.slice(dropped - 1, dropped) });
  const feed = trimmedFeed(state, dropped, last[0]?.date ?? live.metadata.date);
  await writeMetadata(store.client, live.index, { ...live.metadata, feed });
  return found;
}

/** Writes the greatest epoch that the ledger and the indices know, in place of one that is missing or not valid. */
export async function repairEpoch(store: Store): Promise<void> {
  const [events, indices] = await Promise.all([readEvents(store), licensesIndices(store)]);
  const known = [...events.map(({ epoch }) => epoch ?? 0), ...indices.map(({ metadata }) => metadata.epoch)];
  const greatest = known.reduce((one, other) => Math.max(one, other), 0);
  await repairEpochDocument(store, greatest);
}

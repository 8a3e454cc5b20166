import { deleteInvisibleChanges, eraseWithdrawnPlaces } from '../changes/stored-changes.ts';
import { deleteExpiredRecords } from '../records/saved-records.ts';
import { digestIndexName, type Store } from '../storage/store.ts';
import { deleteIndex, deleteObsolete, type ReadEpoch, readEpoch } from './fence.ts';
import { indicesOnceLive, summarize } from './history.ts';
import { type LedgerEvent, readEvents } from './ledger.ts';
import { copyFeed, feedOf } from './live-feed.ts';
import { checkedIndices, type LicensesIndex, licensesIndices, liveIndex } from './metadata.ts';
import { deleteRejectedRows } from './rejected-rows.ts';

/**
 * Deletes obsolete indices: all but the live one, the latest that were live before, and the one being built. Indices of
 * crashed runs are deleted too: they have an earlier epoch, so they can never go live. Digests, rejected rows and
 * changes go with them. While nothing is live, no index is deleted: any of them may be what goes live. Saved records
 * that are no longer kept are deleted, too.
 *
 * @param keep how many publications stay, the live one included
 * @returns the indices deleted
 */
export async function prune(store: Store, keep: number): Promise<readonly string[]> {
  for (;;) {
    const epoch = await readEpoch(store);
    // Before the indices of licenses: a digest is younger than its index, so none that is being built is an orphan.
    const digests = await checkedIndices(store, store.names.digestsPattern);
    const [live, indices, events] = await Promise.all([
      liveIndex(store),
      licensesIndices(store),
      readEvents(store),
    ]);
    const obsolete = live === undefined ? [] : obsoleteIndices(live, indices, events, epoch, keep);
    const deleted = await deleteObsolete(store, epoch, obsolete);
    if (deleted === undefined) continue;

    const left = indices.filter(({ index }) => !deleted.includes(index));
    const used = new Set(left.map(({ index }) => digestIndexName(store.prefix, index)));
    for (const { index } of digests) if (!used.has(index)) await deleteIndex(store, index);
    const current = indices.find(({ index }) => index === live);
    if (current !== undefined) await pruneChanges(store, current, epoch);
    await deleteRejectedRows(store, summarize(events, undefined), left);
    await deleteExpiredRecords(store);
    return deleted;
  }
}

/** @param indices the earliest build first */
function obsoleteIndices(
  live: string,
  indices: readonly LicensesIndex[],
  events: readonly LedgerEvent[],
  { epoch, uses }: ReadEpoch,
  keep: number,
): string[] {
  const onceLive = indicesOnceLive(events);
  const before = indices.map(({ index }) => index).filter((index) => index !== live && onceLive.has(index));
  const kept = new Set([live, ...uses, ...before.slice(Math.max(0, before.length - (keep - 1)))]);
  return indices
    .filter(({ index, metadata }) => !kept.has(index) && metadata.epoch < epoch)
    .map(({ index }) => index);
}

/** @param epoch read before the live index */
async function pruneChanges(store: Store, { metadata }: LicensesIndex, { epoch }: ReadEpoch): Promise<void> {
  const feed = await feedOf(store, metadata);
  await eraseWithdrawnPlaces(store, feed);
  // Before anything is deleted: what a backup has of the feed names no change that is gone.
  await copyFeed(store, metadata);
  await deleteInvisibleChanges(store, feed, epoch);
}

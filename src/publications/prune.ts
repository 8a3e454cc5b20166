import { z } from 'zod';
import { deleteInvisibleChanges, eraseWithdrawnPlaces } from '../changes/prune-changes.ts';
import { deleteExpiredRecords } from '../records/saved-records.ts';
import { digestIndexName } from '../storage/index-names.ts';
import type { Store } from '../storage/store.ts';
import { liveIndex } from './alias.ts';
import { deleteIndex, deleteObsolete, readEpoch } from './fence.ts';
import { summarize } from './history.ts';
import { indicesOnceLive, type LedgerEvent, readEvents } from './ledger.ts';
import { copyFeed, feedOf } from './live-feed.ts';
import { type LicensesIndex, licensesIndices } from './metadata.ts';
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
    const read = await readEpoch(store);
    // Before the indices of licenses: a digest is younger than its index, so none that is being built is an orphan.
    const digests = await digestIndices(store);
    const [live, indices, events] = await Promise.all([
      liveIndex(store),
      licensesIndices(store),
      readEvents(store),
    ]);
    const before = previous(indices, events, live);
    const kept = new Set([live, ...read.uses, ...before.slice(Math.max(0, before.length - (keep - 1)))]);
    const obsolete = indices.filter(({ index, metadata }) => !kept.has(index) && metadata.epoch < read.epoch);
    const names = live === undefined ? [] : obsolete.map(({ index }) => index);
    const deleted = await deleteObsolete(store, read, names);
    if (deleted === undefined) continue;

    const left = indices.filter(({ index }) => !deleted.includes(index));
    const used = new Set(left.map(({ index }) => digestIndexName(store.prefix, index)));
    for (const digest of digests) if (!used.has(digest)) await deleteIndex(store, digest);
    await pruneChanges(
      store,
      indices.find(({ index }) => index === live),
      read.epoch,
    );
    await deleteRejectedRows(store, summarize(events, undefined), left);
    await deleteExpiredRecords(store);
    return deleted;
  }
}

/** The indices that were live before this one, the earliest build first. */
function previous(
  indices: readonly LicensesIndex[],
  events: readonly LedgerEvent[],
  live: string | undefined,
): string[] {
  const onceLive = indicesOnceLive(events);
  return indices.map(({ index }) => index).filter((index) => index !== live && onceLive.has(index));
}

/** @param epoch the epoch taken last, read before the live index */
async function pruneChanges(store: Store, live: LicensesIndex | undefined, epoch: number): Promise<void> {
  if (live === undefined) return;
  const feed = await feedOf(store, live.metadata);
  await eraseWithdrawnPlaces(store, feed);
  // Before anything is deleted: what a backup has of the feed names no change that is gone.
  await copyFeed(store, live.metadata);
  await deleteInvisibleChanges(store, feed, epoch);
}

const mappingsResponse = z.record(z.string(), z.unknown());

async function digestIndices(store: Store): Promise<string[]> {
  const { body } = await store.client.indices.getMapping({ index: store.names.digestsPattern });
  return Object.keys(mappingsResponse.parse(body));
}

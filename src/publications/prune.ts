import { deleteExpiredAnswers } from '../access/first-answers.ts';
import { deleteInvisibleChanges, eraseWithdrawnPlaces } from '../changes/stored-changes.ts';
import { deleteExpiredRecords } from '../records/saved-records.ts';
import { digestIndexName, type Store } from '../storage/store.ts';
import { deleteIndex, deleteObsolete, type ReadEpoch, readEpoch } from './fence.ts';
import { markFromLedger } from './history.ts';
import { feedOf } from './live-feed.ts';
import {
  isOfCheck,
  type LicensesIndex,
  licensesIndices,
  liveIndex,
  type MarkedIndex,
  readableLiveIndex,
} from './metadata.ts';
import { deleteRejectedRows } from './rejected-rows.ts';

/**
 * Deletes obsolete indices with their digests, rejected rows and changes. Also deletes saved records and first answers
 * that are no longer kept.
 *
 * @param keep how many publications to keep, including the live one
 * @param onProgress called with the number of changes checked for withdrawn places, and the total
 * @returns the deleted indices
 */
export async function prune(
  store: Store,
  keep: number,
  onProgress?: (changes: number, total: number) => void,
): Promise<readonly string[]> {
  const epoch = await readEpoch(store);
  const deleted = await deleteIndices(store, keep);
  const live = await readableLiveIndex(store);
  if (live !== undefined) {
    const feed = await feedOf(store, live);
    await eraseWithdrawnPlaces(store, feed, onProgress);
    const kept = (await licensesIndices(store)).map(({ metadata }) => metadata.publication);
    await deleteInvisibleChanges(store, feed, kept, epoch.epoch);
  }
  await deleteRejectedRows(store);
  await deleteExpiredRecords(store);
  await deleteExpiredAnswers(store);
  return deleted;
}

/**
 * Deletes all licenses indices except the live one, the latest that were live before, and the one being built. Indices
 * of crashed runs are deleted too: their epoch is earlier, so they can never go live. While nothing is live, no index
 * is deleted, because any of them may go live.
 *
 * @param keep how many publications to keep, including the live one
 */
export async function deleteIndices(store: Store, keep: number): Promise<readonly string[]> {
  await markFromLedger(store);
  for (;;) {
    const epoch = await readEpoch(store);
    // The digests must be listed before the licenses indices. A digest is created after its index, so the digest of an
    // index being built never looks orphaned.
    const { body: digests } = await store.client.indices.get({ index: store.names.digestsPattern });
    const [live, indices] = await Promise.all([liveIndex(store), licensesIndices(store)]);
    const obsolete = live === undefined ? [] : obsoleteIndices(live, indices, epoch, keep);
    const deleted = await deleteObsolete(store, epoch, obsolete);
    if (deleted === undefined) continue;

    const left = indices.filter(({ index }) => !deleted.includes(index));
    const used = new Set(left.map(({ index }) => digestIndexName(store.prefix, index)));
    for (const index of Object.keys(digests)) if (!used.has(index)) await deleteIndex(store, index);
    return deleted;
  }
}

/**
 * Chooses the indices to delete. A publication that was rolled back does not count towards `keep`, and stays until a
 * later one is live. So the latest good publication before the live one stays, however many were rolled back since.
 *
 * @param indices all licenses indices, the earliest build first
 */
function obsoleteIndices(
  live: string,
  indices: readonly MarkedIndex[],
  { epoch, uses }: Pick<ReadEpoch, 'epoch' | 'uses'>,
  keep: number,
): string[] {
  const liveEpoch = indices.find(({ index }) => index === live)?.metadata.epoch ?? 0;
  const good = indices.filter(
    ({ index, wasLive, isRolledBack }) => index !== live && wasLive && !isRolledBack,
  );
  const before = good.filter(({ metadata }) => metadata.epoch < liveEpoch);
  const kept = keep === 1 ? [] : [...good.slice(1 - keep), ...before.slice(-1)];
  const undone = indices.filter(({ isRolledBack, metadata }) => isRolledBack && metadata.epoch > liveEpoch);
  const stays = new Set([live, ...uses, ...[...kept, ...undone].map(({ index }) => index)]);
  const isAbandoned = ({ index, metadata: { started_at } }: LicensesIndex) =>
    isOfCheck(index) && Date.now() - Date.parse(started_at) > CHECK_TAKES_MS;
  return indices
    .filter((each) => !stays.has(each.index) && (each.metadata.epoch < epoch || isAbandoned(each)))
    .map(({ index }) => index);
}

/**
 * The maximum duration of a check, which takes as long as a publication. An older index of a check belongs to a killed
 * run.
 */
const CHECK_TAKES_MS = 7_200_000;

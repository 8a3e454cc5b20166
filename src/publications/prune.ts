import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { eraseWithdrawnPlaces } from '../changes/erase.ts';
import { deleteInvisibleChanges } from '../changes/prune-changes.ts';
import { deleteExpiredRecords } from '../records/store-records.ts';
import { responseStatus } from '../storage/client.ts';
import { digestIndexName } from '../storage/index-names.ts';
import type { Store } from '../storage/store.ts';
import { liveIndex } from './alias.ts';
import { copyFeed } from './copy-feed.ts';
import { currentEpoch, indicesOnceLive, readEvents } from './ledger.ts';
import { feedOf, licensesIndices } from './metadata.ts';

/**
 * Deletes obsolete indices: all but the live one, the latest that were live before, and the one being built. Indices of
 * crashed runs are deleted too: they have an earlier epoch, so they can never go live. Digests and changes go with them.
 * Saved records that are no longer kept are deleted, too.
 *
 * @param keep how many publications stay, the live one included
 * @returns the indices deleted
 */
export async function prune(store: Store, keep: number): Promise<string[]> {
  const epoch = await currentEpoch(store);
  // Before the indices of licenses: a digest is younger than its index, so none that is being built is an orphan.
  const digests = await digestIndices(store);
  const [live, indices, events] = await Promise.all([
    liveIndex(store),
    licensesIndices(store),
    readEvents(store),
  ]);
  const onceLive = indicesOnceLive(events);
  const previous = indices.map(({ index }) => index).filter((index) => index !== live && onceLive.has(index));
  const kept = new Set([live, ...previous.slice(Math.max(0, previous.length - (keep - 1)))]);
  const obsolete = indices.filter(({ index, metadata }) => !kept.has(index) && metadata.epoch < epoch);
  for (const { index } of obsolete) await deleteIndex(store.client, index);
  const deleted = new Set(obsolete.map(({ index }) => index));
  const used = indices.filter(({ index }) => !deleted.has(index));
  const usedDigests = new Set(used.map(({ index }) => digestIndexName(store.prefix, index)));
  for (const digest of digests) if (!usedDigests.has(digest)) await deleteIndex(store.client, digest);
  const metadata = indices.find(({ index }) => index === live)?.metadata;
  if (metadata !== undefined) {
    await eraseWithdrawnPlaces(store, feedOf(metadata));
    await deleteInvisibleChanges(store, feedOf(metadata), epoch);
    await copyFeed(store, metadata);
  }
  await deleteExpiredRecords(store);
  return [...deleted];
}

const mappingsResponse = z.record(z.string(), z.unknown());

async function digestIndices(store: Store): Promise<string[]> {
  const { body } = await store.client.indices.getMapping({ index: store.names.digestsPattern });
  return Object.keys(mappingsResponse.parse(body));
}

/** Deletes one index by its exact name; one that has gone already is no error. */
export async function deleteIndex(client: Client, index: string): Promise<void> {
  try {
    await client.indices.delete({ index });
  } catch (error) {
    if (responseStatus(error) !== 404) throw error;
  }
}

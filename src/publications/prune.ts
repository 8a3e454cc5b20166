import type { Client } from '@opensearch-project/opensearch';
import { responseStatus } from '../storage/client.ts';
import type { Store } from '../storage/store.ts';
import { liveIndex } from './alias.ts';
import { currentEpoch, indicesOnceLive, readEvents } from './ledger.ts';
import { licensesIndices } from './metadata.ts';

/**
 * Deletes obsolete indices: all but the live one, the latest that were live before, and the one being built. Indices of
 * crashed runs are deleted too: they have an earlier epoch, so they can never go live.
 *
 * @param keep how many publications stay, the live one included
 * @returns the indices deleted
 */
export async function prune(store: Store, keep: number): Promise<string[]> {
  const epoch = await currentEpoch(store);
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
  return obsolete.map(({ index }) => index);
}

/** Deletes one index by its exact name; one that has gone already is no error. */
export async function deleteIndex(client: Client, index: string): Promise<void> {
  try {
    await client.indices.delete({ index });
  } catch (error) {
    if (responseStatus(error) !== 404) throw error;
  }
}

import type { Store } from '../storage/store.ts';
import type { StoredChange } from './change.ts';
import { SEGMENTS, type Segment, segmentId } from './segment.ts';
import { CHANGES } from './stored-changes.ts';

/** Stores changes. They become visible when a publication goes live whose feed has their epoch. */
export async function writeChanges(
  store: Store,
  changes: readonly StoredChange[],
  options?: { readonly refresh?: boolean },
): Promise<void> {
  await CHANGES.putAll(
    store,
    changes.map((change) => [String(change.position), change]),
    options,
  );
}

/** Stores what a publication or rollback made of the feed, and makes it and its changes searchable. */
export async function writeSegment(store: Store, segment: Segment): Promise<void> {
  await SEGMENTS.put(store, segmentId(segment.epoch), segment);
  await store.client.indices.refresh({ index: store.names.changes });
}

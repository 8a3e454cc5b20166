import { SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import type { StoredChange } from './change.ts';
import { type Segment, segmentId } from './segment.ts';

/** Stores changes. They become visible when a publication goes live whose feed has their epoch. */
export async function writeChanges(
  { client, names }: Store,
  changes: readonly StoredChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const body = changes.flatMap((change) => [{ index: { _id: String(change.position) } }, change]);
  const response = await client.bulk({ index: names.changes, body });
  if (response.body.errors) throw new SearchUnavailableError('OpenSearch did not take every change.');
}

/** Stores what a publication or rollback made of the feed, and makes it and its changes searchable. */
export async function writeSegment({ client, names }: Store, segment: Segment): Promise<void> {
  await client.index({ index: names.changes, id: segmentId(segment.epoch), body: segment });
  await client.indices.refresh({ index: names.changes });
}

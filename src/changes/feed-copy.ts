import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError } from '../storage/stored.ts';
import { feedState } from './feed-state.ts';

/**
 * The feed as it was when it was last copied, and the files that were live. It is in backups: after a restore, the
 * history goes on from it.
 */
const feedCopy = z.object({
  feed: z.string(),
  state: feedState,
  sha256: z.object({ individual: z.string(), business: z.string() }),
  sample: z.boolean().optional(),
  /** Of the service that read them. */
  service_version: z.string().optional(),
});

export type FeedCopy = Readonly<z.output<typeof feedCopy>>;

/** The id of the one document. */
export const FEED_COPY_ID = 'feed';

export const FEED_COPIES = collection('changes', feedCopy);

export function writeFeedCopy(store: Store, copy: FeedCopy): Promise<void> {
  return FEED_COPIES.put(store, FEED_COPY_ID, copy);
}

/** The copy; `undefined` before the first publication, before the index of changes exists, and when it is not valid. */
export async function readFeedCopy(store: Store): Promise<FeedCopy | undefined> {
  try {
    return (await FEED_COPIES.read(store, FEED_COPY_ID))?.document;
  } catch (error) {
    if (error instanceof BadDocumentError) return undefined;
    throw error;
  }
}

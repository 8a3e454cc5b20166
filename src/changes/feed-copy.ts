import { z } from 'zod';
import { responseStatus } from '../storage/client.ts';
import type { Store } from '../storage/store.ts';
import { feedState } from './feed-state.ts';

/**
 * The feed as it was when it was last copied, and the files that were live. It is in backups: after a restore the feed
 * goes on when the same files are published again.
 */
const feedCopy = z.object({
  feed: z.string(),
  state: feedState,
  sha256: z.object({ individual: z.string(), business: z.string() }),
});

export type FeedCopy = Readonly<z.output<typeof feedCopy>>;

const ID = 'feed';

export async function writeFeedCopy({ client, names }: Store, copy: FeedCopy): Promise<void> {
  await client.index({ index: names.changes, id: ID, body: copy });
}

/** The copy; `undefined` before the first publication. */
export async function readFeedCopy({ client, names }: Store): Promise<FeedCopy | undefined> {
  try {
    const { body } = await client.get({ index: names.changes, id: ID });
    return z.object({ _source: feedCopy }).parse(body)._source;
  } catch (error) {
    if (responseStatus(error) === 404) return undefined;
    throw error;
  }
}

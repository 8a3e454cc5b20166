import type { Store } from '../storage/store.ts';
import { type FeedState, feedsOf } from './feed-state.ts';
import { visible } from './visible.ts';

/**
 * Deletes the changes that are not visible and never will be: those that are no longer kept, and those of publications
 * that did not go live.
 *
 * @param epoch the epoch taken last; a publication of that epoch may be under way
 */
export async function deleteInvisibleChanges(
  { client, names }: Store,
  state: FeedState,
  epoch: number,
): Promise<void> {
  await client.deleteByQuery({
    index: names.changes,
    conflicts: 'proceed',
    refresh: true,
    body: {
      query: {
        bool: {
          filter: [{ range: { epoch: { lt: epoch } } }],
          must_not: [visible(feedsOf(state))],
        },
      },
    },
  });
}

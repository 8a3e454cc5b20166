import type { LiveFeed } from '../changes/service.ts';
import type { Store } from '../storage/store.ts';
import { feedOf } from './copy-feed.ts';
import { type LivePublicationTracker, NothingPublishedError } from './live.ts';
import { liveLicensesIndex } from './metadata.ts';

/** A refresh that is under way may have asked too early; the one after it has not. */
const MAX_REFRESHES = 2;

/**
 * Asks OpenSearch which publication is live and which feed it has. Lookups that begin later answer from this
 * publication or from a newer one.
 *
 * @throws {NothingPublishedError} when nothing is live
 */
export async function liveFeed(store: Store, tracker: LivePublicationTracker): Promise<LiveFeed> {
  const feed = await askForFeed(store);
  for (let times = 0; times < MAX_REFRESHES && tracker.current()?.index !== feed.index; times += 1) {
    await tracker.refresh();
  }
  return feed;
}

/** Nothing is remembered: a publication that is live again after two rollbacks has another feed than before. */
async function askForFeed(store: Store): Promise<LiveFeed> {
  const live = await liveLicensesIndex(store);
  if (live === undefined) throw new NothingPublishedError('Nothing has been published yet.');
  return { index: live.index, date: live.metadata.date, state: await feedOf(store, live.metadata) };
}

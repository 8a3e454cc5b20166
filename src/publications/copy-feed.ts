import { readFeedCopy, writeFeedCopy } from '../changes/feed-copy.ts';
import { type FeedState, newFeed, nextFeed } from '../changes/feed-state.ts';
import { readableHistory } from '../changes/segment.ts';
import type { Store } from '../storage/store.ts';
import type { PublicationMetadata } from './metadata.ts';

/**
 * The feed of changes as it is while a publication is live. One of version 0.2.0 has none: if it went live after one of
 * a later version, as when an operator goes back, the feed begins anew, and the changes that are stored stay in the
 * history.
 */
export async function feedOf(store: Store, live: PublicationMetadata): Promise<FeedState> {
  return live.feed ?? (await feedWithoutLive(store, live));
}

/** Copies the feed of the live publication to where backups have it. */
export async function copyFeed(store: Store, live: PublicationMetadata): Promise<void> {
  const { sources, sample, service_version, feed: state } = live;
  if (sources === undefined || state === undefined) return;
  const sha256 = { individual: sources.individual.sha256, business: sources.business.sha256 };
  await writeFeedCopy(store, { feed: state.feed, state, sha256, sample, service_version });
}

/**
 * The feed of a publication that goes live where nothing is live, as after a restore. The changes that are stored stay
 * in the history. Cursors stay valid only where the same files are live again, read by the same version of the service:
 * then nothing can have changed in between. They never stay valid for what came after the backup, because the feed's id
 * is a new one.
 */
export async function feedWithoutLive(
  store: Store,
  beginning: Pick<
    PublicationMetadata,
    'publication' | 'epoch' | 'date' | 'sources' | 'sample' | 'service_version'
  >,
): Promise<FeedState> {
  const copy = await readFeedCopy(store);
  if (copy === undefined || (copy.sample === true && !beginning.sample)) return newFeed(beginning);
  const { sources, service_version } = beginning;
  const isSame =
    copy.sha256.individual === sources?.individual.sha256 &&
    copy.sha256.business === sources.business.sha256 &&
    copy.service_version === service_version;
  const { feeds, lastDate } = await readableHistory(store, copy.state);
  return nextFeed(feeds, isSame ? undefined : lastDate, beginning);
}

/** The feed of a publication or rollback whose changes can't be found. The changes before stay in the history. */
export async function feedAfterGap(
  store: Store,
  before: FeedState,
  beginning: Pick<PublicationMetadata, 'publication' | 'epoch' | 'date'>,
): Promise<FeedState> {
  const { feeds, lastDate } = await readableHistory(store, before);
  return nextFeed(feeds, lastDate, beginning);
}

import { z } from 'zod';
import { type FeedBeginning, type FeedState, feedState, newFeed, nextFeed } from '../changes/feed.ts';
import { readableHistory } from '../changes/segments.ts';
import type { LiveFeed } from '../changes/service.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError } from '../storage/stored.ts';
import { type LivePublicationTracker, NothingPublishedError } from './live.ts';
import { liveLicensesIndex, type PublicationMetadata } from './metadata.ts';

/** A refresh that is under way may have asked too early; the one after it has not. */
const MAX_REFRESHES = 2;

/**
 * Asks OpenSearch which publication is live and which feed it has. Lookups that begin later answer from this
 * publication or from a newer one. Nothing is remembered: a publication that is live again after two rollbacks has
 * another feed than before.
 *
 * @param tracker where lookups of this process take their publication from; `undefined` in one without lookups
 * @throws {NothingPublishedError} when nothing is live
 */
export async function liveFeed(store: Store, tracker?: LivePublicationTracker): Promise<LiveFeed> {
  const live = await liveLicensesIndex(store, tracker?.current()?.index);
  if (live === undefined) throw new NothingPublishedError('Nothing has been published yet.');
  const { index, metadata } = live;
  const state = await feedOf(store, metadata);
  for (let times = 0; times < MAX_REFRESHES && tracker?.current()?.index !== index; times += 1) {
    await tracker?.refresh();
  }
  return { index, publication: metadata.publication, date: metadata.date, state };
}

/**
 * The feed of changes as it is while a publication is live. One of version 0.2.0 has none: if it went live after one of
 * a later version, as when an operator goes back, a new feed starts, and the changes that are stored stay in the
 * history.
 */
export async function feedOf(store: Store, live: PublicationMetadata): Promise<FeedState> {
  return live.feed ?? (await feedWithoutLive(store, live));
}

/** The feed of a publication or rollback whose changes can't be found. The changes before stay in the history. */
export async function feedAfterGap(
  store: Store,
  before: FeedState,
  beginning: FeedBeginning,
): Promise<FeedState> {
  const { feeds, lastDate } = await readableHistory(store, before);
  return nextFeed(feeds, lastDate, beginning);
}

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

export const FEED_COPIES = collection('changes', feedCopy);

export const FEED_COPY_ID = 'feed';

/** Copies the feed of the live publication to where backups have it. */
export async function copyFeed(store: Store, live: PublicationMetadata): Promise<void> {
  const { sources, sample, service_version, feed: state } = live;
  if (sources === undefined || state === undefined) return;
  const sha256 = { individual: sources.individual.sha256, business: sources.business.sha256 };
  await FEED_COPIES.put(store, FEED_COPY_ID, { feed: state.feed, state, sha256, sample, service_version });
}

/** The copy; `undefined` before the first publication, before the index of changes exists, and when it is not valid. */
async function readFeedCopy(store: Store) {
  try {
    return (await FEED_COPIES.read(store, FEED_COPY_ID))?.document;
  } catch (error) {
    if (error instanceof BadDocumentError) return undefined;
    throw error;
  }
}

/**
 * The feed of a publication that goes live where nothing is live, as after a restore. The changes that are stored stay
 * in the history. Cursors stay valid only where the same files are live again, read by the same version of the service:
 * then nothing can have changed in between. They never stay valid for what came after the backup, because the feed's id
 * is a new one.
 */
export async function feedWithoutLive(
  store: Store,
  beginning: FeedBeginning & Pick<PublicationMetadata, 'sources' | 'sample' | 'service_version'>,
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

import { isDeepStrictEqual } from 'node:util';
import { type FeedBeginning, type FeedState, lastOf, newFeed } from '../changes/feed.ts';
import type { LiveFeed } from '../changes/service.ts';
import type { FeedChanges } from '../changes/stored-changes.ts';
import { lastFeed, readFeed, toEarlier, writeSwitch } from '../changes/stored-feed.ts';
import type { Store } from '../storage/store.ts';
import { lastLivePublication } from './history.ts';
import { type LivePublicationTracker, NothingPublishedError } from './live.ts';
import {
  hashesOf,
  type LicensesIndex,
  liveLicensesIndex,
  type PublicationMetadata,
  writeMetadata,
} from './metadata.ts';

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
  const state = await feedOf(store, live);
  for (let times = 0; times < MAX_REFRESHES && tracker?.current()?.index !== index; times += 1) {
    await tracker?.refresh();
  }
  return { index, publication: metadata.publication, date: metadata.date, state };
}

/**
 * The feed of changes as it is while an index is live. One of version 0.2.0 has none: if it went live after one of
 * a later version, as when an operator goes back, a new feed starts, and the changes that are stored stay in the
 * history.
 */
export async function feedOf(store: Store, { index, metadata }: LicensesIndex): Promise<FeedState> {
  return (await readFeed(store, index, metadata.feed)) ?? (await feedWithoutLive(store, metadata));
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
  const last = await lastLivePublication(store);
  const before = await lastFeed(store, last?.index);
  if (before === undefined || (last?.sample === true && !beginning.sample)) return newFeed(beginning);
  const { sources, service_version } = beginning;
  const isSame =
    before.isOfIndex &&
    sources !== undefined &&
    isDeepStrictEqual(last?.sha256, hashesOf(sources)) &&
    last?.service_version === service_version;
  return newFeed(beginning, before.state, isSame ? 'without_gap' : 'after_gap');
}

/** Writes what the feed is once an index is live, right before it is: then it changes. @returns the index's metadata */
export async function writeFeed(
  store: Store,
  { index, metadata }: LicensesIndex,
  { feed, changes }: FeedChanges,
  epoch: number,
): Promise<PublicationMetadata> {
  // Comparing took minutes. Who began to watch meanwhile got the record from before.
  const state = [...feed.slice(0, -1), { ...lastOf(feed), at: new Date().toISOString() }];
  const written = { ...metadata, feed: toEarlier(state), changes };
  await writeMetadata(store.client, index, written);
  await writeSwitch(store, { index, epoch, publication: metadata.publication, state });
  return written;
}

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

/** A refresh that is already running may have asked too early; the next one has not. */
const MAX_REFRESHES = 2;

/**
 * Asks OpenSearch for the live publication and its feed. Lookups that begin later answer from this publication or a
 * newer one. Nothing is cached: a publication that is live again after two rollbacks has a different feed than before.
 *
 * @param tracker the source of the publication for this process's lookups; `undefined` in a process without lookups
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
 * Returns the feed of changes for the time that an index is live. A publication of version 0.2.0 has no feed. If it
 * goes live after one of a later version, because an operator goes back, a new feed starts and the stored changes stay
 * in the history.
 */
export async function feedOf(store: Store, { index, metadata }: LicensesIndex): Promise<FeedState> {
  return (await readFeed(store, index, metadata.feed)) ?? (await feedWithoutLive(store, metadata));
}

/**
 * Returns the feed of a publication that goes live when nothing is live, as after a restore. The stored changes stay in
 * the history. Cursors stay valid only if the same files are live again and were read by the same version of the
 * service, because then nothing can have changed in between. Cursors given out after the backup never stay valid,
 * because the feed has a new id.
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

/** Writes the feed of an index right before the index goes live. @returns the index's metadata */
export async function writeFeed(
  store: Store,
  { index, metadata }: LicensesIndex,
  { feed, changes }: FeedChanges,
  epoch: number,
): Promise<PublicationMetadata> {
  // The comparison took minutes. An account that subscribed during it got the record from before, so the changes count
  // from now on.
  const state = [...feed.slice(0, -1), { ...lastOf(feed), at: new Date().toISOString() }];
  const written = { ...metadata, feed: toEarlier(state), changes };
  await writeMetadata(store.client, index, written);
  await writeSwitch(store, { index, epoch, publication: metadata.publication, state });
  return written;
}

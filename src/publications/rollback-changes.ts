import { type FeedState, TooManyChangesError } from '../changes/feed.ts';
import { readSegments } from '../changes/segments.ts';
import { changesIn, changeWriter, type FeedChanges, withoutChanges } from '../changes/stored-changes.ts';
import type { Store } from '../storage/store.ts';
import { feedAfterGap, feedOf, feedWithoutLive } from './live-feed.ts';
import type { LicensesIndex } from './metadata.ts';

/**
 * Stores the changes from one publication to another that was live before or after it. Only the licenses that the feed
 * says changed between the two are compared. Where it no longer says so, the feed begins anew.
 *
 * @param from `undefined` when nothing is live
 * @param epoch the rollback's
 */
export async function storeRollbackChanges(
  store: Store,
  from: LicensesIndex | undefined,
  to: LicensesIndex,
  epoch: number,
): Promise<FeedChanges> {
  const beginning = { ...to.metadata, epoch };
  if (from === undefined) return withoutChanges(await feedWithoutLive(store, beginning));
  const feed = await feedOf(store, from.metadata);
  const stored = await storeChanges(store, { from, to, epoch }, feed).catch((error: unknown) => {
    if (error instanceof TooManyChangesError) return undefined;
    throw error;
  });
  return stored ?? withoutChanges(await feedAfterGap(store, feed, beginning));
}

/** @returns `undefined` when changes of the feed are missing: then it is not known which licenses differ */
async function storeChanges(
  store: Store,
  { from, to, epoch }: { from: LicensesIndex; to: LicensesIndex; epoch: number },
  feed: FeedState,
): Promise<FeedChanges | undefined> {
  const epochs = await epochsSince(store, feed, to);
  if (epochs === undefined) return undefined;
  const writer = changeWriter(store, { before: from.index, after: to.index }, feed, {
    ...to.metadata,
    epoch,
  });
  const seen = new Set<string>();
  let read = 0;
  for await (const page of changesIn(store, feed.feed, epochs)) {
    read += page.length;
    const licenses = new Set(page.map(({ license }) => license).filter((license) => !seen.has(license)));
    for (const license of licenses) seen.add(license);
    await writer.write([...licenses].map((license) => ({ license, cause: 'rollback' as const })));
  }
  return read === changesOf(feed, epochs) ? writer.finish() : undefined;
}

/** The epochs since a publication was live the last time; `undefined` when the feed does not have all of them. */
async function epochsSince(store: Store, feed: FeedState, to: LicensesIndex): Promise<number[] | undefined> {
  const segments = await readSegments(store, feed);
  if (segments.length < feed.segments.length) return undefined;
  const last = segments.findLastIndex(({ publication }) => publication === to.metadata.publication);
  const began = to.metadata.feed;
  // A rollback that was killed may have left it a feed that it did not begin, and that has segments.
  const isBeginning = began?.feed === feed.feed && began.start === feed.start && began.segments.length === 0;
  return last < 0 && !isBeginning ? undefined : segments.slice(last + 1).map(({ epoch }) => epoch);
}

function changesOf({ segments }: FeedState, epochs: readonly number[]): number {
  return segments.reduce((sum, [epoch, changes]) => (epochs.includes(epoch) ? sum + changes : sum), 0);
}

import { type ChangeCounts, changeCounter, noChanges } from '../changes/counts.ts';
import { extendedFeed, type FeedState, TooManyChangesError } from '../changes/feed-state.ts';
import { changesIn } from '../changes/read-changes.ts';
import { readSegments } from '../changes/segment.ts';
import { storeDifferences } from '../changes/store-differences.ts';
import { writeSegment } from '../changes/write-changes.ts';
import type { Store } from '../storage/store.ts';
import { feedAfterGap, feedOf, feedWithoutLive } from './copy-feed.ts';
import type { LicensesIndex } from './metadata.ts';

/** What a rollback makes of the feed. */
export interface RollbackChanges {
  readonly feed: FeedState;
  readonly changes: ChangeCounts;
}

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
): Promise<RollbackChanges> {
  const beginning = { ...to.metadata, epoch };
  if (from === undefined) return { feed: await feedWithoutLive(store, beginning), changes: noChanges() };
  const state = await feedOf(store, from.metadata);
  const epochs = await epochsSince(store, state, to);
  try {
    const stored =
      epochs === undefined ? undefined : await storedChanges(store, { from, to, epoch, state, epochs });
    if (stored !== undefined) return stored;
  } catch (error) {
    if (!(error instanceof TooManyChangesError)) throw error;
  }
  return { feed: await feedAfterGap(store, state, beginning), changes: noChanges() };
}

/** @returns `undefined` when changes of the feed are missing */
async function storedChanges(
  store: Store,
  rollback: { from: LicensesIndex; to: LicensesIndex; epoch: number; state: FeedState; epochs: number[] },
): Promise<RollbackChanges | undefined> {
  const { from, to, epoch, state, epochs } = rollback;
  const { publication, date } = to.metadata;
  const origin = { feed: state.feed, epoch, at: new Date().toISOString(), publication, date };
  const indices = { before: from.index, after: to.index };
  const counter = changeCounter();
  const seen = new Set<string>();
  let read = 0;
  for await (const page of changesIn(store, state.feed, epochs)) {
    read += page.length;
    const candidates = [...new Set(page.map(({ license }) => license))]
      .filter((license) => !seen.has(license))
      .map((license) => ({ license, cause: 'rollback' as const }));
    for (const { license } of candidates) seen.add(license);
    await storeDifferences(store, indices, candidates, origin, counter);
  }
  // Which licenses the missing changes were of is not known.
  if (read !== changesOf(state, epochs)) return undefined;
  const changes = counter.counts();
  await writeSegment(store, { ...origin, counts: changes });
  return { feed: extendedFeed(state, epoch, counter.total()), changes };
}

/** The epochs since a publication was live the last time; `undefined` when the feed does not have all of them. */
async function epochsSince(store: Store, state: FeedState, to: LicensesIndex): Promise<number[] | undefined> {
  const segments = await readSegments(store, state);
  if (segments.length < state.segments.length) return undefined;
  const last = segments.findLastIndex(({ publication }) => publication === to.metadata.publication);
  const began = to.metadata.feed;
  // A rollback that was killed may have left it a feed that it did not begin, and that has segments.
  const isBeginning =
    began !== undefined &&
    began.feed === state.feed &&
    began.start === state.start &&
    began.segments.length === 0;
  if (last < 0 && !isBeginning) return undefined;
  return segments.slice(last + 1).map(({ epoch }) => epoch);
}

function changesOf({ segments }: FeedState, epochs: readonly number[]): number {
  return segments.reduce((sum, [epoch, changes]) => (epochs.includes(epoch) ? sum + changes : sum), 0);
}

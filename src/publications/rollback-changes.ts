import { type ChangeCounts, changeCounter, noChanges } from '../changes/counts.ts';
import { extendedFeed, type FeedState, newFeed } from '../changes/feed-state.ts';
import { changesIn } from '../changes/read-changes.ts';
import { readSegments } from '../changes/segment.ts';
import { storeDifferences } from '../changes/store-differences.ts';
import { writeSegment } from '../changes/write-changes.ts';
import type { Store } from '../storage/store.ts';
import { feedOf, type LicensesIndex } from './metadata.ts';

/** What a rollback makes of the feed. */
export interface RollbackChanges {
  readonly feed: FeedState;
  readonly changes: ChangeCounts;
}

/**
 * Stores the changes from one publication to another that was live before or after it. Only the licenses that the feed
 * says changed between the two are compared. Where it no longer says so, the feed begins anew.
 *
 * @param epoch the rollback's
 */
export async function storeRollbackChanges(
  store: Store,
  from: LicensesIndex,
  to: LicensesIndex,
  epoch: number,
): Promise<RollbackChanges> {
  const state = feedOf(from.metadata);
  const { publication, date } = to.metadata;
  const epochs = await epochsSince(store, state, to);
  const anew = { feed: newFeed({ publication, epoch, date }), changes: noChanges() };
  if (epochs === undefined) return anew;

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
  if (read !== changesOf(state, epochs)) return anew;
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
  const isBeginning = began !== undefined && began.feed === state.feed && began.start === state.start;
  if (last < 0 && !isBeginning) return undefined;
  return segments.slice(last + 1).map(({ epoch }) => epoch);
}

function changesOf({ segments }: FeedState, epochs: readonly number[]): number {
  return segments.reduce((sum, [epoch, changes]) => (epochs.includes(epoch) ? sum + changes : sum), 0);
}

import { type FeedState, rolledBackFeed, TooManyChangesError } from '../changes/feed.ts';
import { readSegments } from '../changes/segments.ts';
import {
  changesIn,
  changeWriter,
  eraseWithdrawnPlaces,
  type FeedChanges,
  withoutChanges,
} from '../changes/stored-changes.ts';
import type { Store } from '../storage/store.ts';
import {
  currentEpoch,
  FlipRefusedError,
  fencedBy,
  flip,
  type ReadEpoch,
  readEpoch,
  releaseEpoch,
  takeEpochAfter,
} from './fence.ts';
import { lastLivePublication, markFromLedger } from './history.ts';
import { appendEvent } from './ledger.ts';
import { copyFeed, feedAfterGap, feedOf, feedWithoutLive } from './live-feed.ts';
import {
  indicesUnderAlias,
  type LicensesIndex,
  licensesIndices,
  markedIndices,
  newId,
  SeveralLiveError,
  writeMetadata,
} from './metadata.ts';

/** There is no such publication to roll back to. The message says which there are. */
class RollbackError extends Error {}

interface Rollback {
  /** `undefined` when nothing was live, or its metadata are not valid. */
  readonly from: LicensesIndex | undefined;
  readonly to: LicensesIndex;
}

/**
 * Makes an earlier publication live again, in one `_aliases` call: the one named, or the latest before the
 * live one that was not itself rolled back. Once there is such a one, it takes an epoch, so no publication that began
 * before it can go live after it, and nothing deletes the one that it goes to.
 *
 * @throws {RollbackError} when there is none such
 * @throws {FlipRefusedError} when another publication or rollback came in between
 */
export async function rollBack(store: Store, toPublication?: string): Promise<Rollback> {
  await markFromLedger(store);
  for (;;) {
    const read = await readEpoch(store);
    const live = await indicesUnderAlias(store);
    const { from, to } = await choose(store, live, read, toPublication);
    const epoch = await takeEpochAfter(store, read, `rollback ${newId()}`, [...live, to.index]);
    if (epoch === undefined || (await indicesUnderAlias(store)).join() !== live.join()) continue;

    const made = await makeLive(store, { from, to }, epoch);
    await record(store, { from, to }, epoch, made);
    await releaseEpoch(store, epoch);
    await eraseWithdrawnPlaces(store, made.feed);
    await copyFeed(store, { ...to.metadata, feed: made.feed });
    return { from, to };
  }
}

/**
 * What is live, and where to go. Of several live ones, it goes from the one that went live last by the ledger.
 *
 * @throws {SeveralLiveError} when several are live, and none is named
 * @throws {RollbackError} when there is no such publication
 */
async function choose(
  store: Store,
  live: readonly string[],
  { deletes }: ReadEpoch,
  toPublication: string | undefined,
): Promise<Rollback> {
  const [indices, marks] = await Promise.all([licensesIndices(store), markedIndices(store)]);
  const last = live.length > 1 ? (await lastLivePublication(store))?.index : live[0];
  if (live.length > 1 && toPublication === undefined) throw new SeveralLiveError(live);
  const from = indices.find(({ index }) => index === last);
  const candidates = indices.filter(
    ({ index }) =>
      (live.length > 1 || index !== last) && marks.wasLive.has(index) && !deletes.includes(index),
  );
  const isBefore = ({ index, metadata: { epoch } }: LicensesIndex) =>
    (from === undefined || epoch < from.metadata.epoch) && !marks.rolledBack.has(index);
  const to =
    toPublication === undefined
      ? candidates.findLast(isBefore)
      : candidates.find(({ index, metadata }) => [index, metadata.publication].includes(toPublication));
  if (to === undefined) throw new RollbackError(noTarget(toPublication, candidates));
  return { from, to };
}

function noTarget(toPublication: string | undefined, candidates: readonly LicensesIndex[]): string {
  const missing = `There is no ${toPublication === undefined ? 'earlier publication' : `publication ${toPublication}`} to roll back to.`;
  if (candidates.length === 0) return missing;
  return `${missing} --to takes: ${candidates.map(({ metadata }) => metadata.publication).join(', ')}.`;
}

/** @throws {FlipRefusedError} when it was fenced: then the index may have been deleted, too */
async function makeLive(store: Store, { from, to }: Rollback, epoch: number): Promise<FeedChanges> {
  try {
    const made = await storeChanges(store, { from, to }, epoch);
    await writeMetadata(store.client, to.index, { ...to.metadata, ...made });
    const isRollback = from !== undefined && to.metadata.epoch < from.metadata.epoch;
    await flip(store, { to: to.index, epoch, isRollback });
    return made;
  } catch (error) {
    const latest = await currentEpoch(store);
    throw latest === epoch ? error : new FlipRefusedError(fencedBy(latest));
  }
}

/**
 * Stores the changes from one publication to another that was live before or after it. Only the licenses that the feed
 * says changed between the two are compared. Where it no longer says so, a new feed starts.
 */
async function storeChanges(store: Store, { from, to }: Rollback, epoch: number): Promise<FeedChanges> {
  const beginning = { ...to.metadata, epoch };
  if (from === undefined) return withoutChanges(await feedWithoutLive(store, beginning));
  const before = await feedOf(store, from.metadata);
  const epochs = await epochsSince(store, before, to);
  const feed = rolledBackFeed(before, to.metadata.feed, epochs ?? []);
  const indices = { before: from.index, after: to.index, dateBefore: from.metadata.date };
  const writer = changeWriter(store, indices, feed, beginning);
  const isWhole = epochs !== undefined && (await writeChanges(store, feed, epochs, writer));
  return isWhole ? writer.finish() : withoutChanges(await feedAfterGap(store, feed, beginning));
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

/** @returns whether all changes of the epochs are there and have a place: else it is not known which licenses differ */
async function writeChanges(
  store: Store,
  { feed, segments }: FeedState,
  epochs: readonly number[],
  writer: ReturnType<typeof changeWriter>,
): Promise<boolean> {
  const seen = new Set<string>();
  let missing = segments.reduce((sum, [epoch, count]) => (epochs.includes(epoch) ? sum + count : sum), 0);
  try {
    for await (const page of changesIn(store, feed, epochs)) {
      missing -= page.length;
      const licenses = new Set(page.map(({ license }) => license).filter((license) => !seen.has(license)));
      for (const license of licenses) seen.add(license);
      await writer.write([...licenses].map((license) => ({ license, cause: 'rollback' as const })));
    }
  } catch (error) {
    if (error instanceof TooManyChangesError) return false;
    throw error;
  }
  return missing === 0;
}

/** Records that one publication is live in place of another. */
async function record(
  store: Store,
  { from, to }: Rollback,
  epoch: number,
  { changes }: FeedChanges,
): Promise<void> {
  if (from?.index === to.index) return;
  if (from !== undefined) {
    // Undoing a rollback goes to a later publication, and rolls none back.
    const event = to.metadata.epoch < from.metadata.epoch ? 'rolled_back' : 'superseded';
    const { publication } = from.metadata;
    await appendEvent(store, { publication, event, index: from.index, epoch });
  }
  const { publication } = to.metadata;
  await appendEvent(store, { publication, event: 'live', index: to.index, epoch, changes });
}

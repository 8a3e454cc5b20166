import { differingLicenses } from '../changes/compare.ts';
import { readDigest } from '../changes/digest.ts';
import { newFeed, rolledBackFeed } from '../changes/feed.ts';
import {
  CHANGES,
  changeMaker,
  eraseWithdrawnPlaces,
  type FeedChanges,
  withoutChanges,
} from '../changes/stored-changes.ts';
import { noneIfBad, readFeed } from '../changes/stored-feed.ts';
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
import { lastLivePublication, markFromLedger, reconcileLedger } from './history.ts';
import { feedOf, feedWithoutLive, writeFeed } from './live-feed.ts';
import {
  indicesUnderAlias,
  type LicensesIndex,
  licensesIndices,
  type MarkedIndex,
  newId,
  SeveralLiveError,
} from './metadata.ts';

interface Rollback {
  /** `undefined` if nothing was live, or the live index has invalid metadata. */
  readonly from: LicensesIndex | undefined;
  readonly to: LicensesIndex;
}

/**
 * Makes an earlier publication live again in one `_aliases` call: the named one, or the latest before the live one that
 * was not itself rolled back. After choosing it, the rollback takes an epoch. So no publication that began earlier can
 * go live after the rollback, and nothing deletes the chosen index.
 *
 * @throws {Error} when there is no such publication; the message lists the possible ones
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
    // The `live` event of the publication itself already has the date.
    await reconcileLedger(store, { epoch, date: undefined });
    await releaseEpoch(store, epoch, to.index);
    await eraseWithdrawnPlaces(store, made.feed);
    return { from, to };
  }
}

/**
 * Chooses the live index and the rollback's target. If several are live, the one that went live last according to the
 * ledger counts as live.
 *
 * @throws {SeveralLiveError} when several are live and no publication is named
 * @throws {Error} when there is no such publication
 */
async function choose(
  store: Store,
  live: readonly string[],
  { deletes }: ReadEpoch,
  toPublication: string | undefined,
): Promise<Rollback> {
  const indices = await licensesIndices(store);
  const last = live.length > 1 ? (await lastLivePublication(store))?.index : live[0];
  if (live.length > 1 && toPublication === undefined) throw new SeveralLiveError(live);
  const from = indices.find(({ index }) => index === last);
  const candidates = indices.filter(
    ({ index, wasLive }) => (live.length > 1 || index !== last) && wasLive && !deletes.includes(index),
  );
  const isBefore = ({ isRolledBack, metadata: { epoch } }: MarkedIndex) =>
    (from === undefined || epoch < from.metadata.epoch) && !isRolledBack;
  const to =
    toPublication === undefined
      ? candidates.findLast(isBefore)
      : candidates.find(({ index, metadata }) => [index, metadata.publication].includes(toPublication));
  if (to === undefined) throw new Error(noTarget(toPublication, candidates));
  return { from, to };
}

function noTarget(toPublication: string | undefined, candidates: readonly LicensesIndex[]): string {
  const missing = `There is no ${toPublication === undefined ? 'earlier publication' : `publication ${toPublication}`} to roll back to.`;
  if (candidates.length === 0) return missing;
  return `${missing} --to takes: ${candidates.map(({ metadata }) => metadata.publication).join(', ')}.`;
}

/** @throws {FlipRefusedError} when the rollback was fenced; the index may then have been deleted as well */
async function makeLive(store: Store, { from, to }: Rollback, epoch: number): Promise<FeedChanges> {
  try {
    const made = await storeChanges(store, { from, to }, epoch);
    await writeFeed(store, to, made, epoch);
    const isRollback = from !== undefined && to.metadata.epoch < from.metadata.epoch;
    await flip(store, { to: to.index, epoch, isRollback });
    return made;
  } catch (error) {
    const latest = await currentEpoch(store);
    throw latest === epoch ? error : new FlipRefusedError(fencedBy(latest));
  }
}

/**
 * Compares the live publication with the target and stores the changes. A new feed starts if the feed does not have the
 * target, or if one of the two cannot be compared.
 */
async function storeChanges(store: Store, { from, to }: Rollback, epoch: number): Promise<FeedChanges> {
  const beginning = { ...to.metadata, epoch };
  if (from === undefined) return withoutChanges(await feedWithoutLive(store, beginning));
  const before = await feedOf(store, from);
  const then = await readFeed(store, to.index, to.metadata.feed);
  const { feed, isKnown } = rolledBackFeed(before, then, to.metadata);
  const compared = async () => {
    const maker = changeMaker(feed, beginning, { dateBefore: from.metadata.date });
    const comparison = { before: from.index, after: to.index, parts: readDigest(store, to.index) };
    for await (const group of differingLicenses(store, comparison)) {
      const changes = group.flatMap((license) => maker.make(license, 'rollback') ?? []);
      const documents = changes.map((change) => [String(change.position), change] as const);
      await CHANGES.putAll(store, documents);
    }
    return maker.finish(store);
  };
  const made = isKnown ? await compared().catch(noneIfBad) : undefined;
  return made ?? withoutChanges(newFeed(beginning, feed));
}

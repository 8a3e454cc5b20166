import { eraseWithdrawnPlaces } from '../changes/prune-changes.ts';
import type { FeedChanges } from '../changes/stored-changes.ts';
import type { Store } from '../storage/store.ts';
import { liveIndex } from './alias.ts';
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
import { summarize } from './history.ts';
import { appendEvent, indicesOnceLive, type LedgerEvent, readEvents } from './ledger.ts';
import { copyFeed } from './live-feed.ts';
import { type LicensesIndex, licensesIndices, writeMetadata } from './metadata.ts';
import { storeRollbackChanges } from './rollback-changes.ts';
import { newRunId } from './run-id.ts';

/** There is no such publication to roll back to. The message says which there are. */
class RollbackError extends Error {}

/** What a rollback changed. */
export interface Rollback {
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
  for (;;) {
    const read = await readEpoch(store);
    const { live, from, to } = await choose(store, read, toPublication);
    const uses = live === undefined ? [to.index] : [live, to.index];
    const epoch = await takeEpochAfter(store, read, `rollback ${newRunId()}`, uses);
    if (epoch !== undefined && (await liveIndex(store)) === live) {
      return await goTo(store, { from, to }, epoch);
    }
  }
}

/** What is live, and where to go. @throws {RollbackError} when there is no such publication */
async function choose(
  store: Store,
  { deletes }: ReadEpoch,
  toPublication: string | undefined,
): Promise<Rollback & { readonly live: string | undefined }> {
  const [live, indices, events] = await Promise.all([
    liveIndex(store),
    licensesIndices(store),
    readEvents(store),
  ]);
  const from = indices.find(({ index }) => index === live);
  const onceLive = indicesOnceLive(events);
  const candidates = indices.filter(
    ({ index }) => index !== live && onceLive.has(index) && !deletes.includes(index),
  );
  const rolledBackBefore = rolledBack(events, from);
  const to =
    toPublication === undefined
      ? candidates.findLast(
          ({ metadata }) =>
            (from === undefined || metadata.epoch < from.metadata.epoch) &&
            !rolledBackBefore.has(metadata.publication),
        )
      : candidates.find(({ metadata }) => metadata.publication === toPublication);
  if (to === undefined) throw new RollbackError(noTarget(toPublication, candidates));
  return { live, from, to };
}

async function goTo(store: Store, { from, to }: Rollback, epoch: number): Promise<Rollback> {
  const { feed, changes } = await madeLive(store, { from, to }, epoch);
  const event = (
    entry: LicensesIndex,
    name: 'live' | 'superseded' | 'rolled_back',
    changed?: LedgerEvent['changes'],
  ) =>
    appendEvent(store, {
      publication: entry.metadata.publication,
      event: name,
      index: entry.index,
      epoch,
      ...(changed && { changes: changed }),
    });
  if (from !== undefined) await event(from, isGoingBack(from, to) ? 'rolled_back' : 'superseded');
  await event(to, 'live', changes);
  await releaseEpoch(store, epoch);
  await eraseWithdrawnPlaces(store, feed);
  await copyFeed(store, { ...to.metadata, feed });
  return { from, to };
}

/** @throws {FlipRefusedError} when it was fenced: then the index may have been deleted, too */
async function madeLive(store: Store, { from, to }: Rollback, epoch: number): Promise<FeedChanges> {
  try {
    const made = await storeRollbackChanges(store, from, to, epoch);
    await writeMetadata(store.client, to.index, { ...to.metadata, ...made });
    await flip(store, to.index, epoch);
    return made;
  } catch (error) {
    const latest = await currentEpoch(store);
    throw latest === epoch ? error : new FlipRefusedError(fencedBy(latest));
  }
}

function noTarget(toPublication: string | undefined, candidates: readonly LicensesIndex[]): string {
  const missing = `There is no ${toPublication === undefined ? 'earlier publication' : `publication ${toPublication}`} to roll back to.`;
  if (candidates.length === 0) return missing;
  return `${missing} --to takes: ${candidates.map(({ metadata }) => metadata.publication).join(', ')}.`;
}

/** Undoing a rollback goes to a later publication, and rolls none back. */
function isGoingBack(from: LicensesIndex, to: LicensesIndex): boolean {
  return to.metadata.epoch < from.metadata.epoch;
}

/** The publications that were rolled back and have not been live since. */
function rolledBack(events: readonly LedgerEvent[], live: LicensesIndex | undefined): Set<string> {
  const publications = summarize(events, live?.metadata.publication);
  return new Set(
    publications.filter(({ state }) => state === 'rolled_back').map(({ publication }) => publication),
  );
}

import type { Store } from '../storage/store.ts';
import { flip, liveIndex } from './alias.ts';
import { copyFeed } from './copy-feed.ts';
import { summarize } from './history.ts';
import { appendEvent, indicesOnceLive, type LedgerEvent, readEvents, takeEpoch } from './ledger.ts';
import { type LicensesIndex, licensesIndices, writeMetadata } from './metadata.ts';
import { storeRollbackChanges } from './rollback-changes.ts';
import { newRunId } from './run-id.ts';

/** There is no such publication to roll back to. The message says which there are. */
class RollbackError extends Error {}

/** What a rollback changed. */
export interface Rollback {
  readonly from: LicensesIndex;
  readonly to: LicensesIndex;
}

/**
 * Makes an earlier publication live again, in one `_aliases` call: the one named, or the latest before the
 * live one that was not itself rolled back. It takes an epoch, so no publication that began before it can go live after it.
 *
 * @throws {RollbackError} when there is none such
 * @throws {FlipRefusedError} when another publication or rollback came in between
 */
export async function rollBack(store: Store, toPublication?: string): Promise<Rollback> {
  const epoch = await takeEpoch(store, `rollback ${newRunId()}`);
  const [live, indices, events] = await Promise.all([
    liveIndex(store),
    licensesIndices(store),
    readEvents(store),
  ]);
  const from = indices.find(({ index }) => index === live);
  if (from === undefined) throw new RollbackError('Nothing is live, so there is nothing to roll back.');

  const onceLive = indicesOnceLive(events);
  const candidates = indices.filter(({ index }) => index !== live && onceLive.has(index));
  const rolledBackBefore = rolledBack(events, from);
  const to =
    toPublication === undefined
      ? candidates.findLast(
          ({ metadata }) =>
            metadata.epoch < from.metadata.epoch && !rolledBackBefore.has(metadata.publication),
        )
      : candidates.find(({ metadata }) => metadata.publication === toPublication);
  if (to === undefined) {
    throw new RollbackError(noTarget(toPublication, candidates));
  }

  const { feed, changes } = await storeRollbackChanges(store, from, to, epoch);
  await writeMetadata(store.client, to.index, { ...to.metadata, feed, changes });
  await flip(store, to.index, epoch);
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
  await event(from, isGoingBack(from, to) ? 'rolled_back' : 'superseded');
  await event(to, 'live', changes);
  await copyFeed(store, { ...to.metadata, feed });
  return { from, to };
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
function rolledBack(events: readonly LedgerEvent[], live: LicensesIndex): Set<string> {
  const publications = summarize(events, live.metadata.publication);
  return new Set(
    publications.filter(({ state }) => state === 'rolled_back').map(({ publication }) => publication),
  );
}

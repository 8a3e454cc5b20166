import { z } from 'zod';
import { collection, type Version } from '../storage/collection.ts';
import { isDiskFull, responseStatus } from '../storage/errors.ts';
import { digestIndexName, type Store } from '../storage/store.ts';
import { readEvents } from './ledger.ts';
import { indicesUnderAlias, licensesIndices } from './metadata.ts';

export const EPOCH_ID = 'epoch';

const NOT_FOUND = 404;

/** The latest epoch, and the indices that must not be deleted or made live while it lasts. */
const epochDocument = z.object({
  epoch: z.int(),
  /** The publication or rollback that took the epoch. */
  holder: z.string(),
  /** The indices that the holder compares with, makes live or has made live. Nothing deletes them. */
  uses: z.array(z.string()).default([]),
  /** The indices that a prune is deleting. No rollback makes them live. */
  deletes: z.array(z.string()).default([]),
});

type Epoch = Readonly<z.output<typeof epochDocument>>;

export const LEDGER_EPOCH = collection('ledger', epochDocument);

/** The epoch as it was read. It can be replaced only if nothing else has replaced it since. */
export type ReadEpoch = Epoch & { readonly version: Version };

/**
 * Reads the epoch. The document may be missing before the first publication, or after an operator deleted an invalid
 * one. Then the epoch is the greatest that the ledger and the indices know, or 0.
 *
 * @throws {BadDocumentError} when the document is not valid
 */
export async function readEpoch(store: Store): Promise<ReadEpoch> {
  const read = await LEDGER_EPOCH.read(store, EPOCH_ID);
  if (read !== undefined) return { ...read.document, version: read.version };
  const [events, indices] = await Promise.all([readEvents(store), licensesIndices(store)]);
  const known = [...events.map(({ epoch }) => epoch ?? 0), ...indices.map(({ metadata }) => metadata.epoch)];
  const epoch = known.reduce((one, other) => Math.max(one, other), 0);
  return { epoch, holder: '', uses: [], deletes: [], version: undefined };
}

export async function currentEpoch(store: Store): Promise<number> {
  return (await readEpoch(store)).epoch;
}

/** Replaces the epoch. @returns whether nothing had replaced it since it was read */
function replaceEpoch(store: Store, { version, ...read }: ReadEpoch, by: Partial<Epoch>): Promise<boolean> {
  return LEDGER_EPOCH.replace(store, EPOCH_ID, version, { ...read, ...by });
}

/**
 * Takes the next epoch, if the epoch has not changed since it was read. After that, no publication with an earlier
 * epoch can go live.
 *
 * @param holder the publication or rollback that takes the epoch
 * @param uses the indices that nothing may delete until the next epoch is taken or this one is released
 * @returns the new epoch; `undefined` if the epoch changed in between
 */
export async function takeEpochAfter(store: Store, read: ReadEpoch, holder: string, uses: readonly string[]) {
  const epoch = read.epoch + 1;
  const isTaken = await replaceEpoch(store, read, { epoch, holder, uses: [...uses], deletes: [] });
  return isTaken ? epoch : undefined;
}

/**
 * Records that the holder of an epoch has finished, and which index it made live. If a later epoch has been taken,
 * nothing changes.
 */
export async function releaseEpoch(store: Store, epoch: number, live: string): Promise<void> {
  await LEDGER_EPOCH.update(store, EPOCH_ID, (current) =>
    current?.epoch === epoch ? { ...current, uses: [live] } : undefined,
  );
}

/** The alias was not switched, or was switched back, because another publication or rollback came in between. */
export class FlipRefusedError extends Error {}

/** Returns the reason given by a fenced publication or rollback. @param epoch the later epoch */
export function fencedBy(epoch: number): string {
  return `A later publication or rollback has begun (epoch ${epoch}).`;
}

type AliasAction = Record<string, { index: string; alias?: string; must_exist?: boolean }>;

/**
 * Changes the alias in one call, which OpenSearch rejects as a whole if the given index is not live. The first two
 * actions change nothing, but the remove action fails if the index does not have the alias.
 *
 * @returns whether the alias was changed
 */
async function changeWhileLive(store: Store, live: string, actions: readonly AliasAction[]) {
  const alias = store.names.alias;
  const isLive = [{ remove: { index: live, alias, must_exist: true } }, { add: { index: live, alias } }];
  const body = { actions: [...isLive, ...actions] };
  const { statusCode } = await store.client.indices.updateAliases({ body }, { ignore: [NOT_FOUND] });
  return statusCode !== NOT_FOUND;
}

/** A switch of the alias. */
interface Flip {
  /** The index that becomes the only live one. */
  readonly to: string;
  /** The epoch that the publication or rollback took. */
  readonly epoch: number;
  /** Whether to mark the previously live index as rolled back. */
  readonly isRollback?: boolean;
}

/**
 * Makes an index live in one `_aliases` call, which also marks the index as one that was live. The call is refused if a
 * later epoch was taken or another index went live in the meantime. Two indices are never live.
 *
 * @returns the index that was live before
 * @throws {FlipRefusedError} when this publication or rollback was fenced; the alias then stays as the later one left
 * it
 */
export async function flip(store: Store, wanted: Flip): Promise<string | undefined> {
  const { to, epoch, isRollback = false } = wanted;
  const { alias, wasLive, rolledBack } = store.names;
  const others = (await indicesUnderAlias(store)).filter((index) => index !== to);
  const latest = await currentEpoch(store);
  if (latest !== epoch) throw new FlipRefusedError(fencedBy(latest));
  const actions = [
    ...others.flatMap((index) => [
      { remove: { index, alias, must_exist: true } },
      { add: { index, alias: wasLive } },
      ...(isRollback ? [{ add: { index, alias: rolledBack } }] : []),
    ]),
    { add: { index: to, alias } },
    { add: { index: to, alias: wasLive } },
    { remove: { index: to, alias: rolledBack, must_exist: false } },
  ];
  const [from] = others;
  try {
    await store.client.indices.updateAliases({ body: { actions } });
  } catch (error) {
    // The alias may have been switched although the response was lost. The client's retry at another node then gets a
    // 404.
    if (!(await indicesUnderAlias(store)).includes(to)) {
      const words = `Another publication went live while ${to} was about to, or it was deleted.`;
      throw responseStatus(error) === NOT_FOUND ? new FlipRefusedError(words) : error;
    }
  }
  await resolveRaces(store, from, wanted);
  return from;
}

/**
 * Resolves races that the checks before the call can't detect: a pause between check and call, and two first
 * publications at once. The index with the latest epoch keeps the alias; any other index is removed from it.
 */
async function resolveRaces(store: Store, from: string | undefined, { to, epoch, isRollback }: Flip) {
  const { alias, wasLive, rolledBack } = store.names;
  const under = await indicesUnderAlias(store);
  const others = under.filter((index) => index !== to);
  const latest = await readEpoch(store);
  // If something else switched the alias in the meantime, it resolves the race itself.
  if (latest.epoch === epoch) {
    const removed = others.map((index) => ({ remove: { index, alias } }));
    if (removed.length > 0) await changeWhileLive(store, to, removed);
    return;
  }
  // The holder of the later epoch has already seen this index live, or makes it live itself.
  if (latest.uses.includes(to)) return;
  const [other] = others;
  const back = other ?? from;
  if (under.includes(to) && back !== undefined) {
    const mark = isRollback ? { index: back, alias: rolledBack } : { index: to, alias: wasLive };
    const takenBack = [
      { add: { index: back, alias } },
      { remove: { index: to, alias } },
      { remove: { ...mark, must_exist: false } },
    ];
    await changeWhileLive(store, other ?? to, takenBack);
  }
  throw new FlipRefusedError(
    `A later publication or rollback began while ${to} went live; it was taken back.`,
  );
}

/**
 * Deletes a licenses index and its digest, unless the index is live. While an index is live, OpenSearch checks this in
 * the same call that deletes, so the alias always has an index.
 *
 * @returns whether the index is gone
 */
export async function deleteUnlessLive(store: Store, index: string): Promise<boolean> {
  for (;;) {
    const live = await indicesUnderAlias(store);
    if (live.includes(index)) return false;
    const [first] = live;
    try {
      if (first === undefined) await deleteIndex(store, index);
      else if (!(await changeWhileLive(store, first, [{ remove_index: { index } }]))) {
        if ((await store.client.indices.exists({ index })).body) continue;
      }
    } catch (error) {
      // When the disk is full, OpenSearch blocks alias changes but allows deletions. So the index can't go live any
      // more.
      if (!isDiskFull(error)) throw error;
      await store.client.indices.delete({ index });
    }
    await deleteIndex(store, digestIndexName(store.prefix, index));
    return true;
  }
}

/**
 * Deletes one index by its exact name. A missing index is not an error. `ignore_unavailable` is not enough: if two
 * deletions run at once, one still fails with 404.
 */
export async function deleteIndex({ client }: Pick<Store, 'client'>, index: string): Promise<void> {
  await client.indices.delete({ index }, { ignore: [NOT_FOUND] });
}

/**
 * Deletes licenses indices that no rollback has chosen. A prune first records in the epoch which indices it deletes,
 * and a rollback records its target there. If both choose the same index, the second one sees that and chooses again.
 *
 * @param read the epoch, read before the indices were chosen
 * @returns the deleted indices; `undefined` if the epoch changed since, and the indices must be chosen again
 */
export async function deleteObsolete(store: Store, read: ReadEpoch, obsolete: readonly string[]) {
  if (obsolete.length === 0) return [];
  try {
    if (!(await replaceEpoch(store, read, { deletes: [...obsolete] }))) return undefined;
  } catch (error) {
    // If the disk is full, other processes can't write the epoch either.
    if (!isDiskFull(error)) throw error;
  }
  const deleted: string[] = [];
  for (const index of obsolete) {
    if ((await currentEpoch(store)) !== read.epoch) break;
    if (await deleteUnlessLive(store, index)) deleted.push(index);
  }
  return deleted;
}

import { z } from 'zod';
import { collection, type Version } from '../storage/collection.ts';
import { isDiskFull, responseStatus } from '../storage/errors.ts';
import { digestIndexName, type Store } from '../storage/store.ts';
import { readEvents } from './ledger.ts';
import { indicesUnderAlias, licensesIndices } from './metadata.ts';

export const EPOCH_ID = 'epoch';

const NOT_FOUND = 404;

/** The epoch taken last, and the indices that must not be deleted or made live meanwhile. */
const epochDocument = z.object({
  epoch: z.int(),
  /** The publication or rollback that took it. */
  holder: z.string(),
  /** What its holder compares with or makes live, or has made live: nothing deletes it. */
  uses: z.array(z.string()).default([]),
  /** What a prune is deleting: no rollback makes it live. */
  deletes: z.array(z.string()).default([]),
});

type Epoch = Readonly<z.output<typeof epochDocument>>;

export const LEDGER_EPOCH = collection('ledger', epochDocument);

/** The epoch as it was read. It can be replaced only while nothing else has replaced it. */
export type ReadEpoch = Epoch & { readonly version: Version };

/**
 * Reads the epoch. Where its document is missing, as before the first publication or after an operator deleted one that
 * was not valid, it is the greatest that the ledger and the indices know, or 0.
 *
 * @throws {BadDocumentError} when it is not valid
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

/** Replaces the epoch. @returns whether it was still as it was read */
function replaceEpoch(store: Store, { version, ...read }: ReadEpoch, by: Partial<Epoch>): Promise<boolean> {
  return LEDGER_EPOCH.replace(store, EPOCH_ID, version, { ...read, ...by });
}

/**
 * Takes the next epoch, if nothing has changed it since it was read. From then on, no publication of an earlier epoch
 * can go live.
 *
 * @param holder the publication or rollback that takes it
 * @param uses the indices that nothing may delete until the next epoch, or until it is released
 * @returns the epoch; `undefined` where something has changed it
 */
export async function takeEpochAfter(store: Store, read: ReadEpoch, holder: string, uses: readonly string[]) {
  const epoch = read.epoch + 1;
  const isTaken = await replaceEpoch(store, read, { epoch, holder, uses: [...uses], deletes: [] });
  return isTaken ? epoch : undefined;
}

/** Says that the holder of an epoch has ended, and what it has made live. A later epoch stays as it is. */
export async function releaseEpoch(store: Store, epoch: number, live: string): Promise<void> {
  await LEDGER_EPOCH.update(store, EPOCH_ID, (current) =>
    current?.epoch === epoch ? { ...current, uses: [live] } : undefined,
  );
}

/** The alias was not switched, or was switched back: another publication or rollback came in between. */
export class FlipRefusedError extends Error {}

/** What a publication or rollback that was fenced says. @param epoch the later one */
export function fencedBy(epoch: number): string {
  return `A later publication or rollback has begun (epoch ${epoch}).`;
}

type AliasAction = Record<string, { index: string; alias?: string; must_exist?: boolean }>;

/**
 * Changes the alias in one call, which OpenSearch refuses as a whole when this index is not live. The first two
 * actions change nothing: removing fails where the index does not have the alias.
 *
 * @returns whether it was changed
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
  /** Taken when the publication or rollback began. */
  readonly epoch: number;
  /** Whether what was live is marked as rolled back. */
  readonly isRollback?: boolean;
}

/**
 * Makes an index live in one `_aliases` call, which also marks the index as one that was live. It is refused when a
 * later epoch has been taken, or when another index has gone live meanwhile; two indices are never live.
 *
 * @returns the index that was live before
 * @throws {FlipRefusedError} when it was fenced; the alias then stays as the later publication or rollback left it
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
    // It may have switched although the response was lost. Another node, asked again, then answers 404.
    if (!(await indicesUnderAlias(store)).includes(to)) {
      const words = `Another publication went live while ${to} was about to, or it was deleted.`;
      throw responseStatus(error) === NOT_FOUND ? new FlipRefusedError(words) : error;
    }
  }
  await resolveRaces(store, from, wanted);
  return from;
}

/**
 * Resolves what the checks before the call can't see: a pause between check and call, and two first publications. The
 * index with the latest epoch keeps the alias; any other is removed from it.
 */
async function resolveRaces(store: Store, from: string | undefined, { to, epoch, isRollback }: Flip) {
  const { alias, wasLive, rolledBack } = store.names;
  const under = await indicesUnderAlias(store);
  const others = under.filter((index) => index !== to);
  const latest = await readEpoch(store);
  // Whatever has switched the alias meanwhile resolves it itself.
  if (latest.epoch === epoch) {
    const removed = others.map((index) => ({ remove: { index, alias } }));
    if (removed.length > 0) await changeWhileLive(store, to, removed);
    return;
  }
  // Whoever took the later epoch has found it live, or makes it live itself.
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
 * Deletes an index of licenses and its digest, unless it is live. While anything is live, OpenSearch itself checks that
 * in the call that deletes, so the alias is never left without an index.
 *
 * @returns whether it is gone
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
      // A full disk blocks aliases, so the index can't go live any more, and allows to delete.
      if (!isDiskFull(error)) throw error;
      await store.client.indices.delete({ index });
    }
    await deleteIndex(store, digestIndexName(store.prefix, index));
    return true;
  }
}

/**
 * Deletes one index by its exact name; one that has gone already is no error. `ignore_unavailable` is not enough: of two
 * deletions at once, one still fails with 404.
 */
export async function deleteIndex({ client }: Pick<Store, 'client'>, index: string): Promise<void> {
  await client.indices.delete({ index }, { ignore: [NOT_FOUND] });
}

/**
 * Deletes indices of licenses that no rollback has chosen. It says first, in the epoch, what it deletes, and a rollback
 * says there where it goes: of two that mean the same index, one comes second and chooses again.
 *
 * @param read the epoch, read before they were chosen
 * @returns what was deleted; `undefined` when the epoch has changed since, and they must be chosen again
 */
export async function deleteObsolete(store: Store, read: ReadEpoch, obsolete: readonly string[]) {
  if (obsolete.length === 0) return [];
  try {
    if (!(await replaceEpoch(store, read, { deletes: [...obsolete] }))) return undefined;
  } catch (error) {
    // Where the disk is full, no other process can write the epoch either.
    if (!isDiskFull(error)) throw error;
  }
  const deleted: string[] = [];
  for (const index of obsolete) {
    if ((await currentEpoch(store)) !== read.epoch) break;
    if (await deleteUnlessLive(store, index)) deleted.push(index);
  }
  return deleted;
}

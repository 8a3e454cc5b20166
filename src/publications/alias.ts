import { z } from 'zod';
import { isIndexNotFound, responseStatus } from '../storage/client.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError } from '../storage/stored.ts';
import { currentEpoch } from './ledger.ts';
import { type LicensesIndex, readAllMetadata } from './metadata.ts';

const aliasResponse = z.record(z.string(), z.unknown());

/** The physical indices under the alias: none before the first publication, then always one. */
export async function indicesUnderAlias(store: Store): Promise<string[]> {
  try {
    const response = await store.client.indices.getAlias({ name: store.names.alias });
    return Object.keys(aliasResponse.parse(response.body)).sort();
  } catch (error) {
    if (responseStatus(error) === 404) return [];
    throw error;
  }
}

/** The index that is live, if any. */
export async function liveIndex(store: Store): Promise<string | undefined> {
  const [index, another] = await indicesUnderAlias(store);
  if (another !== undefined) throw moreThanOne(index, another);
  return index;
}

/** The live index and its metadata, if anything is live: one request, so both are of the same moment. */
export async function liveLicensesIndex(store: Store): Promise<LicensesIndex | undefined> {
  try {
    const [live, another] = await readAllMetadata(store, store.names.alias);
    if (another !== undefined) throw moreThanOne(live?.index, another.index);
    return live;
  } catch (error) {
    if (isIndexNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * As `liveLicensesIndex`; `undefined` also where the metadata of what is live are not valid. So another publication can
 * take its place.
 */
export async function readableLiveIndex(store: Store): Promise<LicensesIndex | undefined> {
  try {
    return await liveLicensesIndex(store);
  } catch (error) {
    if (error instanceof BadDocumentError) return undefined;
    throw error;
  }
}

function moreThanOne(index: string | undefined, another: string): Error {
  return new Error(`The alias has more than one index: ${index}, ${another}.`);
}

/** The alias was not switched, or was switched back: another publication or rollback came in between. */
export class FlipRefusedError extends Error {}

/**
 * Makes an index live in one `_aliases` call. It is refused when a later epoch has been taken, or when another index
 * has gone live meanwhile; two indices are never live.
 *
 * @param epoch taken when the publication or rollback began
 * @returns the index that was live before
 * @throws {FlipRefusedError} when it was fenced; the alias then stays as the later publication or rollback left it
 */
export async function flip(store: Store, to: string, epoch: number): Promise<string | undefined> {
  const alias = store.names.alias;
  const [from] = await indicesUnderAlias(store);
  await refuseIfFenced(store, epoch);
  const add = { add: { index: to, alias } };
  const actions = from === undefined ? [add] : [{ remove: { index: from, alias, must_exist: true } }, add];
  try {
    await store.client.indices.updateAliases({ body: { actions } });
  } catch (error) {
    if (responseStatus(error) !== 404) throw error;
    throw new FlipRefusedError(`Another publication went live while ${to} was about to.`);
  }
  await settle(store, { from, to, epoch });
  return from;
}

async function refuseIfFenced(store: Store, epoch: number): Promise<void> {
  const latest = await currentEpoch(store);
  if (latest !== epoch)
    throw new FlipRefusedError(`A later publication or rollback has begun (epoch ${latest}).`);
}

/**
 * Settles what the checks before the call can't see: a pause between check and call, and two first publications. The
 * index with the latest epoch keeps the alias; any other is removed from it.
 */
async function settle(
  store: Store,
  { from, to, epoch }: { from: string | undefined; to: string; epoch: number },
): Promise<void> {
  const alias = store.names.alias;
  const under = await indicesUnderAlias(store);
  const others = under.filter((index) => index !== to);
  if ((await currentEpoch(store)) === epoch) {
    const actions = others.map((index) => ({ remove: { index, alias, must_exist: true } }));
    if (actions.length > 0) await store.client.indices.updateAliases({ body: { actions } });
    return;
  }
  if (under.includes(to)) {
    const back = others.length === 0 && from !== undefined ? [{ add: { index: from, alias } }] : [];
    if (others.length > 0 || back.length > 0) {
      await store.client.indices.updateAliases({
        body: { actions: [{ remove: { index: to, alias, must_exist: true } }, ...back] },
      });
    }
  }
  throw new FlipRefusedError(
    `A later publication or rollback began while ${to} went live; it was taken back.`,
  );
}

import { z } from 'zod';
import { isIndexNotFound, responseStatus } from '../storage/client.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError } from '../storage/stored.ts';
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

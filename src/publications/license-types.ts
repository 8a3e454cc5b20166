import { Readable } from 'node:stream';
import { z } from 'zod';
import { hasDigest } from '../changes/digest.ts';
import { currentBoardName } from '../licenses/boards.ts';
import { addTo } from '../licenses/counts.ts';
import { fold } from '../licenses/fold.ts';
import { search } from '../storage/checked-search.ts';
import { digestIndexName, type Store } from '../storage/store.ts';
import { checked } from '../storage/stored.ts';
import { readableLiveIndex } from './metadata.ts';

/** The maximum number of listed types. The State has about 500. */
const MAX_TYPES = 2000;

const ID = 'types';

const sample = z.object({ board: z.string(), license_number: z.string() });

const typeKey = z.object({ board: z.string(), license_type: z.string() });

/**
 * A publication's license types, each with the number of one license, stored so that no process has to look at all
 * licenses when it starts.
 */
const licenseTypes = z.object({
  types: z.array(typeKey.extend(sample.partial({ license_number: true }).shape)).max(MAX_TYPES),
  /** One license, for checking that lookups work. */
  sample: sample.optional(),
});

/** Returns `undefined` if the publication has no such document, as in version 0.3.0, or an invalid one. */
export async function readLicenseTypes(store: Store, index: string) {
  const digest = { index: digestIndexName(store.prefix, index), id: ID };
  const { statusCode, body } = await store.client.get(digest, { ignore: [404] });
  if (statusCode === 404) return undefined;
  const { document, problem } = checked(licenseTypes, body._source);
  if (problem !== undefined) store.reportBad({ ...digest, problem });
  return document;
}

const firstResponse = z.object({ hits: z.object({ hits: z.array(z.object({ _source: sample })) }) });

/** Returns any one license of an index. @param filter query clauses that it must match */
export async function anyLicense({ client }: Store, index: string, filter: object[] = []) {
  const query = { bool: { filter } };
  const body = { query, size: 1, track_total_hits: false, _source: Object.keys(sample.shape) };
  return (await search(client, firstResponse, { index, body })).hits.hits[0]?._source;
}

const countedResponse = z.object({
  aggregations: z.object({
    types: z.object({ buckets: z.array(z.object({ key: typeKey })) }),
  }),
});

/** Longer values are free text, as in a shifted column. */
const MAX_TYPE_LENGTH = 100;

/**
 * Stores the license types of an index in the digest's index, which is kept as long as the licenses index. It takes
 * seconds with the State's data.
 */
export async function storeLicenseTypes(store: Store, index: string): Promise<void> {
  const sources = Object.keys(typeKey.shape).map((field) => ({ [field]: { terms: { field } } }));
  const { aggregations } = await search(store.client, countedResponse, {
    index,
    body: { size: 0, aggs: { types: { composite: { size: MAX_TYPES, sources } } } },
  });
  const keys = aggregations.types.buckets
    .map(({ key }) => key)
    .filter(({ license_type: type }) => type.length <= MAX_TYPE_LENGTH);
  // An aggregation of one license for each type would take three times as long as the types alone.
  const types = await Readable.from(keys)
    .map(async (key) => ({ ...key, ...(await anyLicense(store, index, ofType(key))) }), { concurrency: 8 })
    .toArray();
  const body = licenseTypes.parse({ types, sample: await anyLicense(store, index) });
  await store.client.index({ index: digestIndexName(store.prefix, index), id: ID, body });
}

function ofType({ board, license_type: type }: z.output<typeof typeKey>): object[] {
  return [{ term: { board } }, { term: { 'keys.license_type': fold(type) } }];
}

/** Adds the missing counts to a live publication that version 0.3.0 published. */
export async function addMissingLicenseTypes(store: Store): Promise<void> {
  const live = await readableLiveIndex(store);
  if (live === undefined || !(await hasDigest(store, live.index))) return;
  if ((await readLicenseTypes(store, live.index)) === undefined) await storeLicenseTypes(store, live.index);
}

/** Converts counts to the current names of the boards. */
export function byCurrentName(counts: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const boards = new Map<string, number>();
  for (const [label, count] of Object.entries(counts)) addTo(boards, currentBoardName(label), count);
  return boards;
}

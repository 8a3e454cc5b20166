import { z } from 'zod';
import { hasDigest } from '../changes/digest.ts';
import { countsByName } from '../licenses/counts.ts';
import { search } from '../storage/checked-search.ts';
import { responseStatus } from '../storage/errors.ts';
import { digestIndexName, type Store } from '../storage/store.ts';
import { checked } from '../storage/stored.ts';
import { readableLiveIndex } from './metadata.ts';

/** More types than this are not listed. The State has about 500. */
export const MAX_TYPES = 2000;

const ID = 'types';

const sample = z.object({ board: z.string(), license_number: z.string() });

/** What is counted of a publication's licenses, so that no process that starts looks at all of them. */
const licenseTypes = z.object({
  /** Licenses by the label in the BOARD column. */
  boards: countsByName,
  types: z.array(z.object({ board: z.string(), license_type: z.string() })).max(MAX_TYPES),
  /** One license, to see whether lookups find what is there. */
  sample: sample.optional(),
});

export type LicenseTypes = Readonly<z.output<typeof licenseTypes>>;

/** Stores it beside the digest of a publication, for as long as its index is kept. */
export async function writeLicenseTypes(store: Store, index: string, counted: LicenseTypes): Promise<void> {
  const body = licenseTypes.parse(counted);
  await store.client.index({ index: digestIndexName(store.prefix, index), id: ID, body });
}

/** `undefined` where the publication has none, as one of version 0.3.0, or one that is not valid. */
export async function readLicenseTypes(store: Store, index: string): Promise<LicenseTypes | undefined> {
  const digest = digestIndexName(store.prefix, index);
  try {
    const { body } = await store.client.get({ index: digest, id: ID });
    const { document, problem } = checked(licenseTypes, body._source);
    if (problem !== undefined) store.reportBad({ index: digest, id: ID, problem });
    return document;
  } catch (error) {
    if (responseStatus(error) === 404) return undefined;
    throw error;
  }
}

const firstResponse = z.object({ hits: z.object({ hits: z.array(z.object({ _source: sample })) }) });

/** Any license of an index. */
export async function anyLicense({ client }: Store, index: string): Promise<LicenseTypes['sample']> {
  const body = { size: 1, track_total_hits: false, _source: Object.keys(sample.shape) };
  return (await search(client, firstResponse, { index, body })).hits.hits[0]?._source;
}

const countedResponse = z.object({
  aggregations: z.object({
    types: z.object({
      buckets: z.array(
        z.object({
          key: z.object({ board: z.string(), license_type: z.string().nullable() }),
          doc_count: z.int(),
        }),
      ),
    }),
  }),
});

/** Counts the live publication where version 0.3.0 published it. It takes seconds at the size of the State. */
export async function addMissingLicenseTypes(store: Store): Promise<void> {
  const live = await readableLiveIndex(store);
  if (live === undefined || !(await hasDigest(store, live.index))) return;
  if ((await readLicenseTypes(store, live.index)) !== undefined) return;
  const sources = [
    { board: { terms: { field: 'board' } } },
    { license_type: { terms: { field: 'license_type', missing_bucket: true } } },
  ];
  const { aggregations } = await search(store.client, countedResponse, {
    index: live.index,
    body: { size: 0, aggs: { types: { composite: { size: MAX_TYPES, sources } } } },
  });
  const types = aggregations.types.buckets.flatMap(({ key: { board, license_type } }) =>
    license_type === null ? [] : [{ board, license_type }],
  );
  const boards = live.metadata.boards ?? {};
  await writeLicenseTypes(store, live.index, {
    boards,
    types,
    sample: await anyLicense(store, live.index),
  });
}

import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { changeCounts } from '../changes/counts.ts';
import { type FeedState, feedState, newFeed } from '../changes/feed-state.ts';
import { countsByName } from '../licenses/counts.ts';
import { parseLicensesIndexName } from '../storage/index-names.ts';
import type { Store } from '../storage/store.ts';

const source = z.object({
  /** The file's name or its address. */
  name: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  rows: z.int(),
});

export const publicationCounts = z.object({
  /** Rows read from both files. */
  rows: z.int(),
  /** Licenses that are rows of their own. */
  licenses: z.int(),
  /** Licenses that stand in another's endorsement columns. */
  endorsements: z.int(),
  /** Rows that could not be published. */
  rejected: z.int(),
});

export type PublicationCounts = z.output<typeof publicationCounts>;

/** The `_meta` of a physical index. It has counts only, since `_meta` is part of the cluster state. */
export const publicationMetadata = z.object({
  publication: z.string(),
  /** The epoch under which it was built; a later build has a greater one. */
  epoch: z.int(),
  /** The files' QUERY_RUN_DATE, `YYYY-MM-DD`. */
  date: z.string(),
  /** Whether the files were generated, not the State's. */
  sample: z.boolean(),
  started_at: z.string(),
  service_version: z.string(),
  /** The rest is written once the load has been verified. */
  verified_at: z.string().optional(),
  counts: publicationCounts.optional(),
  /** Licenses, endorsements with them, by the label in the BOARD column. */
  boards: countsByName.optional(),
  sources: z.object({ individual: source, business: source }).optional(),
  /** The feed of changes as it is while this publication is live. Publications of version 0.2.0 have none. */
  feed: feedState.optional(),
  /** How many licenses changed when it went live. */
  changes: changeCounts.optional(),
});

export type PublicationMetadata = z.output<typeof publicationMetadata>;

/** The feed of changes as it is while a publication is live. */
export function feedOf(metadata: PublicationMetadata): FeedState {
  return metadata.feed ?? newFeed(metadata);
}

export interface LicensesIndex {
  readonly index: string;
  readonly metadata: PublicationMetadata;
}

const mappingsResponse = z.record(
  z.string(),
  z.object({ mappings: z.object({ _meta: publicationMetadata.optional() }) }),
);

/** Every physical index of licenses with its metadata, the earliest build first. Others' indices are left out. */
export async function licensesIndices(store: Store): Promise<LicensesIndex[]> {
  const response = await store.client.indices.getMapping({ index: store.names.licensesPattern });
  return Object.entries(mappingsResponse.parse(response.body))
    .flatMap(([index, { mappings }]) =>
      mappings._meta !== undefined && parseLicensesIndexName(store.prefix, index) !== undefined
        ? [{ index, metadata: mappings._meta }]
        : [],
    )
    .sort((one, other) => one.metadata.epoch - other.metadata.epoch);
}

/** The metadata of one physical index. */
export async function readMetadata(client: Client, index: string): Promise<PublicationMetadata> {
  const [only] = await readAllMetadata(client, index);
  if (only === undefined) throw noMetadata(index);
  return only.metadata;
}

/** The physical indices of a name, which may be an alias, with their metadata. */
export async function readAllMetadata(client: Client, name: string): Promise<LicensesIndex[]> {
  const response = await client.indices.getMapping({ index: name });
  return Object.entries(mappingsResponse.parse(response.body)).map(([index, { mappings }]) => {
    if (mappings._meta === undefined) throw noMetadata(index);
    return { index, metadata: mappings._meta };
  });
}

function noMetadata(index: string): Error {
  return new Error(`Index ${index} has no publication metadata.`);
}

/** Replaces the metadata of one physical index. */
export async function writeMetadata(
  client: Client,
  index: string,
  metadata: PublicationMetadata,
): Promise<void> {
  await client.indices.putMapping({ index, body: { _meta: metadata } });
}

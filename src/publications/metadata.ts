import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { feedState } from '../changes/feed.ts';
import { changeCounts } from '../changes/segments.ts';
import { countsByName } from '../licenses/counts.ts';
import { parseLicensesIndexName } from '../storage/index-names.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError, type Checked, checked, WITHOUT_BAD_PARTS } from '../storage/stored.ts';

const source = z.object({
  /** The file's name or its address. */
  name: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  rows: z.int(),
  /** How its text was read: `UTF-8`, or with how many lines in Windows-1252. */
  encoding: z.string().optional(),
  /** Its columns by name, so that the next publication knows new ones. Publications of version 0.2.0 have none. */
  columns: z.array(z.string()).optional(),
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

/** Licenses that tell of discipline, so that the next publication notices where they vanish. */
export const disciplineCounts = z.object({
  /** Those whose Board Action is Yes. */
  board_actions: z.int(),
  /** Those with a disciplinary sub-status, by sub-status in upper case. */
  sub_statuses: countsByName,
  /** Those with either, by the label in the BOARD column. */
  boards: countsByName,
  /** The columns that tell of discipline and that a file does not have, such as `business.BOARD_ACTION`. */
  missing_columns: z.array(z.string()),
});

export type DisciplineCounts = z.output<typeof disciplineCounts>;

/** The `_meta` of a physical index. It has names and counts only, since `_meta` is part of the cluster state. */
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
  /** Publications of version 0.2.0 have none. */
  discipline: disciplineCounts.optional(),
  sources: z.object({ individual: source, business: source }).optional(),
  /** The feed of changes as it is while this publication is live. Publications of version 0.2.0 have none. */
  feed: feedState.optional(),
  /** How many licenses changed when it went live. */
  changes: changeCounts.optional(),
});

export type PublicationMetadata = z.output<typeof publicationMetadata>;

export interface LicensesIndex {
  readonly index: string;
  readonly metadata: PublicationMetadata;
}

/** What the id of a document is to documents, `_meta` is to an index. */
export const META_ID = '_meta';

const mappingsResponse = z.record(
  z.string(),
  z.object({ mappings: z.object({ [META_ID]: z.unknown().optional() }) }),
);

/** An index with its metadata as they lie there, and what of them is valid. */
export interface CheckedIndex extends Checked<PublicationMetadata> {
  readonly index: string;
  readonly stored: unknown;
}

/** The physical indices of a name, which may be an alias or a pattern. */
export async function checkedIndices(client: Client, name: string): Promise<CheckedIndex[]> {
  const response = await client.indices.getMapping({ index: name });
  return Object.entries(mappingsResponse.parse(response.body)).map(([index, { mappings }]) => ({
    index,
    stored: mappings[META_ID],
    // The licenses of a publication are whole, whatever became of its counts.
    ...checked(publicationMetadata, mappings[META_ID], WITHOUT_BAD_PARTS),
  }));
}

/** Whether metadata are this service's, valid or not; others may have indices of such names. */
export function isOurs(stored: unknown): boolean {
  return z.object({ publication: z.string() }).safeParse(stored).success;
}

/**
 * Every physical index of licenses with its metadata, the earliest build first. Others' indices are left out, and those
 * whose metadata are not valid.
 */
export async function licensesIndices(store: Store): Promise<LicensesIndex[]> {
  return (await checkedIndices(store.client, store.names.licensesPattern))
    .filter(
      ({ index, stored }) => isOurs(stored) && parseLicensesIndexName(store.prefix, index) !== undefined,
    )
    .flatMap(({ index, document: metadata, problem }) => {
      if (problem !== undefined) store.reportBad({ index, id: META_ID, problem });
      return metadata === undefined ? [] : [{ index, metadata }];
    })
    .sort((one, other) => one.metadata.epoch - other.metadata.epoch);
}

/** The metadata of one physical index. */
export async function readMetadata(store: Store, index: string): Promise<PublicationMetadata> {
  const [only] = await readAllMetadata(store, index);
  if (only === undefined) throw new Error(`There is no index ${index}.`);
  return only.metadata;
}

/**
 * The physical indices of a name, which may be an alias, with their metadata.
 *
 * @throws {BadDocumentError} where the publication or its date is not known
 */
export async function readAllMetadata(store: Store, name: string): Promise<LicensesIndex[]> {
  return (await checkedIndices(store.client, name)).map(({ index, document: metadata, problem }) => {
    if (problem !== undefined) store.reportBad({ index, id: META_ID, problem });
    if (metadata === undefined) throw new BadDocumentError({ index, id: META_ID, problem: problem ?? '' });
    return { index, metadata };
  });
}

/**
 * Replaces the metadata of one physical index.
 *
 * @throws {ZodError} for metadata that could not be read again
 */
export async function writeMetadata(
  client: Client,
  index: string,
  metadata: PublicationMetadata,
): Promise<void> {
  await client.indices.putMapping({ index, body: { [META_ID]: publicationMetadata.parse(metadata) } });
}

import { randomBytes } from 'node:crypto';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { hasDigest } from '../changes/digest.ts';
import { changeCounts, earlierFeed, noneIfBad } from '../changes/stored-feed.ts';
import { countsByName } from '../licenses/counts.ts';
import { isIndexNotFound } from '../storage/errors.ts';
import { isLicensesIndexName, type Store } from '../storage/store.ts';
import { BadDocumentError, checked } from '../storage/stored.ts';

const source = z.object({
  /** The file's name or URL. */
  name: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  rows: z.int(),
  /**
   * The names of its columns, from which the next publication tells which columns are new. Publications of version
   * 0.2.0 have no list.
   */
  columns: z.array(z.string()).optional(),
});

export const publicationCounts = z.object({
  /** Rows read from both files. */
  rows: z.int(),
  /** Licenses with a row of their own. */
  licenses: z.int(),
  /** Licenses listed in another license's endorsement columns. */
  endorsements: z.int(),
  /** Rows that could not be published. */
  rejected: z.int(),
});

export type PublicationCounts = z.output<typeof publicationCounts>;

/** Counts of licenses that show discipline. From these, the next publication notices if such licenses disappear. */
export const disciplineCounts = z.object({
  /** Licenses with a Board Action of Yes. */
  board_actions: z.int(),
  /** Licenses with a disciplinary sub-status, by sub-status in upper case. */
  sub_statuses: countsByName,
  /** Licenses with either of these, by the label in the BOARD column. */
  boards: countsByName,
  /** The discipline columns that are missing from a file, such as `business.BOARD_ACTION`. */
  missing_columns: z.array(z.string()),
});

export type DisciplineCounts = z.output<typeof disciplineCounts>;

/** The `_meta` of a physical index. It contains only names and counts, because `_meta` is part of the cluster state. */
export const publicationMetadata = z.object({
  publication: z.string(),
  /** The epoch under which the index was built. A later build has a greater epoch. */
  epoch: z.int(),
  /** The files' QUERY_RUN_DATE, `YYYY-MM-DD`. */
  date: z.string(),
  /** Whether the files are generated sample data instead of the State's. */
  sample: z.boolean(),
  started_at: z.string(),
  service_version: z.string(),
  /** This and everything below is written after the load has been verified. */
  verified_at: z.string().optional(),
  counts: publicationCounts.optional(),
  /** Licenses, including endorsements, by the label in the BOARD column. */
  boards: countsByName.optional(),
  /** Publications of version 0.2.0 do not have it. */
  discipline: disciplineCounts.optional(),
  sources: z.object({ individual: source, business: source }).optional(),
  /**
   * The feed of changes while this publication is live, in the format of version 0.3.0. Publications of version 0.2.0
   * do not have it.
   */
  feed: earlierFeed.optional(),
  /** How many licenses changed when this publication went live. */
  changes: changeCounts.optional(),
});

export type PublicationMetadata = z.output<typeof publicationMetadata>;

/** The hashes of the two files. */
export function hashesOf({ individual, business }: Record<'individual' | 'business', { sha256: string }>) {
  return { individual: individual.sha256, business: business.sha256 };
}

/** A physical index of licenses. */
export interface LicensesIndex {
  readonly index: string;
  readonly metadata: PublicationMetadata;
}

/** A physical index with the marks from its aliases: whether it is live, was live, or was rolled back. */
export type MarkedIndex = Awaited<ReturnType<typeof licensesIndices>>[number];

/**
 * Creates a unique id for a publication, a rollback or a build. Ids sort by time and consist of lower-case letters and
 * digits.
 */
export function newId(now: number = Date.now()): string {
  return `${now.toString(36)}${randomBytes(4).toString('hex')}`;
}

const CHECK = 'check';

/** Creates the build id of an index that never goes live and that `publish --check` deletes again. */
export function checkBuild(): string {
  return CHECK + newId();
}

/** Whether the index's build id comes from `checkBuild`. */
export function isOfCheck(index: string): boolean {
  return index.includes(`-${CHECK}`, index.lastIndexOf('-'));
}

/** The document id under which reports of bad data name an index's `_meta`. */
const META_ID = '_meta';

const indicesResponse = z.record(
  z.string(),
  z.object({
    aliases: z.record(z.string(), z.unknown()),
    mappings: z.object({ [META_ID]: z.unknown().optional() }),
  }),
);

const ofOurs = publicationMetadata.pick({ publication: true });

/**
 * Returns the physical indices behind a name, which may be an alias or a pattern.
 *
 * @param isOurs decides which indices are included
 */
async function indicesNamed(
  { client, names, reportBad }: Store,
  name: string,
  isOurs = (_index: string, _stored: unknown): boolean => true,
) {
  const found = Object.entries(indicesResponse.parse((await client.indices.get({ index: name })).body));
  const ours = found.filter(([index, { mappings }]) => isOurs(index, mappings[META_ID]));
  return ours.map(([index, { aliases, mappings }]) => {
    const stored = mappings[META_ID];
    // Invalid counts do not affect the licenses of a publication, so the valid parts are kept.
    const { document: metadata, problem } = checked(publicationMetadata, stored, true);
    if (problem !== undefined) reportBad({ index, id: META_ID, problem });
    const marks = {
      isLive: Object.hasOwn(aliases, names.alias),
      wasLive: Object.hasOwn(aliases, names.wasLive),
      isRolledBack: Object.hasOwn(aliases, names.rolledBack),
    };
    return { index, metadata, problem, ...marks };
  });
}

/**
 * Returns every physical licenses index with its metadata, the earliest build first. Indices of other applications and
 * indices with invalid metadata are left out.
 */
export async function licensesIndices(store: Store) {
  const isOurs = (index: string, stored: unknown) =>
    isLicensesIndexName(store.prefix, index) && ofOurs.safeParse(stored).success;
  return (await indicesNamed(store, store.names.licensesPattern, isOurs))
    .flatMap(({ metadata, ...each }) => (metadata === undefined ? [] : [{ ...each, metadata }]))
    .sort((one, other) => one.metadata.epoch - other.metadata.epoch);
}

/**
 * Returns the physical index behind a name, which may be the alias, with its metadata.
 *
 * @param preferred the index to choose if the alias has several
 * @throws {BadDocumentError} when the publication or its date is unknown
 * @throws {SeveralLiveError}
 */
async function indexNamed(store: Store, name: string, preferred?: string): Promise<LicensesIndex> {
  const found = await indicesNamed(store, name);
  const indices = found.map(({ index }) => index);
  const only = theOnly(indices, preferred);
  const { index = name, metadata, problem = '' } = found.find((each) => each.index === only) ?? {};
  if (metadata === undefined) throw new BadDocumentError({ index, id: META_ID, problem });
  return { index, metadata };
}

/** Reads the metadata of one physical index. @throws {BadDocumentError} when the publication or its date is unknown */
export async function readMetadata(store: Store, index: string): Promise<PublicationMetadata> {
  return (await indexNamed(store, index)).metadata;
}

/** @throws {ZodError} for metadata that could not be read back */
export async function writeMetadata(client: Client, index: string, metadata: PublicationMetadata) {
  await client.indices.putMapping({ index, body: { [META_ID]: publicationMetadata.parse(metadata) } });
}

/** Returns the physical indices under the alias: none before the first publication, then at least one. */
export async function indicesUnderAlias({ client, names }: Store): Promise<string[]> {
  const response = await client.indices.getAlias({ name: names.alias }, { ignore: [404] });
  return response.statusCode === 404 ? [] : Object.keys(response.body).sort();
}

/** @throws {SeveralLiveError} */
export async function liveIndex(store: Store): Promise<string | undefined> {
  return theOnly(await indicesUnderAlias(store));
}

/**
 * Returns the live index and its metadata, if anything is live. Both come from one request, so they match.
 *
 * @param preferred the index to choose if the alias has several
 * @throws {SeveralLiveError}
 */
export function liveLicensesIndex(store: Store, preferred?: string) {
  return indexNamed(store, store.names.alias, preferred).catch((error: unknown): undefined => {
    if (!isIndexNotFound(error)) throw error;
  });
}

/**
 * Like `liveLicensesIndex`, but also returns `undefined` if the live index has invalid metadata. So another publication
 * can replace it.
 */
export function readableLiveIndex(store: Store): Promise<LicensesIndex | undefined> {
  return liveLicensesIndex(store).catch(noneIfBad);
}

/** The alias has several indices, as after restoring a snapshot. The message tells how to choose one. */
export class SeveralLiveError extends Error {
  constructor(indices: readonly string[]) {
    const sorted = indices.toSorted();
    super(
      `Several indices are live: ${sorted.join(', ')}. Make one the only one: licenses rollback --to ${sorted.at(-1)}`,
    );
  }
}

function theOnly(underAlias: readonly string[], preferred = ''): string | undefined {
  if (underAlias.length <= 1) return underAlias[0];
  if (!underAlias.includes(preferred)) throw new SeveralLiveError(underAlias);
  return preferred;
}

/**
 * Returns the index of a publication that can be compared with another one, by its id or the word `live`.
 *
 * @throws {Error} in words for the operator if the publication is not kept, or has no digest
 */
export async function keptIndex(store: Store, publication: string): Promise<string> {
  const indices = await licensesIndices(store);
  const live = publication === 'live' ? await liveIndex(store) : undefined;
  const found = indices.find(({ index, metadata }) => index === live || metadata.publication === publication);
  if (found === undefined) {
    const kept = indices.map(({ metadata }) => metadata.publication).join(', ');
    throw new Error(`Publication ${publication} is not kept. Kept: ${kept || 'none'}.`);
  }
  if (!(await hasDigest(store, found.index)))
    throw new Error(`Publication ${publication} has no digest, so it cannot be compared.`);
  return found.index;
}

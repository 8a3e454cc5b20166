import { randomBytes } from 'node:crypto';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { changeCounts, earlierFeed, noneIfBad } from '../changes/stored-feed.ts';
import { countsByName } from '../licenses/counts.ts';
import { isIndexNotFound } from '../storage/errors.ts';
import { isLicensesIndexName, type Store } from '../storage/store.ts';
import { BadDocumentError, checked } from '../storage/stored.ts';

const source = z.object({
  /** The file's name or its address. */
  name: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  rows: z.int(),
  /** Its columns by name, so that the next publication knows new ones. Publications of version 0.2.0 have none. */
  columns: z.array(z.string()).optional(),
});

export const publicationCounts = z.object({
  /** Rows read from both files. */
  rows: z.int(),
  /** Licenses that are rows of their own. */
  licenses: z.int(),
  /** Licenses that are listed in another's endorsement columns. */
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
  /** The feed of changes while this publication is live, for version 0.3.0. Those of version 0.2.0 have none. */
  feed: earlierFeed.optional(),
  /** How many licenses changed when it went live. */
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

/** The same with what its aliases say: whether it is live, was live, and was left by a rollback. */
export type MarkedIndex = Awaited<ReturnType<typeof licensesIndices>>[number];

/** A new id of a publication, a rollback or a build, unique and sorted by time: lower-case letters and digits. */
export function newId(now: number = Date.now()): string {
  return `${now.toString(36)}${randomBytes(4).toString('hex')}`;
}

const CHECK = 'check';

/** The build of an index that never goes live: `publish --check` deletes it again. */
export function checkBuild(): string {
  return CHECK + newId();
}

/** Whether `checkBuild` named an index. */
export function isOfCheck(index: string): boolean {
  return index.includes(`-${CHECK}`, index.lastIndexOf('-'));
}

/** What the id of a document is to documents, `_meta` is to an index. */
const META_ID = '_meta';

const indicesResponse = z.record(
  z.string(),
  z.object({
    aliases: z.record(z.string(), z.unknown()),
    mappings: z.object({ [META_ID]: z.unknown().optional() }),
  }),
);

const ofOurs = publicationMetadata.pick({ publication: true });

/** The physical indices of a name, which may be an alias or a pattern. @param isOurs leaves others' out */
async function indicesNamed(
  { client, names, reportBad }: Store,
  name: string,
  isOurs = (_index: string, _stored: unknown): boolean => true,
) {
  const found = Object.entries(indicesResponse.parse((await client.indices.get({ index: name })).body));
  const ours = found.filter(([index, { mappings }]) => isOurs(index, mappings[META_ID]));
  return ours.map(([index, { aliases, mappings }]) => {
    const stored = mappings[META_ID];
    // The licenses of a publication are whole, whatever became of its counts.
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
 * Every physical index of licenses with its metadata, the earliest build first. Others' indices are left out, and those
 * whose metadata are not valid.
 */
export async function licensesIndices(store: Store) {
  const isOurs = (index: string, stored: unknown) =>
    isLicensesIndexName(store.prefix, index) && ofOurs.safeParse(stored).success;
  return (await indicesNamed(store, store.names.licensesPattern, isOurs))
    .flatMap(({ metadata, ...each }) => (metadata === undefined ? [] : [{ ...each, metadata }]))
    .sort((one, other) => one.metadata.epoch - other.metadata.epoch);
}

/**
 * The physical index of a name, which may be the alias, with its metadata.
 *
 * @param preferred which one it is where the alias has several
 * @throws {BadDocumentError} where the publication or its date is not known
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

/** The metadata of one physical index. @throws {BadDocumentError} where the publication or its date is not known */
export async function readMetadata(store: Store, index: string): Promise<PublicationMetadata> {
  return (await indexNamed(store, index)).metadata;
}

/** @throws {ZodError} for metadata that could not be read again */
export async function writeMetadata(client: Client, index: string, metadata: PublicationMetadata) {
  await client.indices.putMapping({ index, body: { [META_ID]: publicationMetadata.parse(metadata) } });
}

/** The physical indices under the alias: none before the first publication, then always one. */
export async function indicesUnderAlias({ client, names }: Store): Promise<string[]> {
  const response = await client.indices.getAlias({ name: names.alias }, { ignore: [404] });
  return response.statusCode === 404 ? [] : Object.keys(response.body).sort();
}

/** @throws {SeveralLiveError} */
export async function liveIndex(store: Store): Promise<string | undefined> {
  return theOnly(await indicesUnderAlias(store));
}

/**
 * The live index and its metadata, if anything is live: one request, so both are of the same moment.
 *
 * @param preferred which one it is where the alias has several
 * @throws {SeveralLiveError}
 */
export function liveLicensesIndex(store: Store, preferred?: string) {
  return indexNamed(store, store.names.alias, preferred).catch((error: unknown): undefined => {
    if (!isIndexNotFound(error)) throw error;
  });
}

/**
 * As `liveLicensesIndex`; `undefined` also where the metadata of what is live are not valid. So another publication can
 * take its place.
 */
export function readableLiveIndex(store: Store): Promise<LicensesIndex | undefined> {
  return liveLicensesIndex(store).catch(noneIfBad);
}

/** The alias has several indices, as a restored snapshot leaves it. The message says how to choose one. */
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

import { totalmem } from 'node:os';
import { extraField } from '../../src/changes/change.ts';
import { type Digest, type DigestEntry, emptyDigest } from '../../src/changes/digest.ts';
import type { PublicationMetadata } from '../../src/publications/metadata.ts';
import { type PublishRun, refused } from './run.ts';
import type { Sources } from './sources.ts';

/** What is noted of the licenses that are loaded, so that they can be compared with the live publication. */
export interface Digests {
  readonly digest: Digest;
  /** The fields of columns that the live publication's files did not have. */
  readonly newFields: ReadonlySet<string>;
  /** The ids of documents that OpenSearch did not take, or that another row has too. */
  readonly refused: Set<string>;
  /** The keys of what may be a license number in a rejected row. */
  readonly rejectedNumbers: Set<string>;
  /** @throws {RefusedError} when the digest takes half of the memory that the process may use */
  add(license: { readonly digest: DigestEntry }): void;
}

/** The rest is for the heap and for what is being sent. */
const MAX_SHARE_OF_MEMORY = 0.5;

/** How many bytes a digest may take: of the container's limit, or of the machine's memory where there is none. */
export function memoryForDigest(limit: number = process.constrainedMemory()): number {
  return MAX_SHARE_OF_MEMORY * (limit > 0 ? Math.min(limit, totalmem()) : totalmem());
}

/** @throws {RefusedError} when a digest of this size leaves too little memory: the process would be killed */
export function refuseTooLarge(bytes: number, most: number): void {
  if (bytes <= most) return;
  const megabytes = (size: number) => `${Math.round(size / 1e6)} MB`;
  throw refused(
    'memory',
    `The digest takes ${megabytes(bytes)}, and may take half of the worker's memory, ${megabytes(most)}. ` +
      'Raise its memory limit.',
  );
}

/** An empty digest for the files. */
export function emptyDigests({ live }: PublishRun, sources: Sources): Digests {
  const digest = emptyDigest();
  const most = memoryForDigest();
  return {
    digest,
    newFields: fieldsOfNewColumns(sources, live?.metadata.sources),
    refused: new Set(),
    rejectedNumbers: new Set(),
    add: (license) => {
      digest.add(license.digest);
      refuseTooLarge(digest.bytes(), most);
    },
  };
}

/** The columns that the live publication's files have and these do not, such as `business.SUB_CATEGORY`. */
export function goneColumns(sources: Sources, before: PublicationMetadata['sources']): string[] {
  return (['individual', 'business'] as const).flatMap((file) => {
    const now = new Set(sources[file].header.named.map(({ name }) => name));
    const gone = (before?.[file].columns ?? []).filter((column) => !now.has(column));
    return gone.map((column) => `${file}.${column}`);
  });
}

/**
 * The fields of extra data that only columns have that neither of the earlier files had. Where the earlier files'
 * columns are not known, as of those that version 0.2.0 published, there are none.
 */
function fieldsOfNewColumns(sources: Sources, before: PublicationMetadata['sources']): ReadonlySet<string> {
  if (before?.individual.columns === undefined || before.business.columns === undefined) return new Set();
  const columns = (['individual', 'business'] as const).flatMap((file) => {
    const { named, extra } = sources[file].header;
    const known = new Set(before[file].columns);
    const added = new Set(named.filter(({ name }) => !known.has(name)).map(({ position }) => position));
    return extra.map(({ position, label }) => ({ field: extraField(label), isNew: added.has(position) }));
  });
  const known = new Set(columns.filter(({ isNew }) => !isNew).map(({ field }) => field));
  return new Set(columns.map(({ field }) => field).filter((field) => !known.has(field)));
}

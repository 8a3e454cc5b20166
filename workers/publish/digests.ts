import { totalmem } from 'node:os';
import { type Digest, emptyDigest } from '../../src/changes/digest.ts';
import { type DigestColumns, readDigestColumns } from '../../src/changes/digest-store.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { ComparableColumns, ParsedLicense } from './parse.ts';
import { RefusedError, refusal } from './refusal.ts';
import type { PublishRun } from './run.ts';
import type { Sources } from './sources.ts';

/** The digests of what is being loaded. */
export interface Digests {
  /** The digest that is kept with the publication. */
  readonly kept: Digest;
  /** The digest that is compared with the live one. Its rows lack the columns that the live one does not have. */
  readonly compared: Digest;
  /** The columns of the kept digest's rows. */
  readonly columns: DigestColumns;
  /** The columns of the live publication's files, where they can be compared with. */
  readonly comparable: Readonly<Record<DatasetFile, ComparableColumns>>;
  /** The ids of documents that OpenSearch did not take, or that another row has too. */
  readonly refused: Set<string>;
  /** The keys of what may be a license number in a rejected row. */
  readonly rejectedNumbers: Set<string>;
  /** @throws {RefusedError} when the digests take half of the memory that the process may use */
  add(license: ParsedLicense): void;
}

/** The rest is for the heap and for what is being sent. */
const MAX_SHARE_OF_MEMORY = 0.5;

/** How many bytes digests may take: of the container's limit, or of the machine's memory where there is none. */
export function memoryForDigests(limit: number = process.constrainedMemory()): number {
  return MAX_SHARE_OF_MEMORY * (limit > 0 ? Math.min(limit, totalmem()) : totalmem());
}

/** @throws {RefusedError} when digests of this size leave too little memory: the process would be killed */
export function refuseTooLarge(bytes: number, most: number): void {
  if (bytes <= most) return;
  const megabytes = (size: number) => `${Math.round(size / 1e6)} MB`;
  throw new RefusedError([
    refusal(
      'memory',
      `The digests take ${megabytes(bytes)}, and may take half of the worker's memory, ${megabytes(most)}. ` +
        'Raise its memory limit.',
    ),
  ]);
}

/** Empty digests for the files. */
export async function emptyDigests({ store, live }: PublishRun, sources: Sources): Promise<Digests> {
  const before = live === undefined ? undefined : await readDigestColumns(store, live.index);
  const columns = { individual: namesOf('individual', sources), business: namesOf('business', sources) };
  const kept = emptyDigest();
  const compared = before === undefined || isSubset(columns, before) ? kept : emptyDigest();
  const most = memoryForDigests();
  return {
    kept,
    compared,
    columns,
    comparable: { individual: before?.individual, business: before?.business },
    refused: new Set(),
    rejectedNumbers: new Set(),
    add: ({ digest, comparableRow }) => {
      kept.add(digest);
      if (compared !== kept) compared.add({ ...digest, row: comparableRow });
      refuseTooLarge(compared === kept ? kept.bytes() : kept.bytes() + compared.bytes(), most);
    },
  };
}

function namesOf(file: DatasetFile, sources: Sources): string[] {
  return sources[file].header.named.map(({ name }) => name);
}

function isSubset(columns: DigestColumns, of: DigestColumns): boolean {
  return (['individual', 'business'] as const).every((file) => {
    const names = new Set(of[file]);
    return columns[file].every((name) => names.has(name));
  });
}

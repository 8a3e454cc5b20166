import { type Digest, emptyDigest } from '../../src/changes/digest.ts';
import { type DigestColumns, readDigestColumns } from '../../src/changes/digest-store.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { ComparableColumns, ParsedLicense } from './parse.ts';
import type { Sources } from './prepare.ts';
import type { PublishRun } from './run.ts';

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
  add(license: ParsedLicense): void;
}

/** Empty digests for the files. */
export async function emptyDigests({ store, live }: PublishRun, sources: Sources): Promise<Digests> {
  const before = live === undefined ? undefined : await readDigestColumns(store, live.index);
  const columns = { individual: namesOf('individual', sources), business: namesOf('business', sources) };
  const kept = emptyDigest();
  const compared = before === undefined || isSubset(columns, before) ? kept : emptyDigest();
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

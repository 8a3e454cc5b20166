import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import { SERVICE_VERSION } from '../config.ts';
import { bulk, countDocuments, pagesOf, storedDocuments } from './checked-search.ts';
import { type DocumentChecks, documentsAtOnce } from './collection.ts';
import { parsedAs } from './parsed-as.ts';
import type { Store, StoredIndex } from './store.ts';
import type { BadDocument } from './stored.ts';
import { writeWhole } from './whole-file.ts';

/** A backup is unusable, or cannot be used for this operation. The message says why. */
class BackupError extends Error {}

const FORMAT = 'ohio-license-verification';
/**
 * Version 2 added the audit log, version 3 the changes, version 4 the saved records, version 5 the subscriptions and
 * webhooks, version 6 the public signing keys. All versions can be read.
 */
const FORMAT_VERSION = 6;

/** The first line of a backup. A later version may have other fields beside the version number. */
const header = z.looseObject({ backup: z.literal(FORMAT), version: z.int().positive() });

/**
 * The kinds of documents in the order of a backup. The key is the name of the index without the prefix, the value is
 * the name that operators see. The ledger comes after the changes: if a publication runs during the backup, the backup
 * must not contain changes with an epoch that the ledger would give to another publication.
 */
const KINDS = {
  accounts: { index: 'accounts', words: 'accounts' },
  'api-keys': { index: 'apiKeys', words: 'API keys' },
  changes: { index: 'changes', words: 'changes' },
  publications: { index: 'ledger', words: 'entries of the ledger' },
  audit: { index: 'audit', words: 'entries of the audit log' },
  'saved-records': { index: 'savedRecords', words: 'saved records' },
  subscriptions: { index: 'subscriptions', words: 'subscriptions' },
  webhooks: { index: 'webhooks', words: 'webhooks' },
  'signing-keys': { index: 'signingKeys', words: 'public keys of signatures' },
} as const satisfies Readonly<Record<string, { index: StoredIndex; words: string }>>;

type Kind = keyof typeof KINDS;

const kind = z.enum(Object.keys(KINDS).filter((name): name is Kind => Object.hasOwn(KINDS, name)));

const KIND_NAMES = kind.options;

const backupCounts = z.record(kind, z.int().default(0));

/** The number of documents of each kind. */
export type BackupCounts = z.output<typeof backupCounts>;

/** Summarizes the contents of a backup for the operator. */
export function inWords(counts: BackupCounts, names: readonly Kind[] = KIND_NAMES): string {
  return names.map((name) => `${counts[name]} ${KINDS[name].words}`).join(', ');
}

/** Any line between the first and the last. */
const backupDocument = z.strictObject({ index: kind, id: z.string(), source: z.looseObject({}) });

/** The last line. Its hash covers all preceding bytes. */
const footer = z.strictObject({ documents: backupCounts, sha256: z.string() });

/**
 * Counts the documents of a backup, and keeps the valid parts of each.
 *
 * @param prefix the prefix of index names in reports of invalid documents
 */
function documentCheck(checks: DocumentChecks, prefix = '') {
  const documents = backupCounts.parse({});
  const leftOut: BadDocument[] = [];
  function keptOf({ index, id, source: stored }: z.output<typeof backupDocument>) {
    const { kept: source, problem } = checks[KINDS[index].index](stored, id);
    if (problem !== undefined) leftOut.push({ index: prefix + index, id, problem });
    if (source === undefined) return [];
    documents[index] += 1;
    return [{ index, id, source }];
  }
  return { keptOf, result: { documents, leftOut } };
}

/** What was written to a backup or restored, and which invalid documents were left out. */
export type BackupResult = Readonly<ReturnType<typeof documentCheck>['result']>;

/**
 * Writes all data that exists only in OpenSearch to a file, with `writeWhole`. Invalid documents are left out.
 *
 * @throws {BackupError} when the existing file has data that the installation has lost: it may be the only copy
 */
export async function writeBackup(store: Store, file: string, checks: DocumentChecks): Promise<BackupResult> {
  const { client, prefix } = store;
  const { keptOf, result } = documentCheck(checks, prefix);
  const hash = createHash('sha256');
  const hashedLines = (values: readonly object[]): string => {
    const lines = values.map(lineOf).join('');
    hash.update(lines);
    return lines;
  };
  async function* content(): AsyncGenerator<string> {
    const at = new Date().toISOString();
    yield hashedLines([{ backup: FORMAT, version: FORMAT_VERSION, at, service_version: SERVICE_VERSION }]);
    for (const index of KIND_NAMES) {
      await client.indices.refresh({ index: prefix + index });
      const inOrder = { size: documentsAtOnce(KINDS[index].index), sort: [{ _seq_no: 'asc' as const }] };
      for await (const page of pagesOf(client, prefix + index, storedDocuments, inOrder)) {
        yield hashedLines(page.flatMap(({ _id: id, _source: source }) => keptOf({ index, id, source })));
      }
    }
    yield lineOf({ documents: result.documents, sha256: hash.digest('hex') });
  }
  await writeWhole(file, content(), () => requireNoLoss(file, result.documents, checks));
  return result;
}

/**
 * Documents that the service never deletes. If an installation lacks them, they were lost by mistake or with
 * OpenSearch's data.
 */
const NEVER_DELETED = ['accounts', 'api-keys', 'publications', 'audit', 'signing-keys'] as const;

/** @throws {BackupError} when the file to be replaced has data that this installation has lost */
async function requireNoLoss(file: string, now: BackupCounts, checks: DocumentChecks): Promise<void> {
  const missing = NEVER_DELETED.filter((name) => now[name] === 0);
  if (missing.length === 0) return;
  // A file that is not a backup may be replaced.
  const { documents: before } = await readBackup(file, checks).catch(() => documentCheck(checks).result);
  const lost = missing.filter((name) => before[name] > 0);
  if (lost.length > 0)
    throw new BackupError(
      `${file} has ${inWords(before, lost)}, and this installation has none. Restore it, or back up to another file.`,
    );
}

/** JSON on one line. Unescaped, U+2028 and U+2029 would end a line when the file is read. */
function lineOf(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}

/**
 * Reads and checks a whole backup, line by line, because a backup may have more changes than fit in memory.
 *
 * @returns how many valid documents of each kind it has, and which are invalid
 * @throws {BackupError} when the file is not a backup, of a later version, truncated or altered
 */
export async function readBackup(file: string, checks: DocumentChecks): Promise<BackupResult> {
  const { keptOf, result } = documentCheck(checks);
  for await (const document of documentsIn(file)) keptOf(document);
  return result;
}

/** Every document of a backup. @throws the errors of `readBackup`; for an incomplete file, only at the end */
async function* documentsIn(file: string) {
  const hash = createHash('sha256');
  let sha256: string | undefined;
  let isFirst = true;
  const handle = await open(file);
  try {
    for await (const line of handle.readLines({ autoClose: false })) {
      if (isFirst) requireHeader(file, line);
      else {
        const read = sha256 === undefined ? parsedAs(z.union([backupDocument, footer]), line) : undefined;
        if (read === undefined) throw damaged(file);
        if ('source' in read) yield read;
        else sha256 = read.sha256;
      }
      isFirst = false;
      if (sha256 === undefined) hash.update(`${line}\n`);
    }
  } finally {
    await handle.close();
  }
  if (hash.digest('hex') !== sha256) throw damaged(file);
}

function damaged(file: string): BackupError {
  return new BackupError(`${file} is damaged, cut off or altered; use another backup.`);
}

function requireHeader(file: string, line: string): void {
  const { version } = parsedAs(header, line) ?? {};
  if (version === undefined) throw new BackupError(`${file} is no backup of this service.`);
  if (version > FORMAT_VERSION)
    throw new BackupError(
      `${file} was written by a later release of this service (format ${version}); restore it with that.`,
    );
}

/**
 * Restores a backup into the indices that `prepareIndices` made. Documents are written in order, because the ledger is
 * read in the order in which it was written. The installation must be empty, so that nothing is overwritten; only an
 * audit log may exist, and that of the backup is added to it. Invalid documents are left out.
 *
 * @throws {BackupError} before anything is written, when the file is unusable or keys or a ledger already exist; later,
 * with what was done, when OpenSearch fails
 */
export async function restoreBackup(
  { client, prefix }: Store,
  file: string,
  checks: DocumentChecks,
): Promise<BackupResult> {
  await readBackup(file, checks);
  const indices = KIND_NAMES.map((name) => prefix + name);
  await client.indices.refresh({ index: indices });
  const found = backupCounts.parse({});
  for (const name of KIND_NAMES) found[name] = await countDocuments(client, prefix + name);
  if (KIND_NAMES.some((name) => name !== 'audit' && found[name] > 0)) {
    throw new BackupError(
      `There are ${inWords(found)} already; a backup is restored only where there are none. If an earlier restore ` +
        `into this installation was broken off, delete the indices ${indices.join(', ')}, and restore again.`,
    );
  }
  const { keptOf, result } = documentCheck(checks);
  let done = 0;
  let page: object[] = [];
  const write = async () => {
    if (page.length > 0) await bulk(client, { body: page });
    done += page.length / 2;
    page = [];
  };
  try {
    // Within an index, OpenSearch keeps the order of a bulk request.
    for await (const document of documentsIn(file)) {
      for (const { index, id, source } of keptOf(document))
        page.push({ create: { _index: prefix + index, _id: id } }, source);
      if (page.length / 2 >= documentsAtOnce(KINDS[document.index].index)) await write();
    }
    await write();
    // Refresh, so that the next searches, such as a list of keys, find all documents.
    await client.indices.refresh({ index: indices });
  } catch (error) {
    throw new BackupError(
      `Stopped after ${done} documents: ${String(error)} Delete the indices ${indices.join(', ')} and restore again.`,
      { cause: error },
    );
  }
  return result;
}

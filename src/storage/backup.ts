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

/** A backup can't be used, or not here. The message says why. */
class BackupError extends Error {}

const FORMAT = 'ohio-license-verification';
/**
 * Version 2 has the audit log, too, version 3 the changes, version 4 the saved records, version 5 the subscriptions and
 * webhooks, version 6 the public keys of signatures. All are read.
 */
const FORMAT_VERSION = 6;

/** The first line. A later version may have other fields beside its number. */
const header = z.looseObject({ backup: z.literal(FORMAT), version: z.int().positive() });

/**
 * The kinds of documents in the order in which a backup has them, each called as its index is without the prefix, and
 * what an operator calls them. The ledger comes after the changes: a publication that goes on meanwhile must not leave
 * changes of an epoch that the ledger would give to another one.
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

/** How many documents there are of each kind. */
export type BackupCounts = z.output<typeof backupCounts>;

/** What a backup has, for the operator. */
export function inWords(counts: BackupCounts, names: readonly Kind[] = KIND_NAMES): string {
  return names.map((name) => `${counts[name]} ${KINDS[name].words}`).join(', ');
}

/** A line between the first and the last. */
const backupDocument = z.strictObject({ index: kind, id: z.string(), source: z.looseObject({}) });

/** The last line; the hash is of all the bytes before it. */
const footer = z.strictObject({ documents: backupCounts, sha256: z.string() });

/** Counts documents of a backup, and keeps of each what is valid. @param prefix of their index, in what is left out */
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

/** What was written to a backup or restored, and what was left out because it is not valid. */
export type BackupResult = Readonly<ReturnType<typeof documentCheck>['result']>;

/**
 * Writes what exists only in OpenSearch to a file, as `writeWhole` does. What is not valid is left out.
 *
 * @throws {BackupError} when the existing file has what the installation has lost: it may be the only copy
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

/** What nothing deletes: an installation has it, or lost it by a mistake or with OpenSearch's data. */
const NEVER_DELETED = ['accounts', 'api-keys', 'publications', 'audit', 'signing-keys'] as const;

/** @throws {BackupError} when the file that would be replaced has what this installation has lost */
async function requireNoLoss(file: string, now: BackupCounts, checks: DocumentChecks): Promise<void> {
  const missing = NEVER_DELETED.filter((name) => now[name] === 0);
  if (missing.length === 0) return;
  // What is no backup is replaced.
  const { documents: before } = await readBackup(file, checks).catch(() => documentCheck(checks).result);
  const lost = missing.filter((name) => before[name] > 0);
  if (lost.length > 0)
    throw new BackupError(
      `${file} has ${inWords(before, lost)}, and this installation has none. Restore it, or back up to another file.`,
    );
}

/** JSON on one line. As they are, U+2028 and U+2029 would end a line where the file is read. */
function lineOf(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}

/**
 * Reads a backup and checks all of it. It is read line by line: a backup may have more changes than fit in memory.
 *
 * @returns how many valid documents of each kind it has, and what is not valid
 * @throws {BackupError} when the file is no backup, of a later version, cut off or altered
 */
export async function readBackup(file: string, checks: DocumentChecks): Promise<BackupResult> {
  const { keptOf, result } = documentCheck(checks);
  for await (const document of documentsIn(file)) keptOf(document);
  return result;
}

/** Every document of a backup. @throws as `readBackup`, at the end where the file is not whole */
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
 * Restores a backup into the indices that `prepareIndices` made, the documents one after the other: the ledger
 * is read in the order in which it was written. It takes an empty installation, so nothing is ever overwritten; only
 * an audit log may be there, to which that of the backup is added. What is not valid is left out.
 *
 * @throws {BackupError} before anything is written, when the file can't be used or there are keys or a ledger
 * already; later, with what was done, when OpenSearch fails
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
    // What comes next, such as a list of keys, finds all of it.
    await client.indices.refresh({ index: indices });
  } catch (error) {
    throw new BackupError(
      `Stopped after ${done} documents: ${String(error)} Delete the indices ${indices.join(', ')} and restore again.`,
      { cause: error },
    );
  }
  return result;
}

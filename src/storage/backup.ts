import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import { SERVICE_VERSION } from '../config.ts';
import { bulk, countDocuments, pagesOf, storedDocuments } from './checked-search.ts';
import { type DocumentChecks, documentsAtOnce, type StoredIndex } from './collection.ts';
import type { Store } from './store.ts';
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
 * The kinds of documents in the order in which a backup has them, their indices, and what an operator calls them. The
 * ledger comes after the changes: a publication that goes on meanwhile must not leave changes of an epoch that the ledger
 * would give to another one.
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

/** How many documents there are of each kind. */
const backupCounts = z.record(kind, z.int().default(0));

export type BackupCounts = z.output<typeof backupCounts>;

function noDocuments(): BackupCounts {
  return backupCounts.parse({});
}

/** What a backup has, for the operator. */
export function inWords(counts: BackupCounts, names: readonly Kind[] = kind.options): string {
  return names.map((name) => `${counts[name]} ${KINDS[name].words}`).join(', ');
}

/** A line between the first and the last. */
const backupDocument = z.strictObject({ index: kind, id: z.string(), source: z.looseObject({}) });

/** The last line; the hash is of all the bytes before it. */
const footer = z.strictObject({ documents: backupCounts, sha256: z.string() });

/** What was written to a backup or restored, and what was left out because it is not valid. */
export interface BackupResult {
  readonly documents: BackupCounts;
  readonly leftOut: readonly BadDocument[];
}

/**
 * Writes what exists only in OpenSearch to a file, as `writeWhole` does. What is not valid is left out.
 *
 * @throws {BackupError} when the existing file has what the installation has lost: it may be the only copy
 */
export async function writeBackup(store: Store, file: string, checks: DocumentChecks): Promise<BackupResult> {
  const documents = noDocuments();
  const leftOut: BadDocument[] = [];
  const lines = linesToWrite(store, checks, documents, leftOut);
  await writeWhole(file, lines, () => requireNoLoss(file, documents, checks));
  return { documents, leftOut };
}

/** What nothing deletes: an installation has it, or lost it by a mistake or with OpenSearch's data. */
const NEVER_DELETED = ['accounts', 'api-keys', 'publications', 'audit', 'signing-keys'] as const;

/** @throws {BackupError} when the file that would be replaced has what this installation has lost */
async function requireNoLoss(file: string, now: BackupCounts, checks: DocumentChecks): Promise<void> {
  const missing = NEVER_DELETED.filter((name) => now[name] === 0);
  if (missing.length === 0) return;
  // What is no backup is replaced.
  const before = (await readBackup(file, checks).catch(() => undefined))?.documents ?? noDocuments();
  const lost = missing.filter((name) => before[name] > 0);
  if (lost.length > 0)
    throw new BackupError(
      `${file} has ${inWords(before, lost)}, and this installation has none. Restore it, or back up to another file.`,
    );
}

/** Counts what it writes in `documents`, and collects what it leaves out. */
async function* linesToWrite(
  { client, names }: Store,
  checks: DocumentChecks,
  documents: BackupCounts,
  leftOut: BadDocument[],
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const at = new Date().toISOString();
  const begins = lineOf({ backup: FORMAT, version: FORMAT_VERSION, at, service_version: SERVICE_VERSION });
  hash.update(begins);
  yield begins;
  for (const name of kind.options) {
    const key = KINDS[name].index;
    const index = names[key];
    await client.indices.refresh({ index });
    const inOrder = { size: documentsAtOnce(key), sort: [{ _seq_no: 'asc' as const }] };
    for await (const page of pagesOf(client, index, storedDocuments, inOrder)) {
      const lines = page.flatMap(({ _id: id, _source }) => {
        const { kept: source, problem } = checks[key](_source, id);
        if (problem !== undefined) leftOut.push({ index, id, problem });
        return source === undefined ? [] : [lineOf({ index: name, id, source })];
      });
      documents[name] += lines.length;
      hash.update(lines.join(''));
      yield lines.join('');
    }
  }
  yield lineOf({ documents, sha256: hash.digest('hex') });
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
  const documents = noDocuments();
  const leftOut: BadDocument[] = [];
  for await (const { index, id, kept, problem } of documentsIn(file, checks)) {
    if (kept !== undefined) documents[index] += 1;
    if (problem !== undefined) leftOut.push({ index, id, problem });
  }
  return { documents, leftOut };
}

/** Every document of a backup, checked. @throws as `readBackup`, at the end where the file is not whole */
async function* documentsIn(file: string, checks: DocumentChecks) {
  const hash = createHash('sha256');
  let sha256: string | undefined;
  let number = 0;
  const handle = await open(file);
  try {
    for await (const line of handle.readLines({ autoClose: false })) {
      number += 1;
      if (number === 1) requireHeader(file, line);
      else if (sha256 !== undefined) throw new BackupError(`${file} has more lines than it says.`);
      else {
        const read = parsedAs(z.union([backupDocument, footer]), line);
        if (read === undefined)
          throw new BackupError(`${file} is damaged or cut off in line ${number}; use another backup.`);
        if ('sha256' in read) {
          sha256 = read.sha256;
          continue;
        }
        const { index, id, source } = read;
        yield { index, id, ...checks[KINDS[index].index](source, id) };
      }
      hash.update(`${line}\n`);
    }
  } finally {
    await handle.close();
  }
  if (number === 0) requireHeader(file, '');
  if (sha256 === undefined) throw new BackupError(`${file} is cut off: its last line is missing.`);
  if (hash.digest('hex') !== sha256)
    throw new BackupError(`${file} was altered or damaged after it was written; use another backup.`);
}

function requireHeader(file: string, line: string): void {
  const begins = parsedAs(header, line);
  if (begins === undefined) throw new BackupError(`${file} is no backup of this service.`);
  if (begins.version > FORMAT_VERSION) {
    throw new BackupError(
      `${file} was written by a later release of this service (format ${begins.version}); restore it with that.`,
    );
  }
}

function parsedAs<Schema extends z.ZodType>(schema: Schema, line: string): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
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
  store: Store,
  file: string,
  checks: DocumentChecks,
): Promise<BackupResult> {
  const result = await readBackup(file, checks);
  const indices = kind.options.map((name) => store.names[KINDS[name].index]).join(', ');
  const found = await storedCounts(store);
  if (kind.options.some((name) => name !== 'audit' && found[name] > 0)) {
    throw new BackupError(
      `There are ${inWords(found)} already; a backup is restored only where there are none. If an earlier restore ` +
        `into this installation was broken off, delete the indices ${indices}, and restore again.`,
    );
  }
  let done = 0;
  let page: object[] = [];
  const write = async () => {
    if (page.length > 0) await bulk(store.client, { body: page });
    done += page.length / 2;
    page = [];
  };
  try {
    // Within an index, OpenSearch keeps the order of a bulk request.
    for await (const { index, id, kept } of documentsIn(file, checks)) {
      const stored = KINDS[index].index;
      if (kept !== undefined) page.push({ create: { _index: store.names[stored], _id: id } }, kept);
      if (page.length / 2 >= documentsAtOnce(stored)) await write();
    }
    await write();
    // What comes next, such as a list of keys, finds all of it.
    await store.client.indices.refresh({ index: kind.options.map((name) => store.names[KINDS[name].index]) });
  } catch (error) {
    throw new BackupError(
      `Stopped after ${done} documents: ${String(error)} Delete the indices ${indices} and restore again.`,
      { cause: error },
    );
  }
  return result;
}

async function storedCounts({ client, names }: Store): Promise<BackupCounts> {
  const counts = noDocuments();
  for (const name of kind.options) {
    const index = names[KINDS[name].index];
    await client.indices.refresh({ index });
    counts[name] = await countDocuments(client, index);
  }
  return counts;
}

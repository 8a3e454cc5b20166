import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { SERVICE_VERSION } from '../config.ts';
import type { DocumentChecks, StoredIndex } from './collection.ts';
import type { BadDocument } from './stored.ts';

/** A backup can't be used, or not here. The message says why. */
export class BackupError extends Error {}

const FORMAT = 'ohio-license-verification';
/**
 * Version 2 has the audit log, too, version 3 the changes, and version 4 the saved records. The earlier ones are still
 * read.
 */
const FORMAT_VERSION = 4;

/** The first line; of a later version nothing but its number is known. */
const anyHeader = z.looseObject({ backup: z.literal(FORMAT), version: z.int().positive() });
const header = z.strictObject({
  backup: z.literal(FORMAT),
  version: z.int().min(1).max(FORMAT_VERSION),
  at: z.iso.datetime(),
  service_version: z.string(),
});

/** The index of each kind of document, by what a backup calls it, in the order in which a backup has them. */
export const BACKED_UP = {
  accounts: 'accounts',
  'api-keys': 'apiKeys',
  publications: 'ledger',
  audit: 'audit',
  changes: 'changes',
  'saved-records': 'savedRecords',
} as const satisfies Record<string, StoredIndex>;

type BackedUpName = keyof typeof BACKED_UP;

const NAMES = ['accounts', 'api-keys', 'changes', 'publications', 'audit', 'saved-records'] as const;

/**
 * The kinds of documents in the order in which a backup has them. The ledger comes after the changes: a publication that
 * goes on meanwhile must not leave changes of an epoch that the ledger would give to another one.
 */
export const BACKED_UP_NAMES: readonly BackedUpName[] = NAMES;

/** A line between the first and the last: a document, its index named without the installation's prefix. */
const backupDocument = z.strictObject({
  index: z.enum(NAMES),
  id: z.string(),
  source: z.looseObject({}),
});

/** A document of a backup. */
export type BackupDocument = z.output<typeof backupDocument>;

const backupCounts = z.strictObject({
  accounts: z.int().default(0),
  'api-keys': z.int(),
  publications: z.int(),
  audit: z.int().default(0),
  changes: z.int().default(0),
  'saved-records': z.int().default(0),
});

/** How many documents a backup has of each kind. */
export type BackupCounts = z.output<typeof backupCounts>;

/** The counts before the first document. */
export function noDocuments(): BackupCounts {
  return { accounts: 0, 'api-keys': 0, publications: 0, audit: 0, changes: 0, 'saved-records': 0 };
}

/** The last line; the hash is of all the bytes before it. */
const footer = z.strictObject({ documents: backupCounts, sha256: z.string() });

/** The first line of a backup that is written now. */
export function newHeader(): z.output<typeof header> {
  return {
    backup: FORMAT,
    version: FORMAT_VERSION,
    at: new Date().toISOString(),
    service_version: SERVICE_VERSION,
  };
}

/** A backup that is whole and as it was written. */
export interface Backup {
  readonly at: string;
  /** How many valid documents it has. */
  readonly counts: BackupCounts;
  /** What it has that is not valid, by the name of its index in the backup. */
  readonly leftOut: readonly BadDocument[];
  /** Reads the valid documents, in the order in which they were written to their index. */
  readonly documents: () => AsyncIterable<BackupDocument>;
}

/**
 * Reads a backup and checks all of it. It is read line by line: a backup may have more changes than fit in memory.
 *
 * @throws {BackupError} when the file is no backup, of a later version, cut off or altered
 */
export async function readBackup(file: string, checks: DocumentChecks): Promise<Backup> {
  const { first, last, sha256 } = await endsOf(file);
  const { at } = headerOf(file, first);
  const footer = footerOf(file, last);
  if (sha256 !== footer.sha256) {
    throw new BackupError(`${file} was altered or damaged after it was written; use another backup.`);
  }
  const [found, counts] = [noDocuments(), noDocuments()];
  const leftOut: BadDocument[] = [];
  for await (const { index, id, kept, problem } of documentsIn(file, checks)) {
    found[index] += 1;
    if (kept !== undefined) counts[index] += 1;
    if (problem !== undefined) leftOut.push({ index, id, problem });
  }
  for (const name of BACKED_UP_NAMES) {
    if (found[name] !== footer.documents[name]) {
      throw new BackupError(
        `${file} has ${found[name]} documents of ${name}, not ${footer.documents[name]} as it says.`,
      );
    }
  }
  return { at, counts, leftOut, documents: () => validDocumentsIn(file, checks) };
}

async function* validDocumentsIn(
  file: string,
  checks: DocumentChecks,
): AsyncGenerator<BackupDocument, void, undefined> {
  for await (const { index, id, kept } of documentsIn(file, checks)) {
    if (kept !== undefined) yield backupDocument.parse({ index, id, source: kept });
  }
}

async function* documentsIn(file: string, checks: DocumentChecks) {
  let number = 0;
  for await (const { line, isLast } of linesOf(file)) {
    number += 1;
    if (number === 1 || isLast) continue;
    const document = parsedAs(backupDocument, line);
    if (document === undefined)
      throw new BackupError(`Line ${number} of ${file} is no document of a backup.`);
    const { index, id, source } = document;
    yield { index, id, ...checks[BACKED_UP[index]](source, id) };
  }
}

/** The first and the last line, and the hash of everything before the last. */
async function endsOf(file: string): Promise<{ first: string; last: string; sha256: string }> {
  const hash = createHash('sha256');
  let [first, last]: (string | undefined)[] = [];
  for await (const { line, isLast } of linesOf(file)) {
    first ??= line;
    if (isLast) last = line;
    else hash.update(`${line}\n`);
  }
  return { first: first ?? '', last: last ?? '', sha256: hash.digest('hex') };
}

/** The lines of a file. Text after the last line break is a line that is not the last. */
async function* linesOf(file: string): AsyncGenerator<{ line: string; isLast: boolean }, void, undefined> {
  const handle = await open(file).catch((error: unknown) => {
    throw new BackupError(`The backup ${file} can't be read: ${String(error)}`);
  });
  try {
    const isEnded = await endsWithLineBreak(handle);
    let before: string | undefined;
    const input = handle.createReadStream({ start: 0, autoClose: false, encoding: 'utf8' });
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (before !== undefined) yield { line: before, isLast: false };
      before = line;
    }
    if (before !== undefined) yield { line: before, isLast: isEnded };
  } finally {
    await handle.close();
  }
}

const LINE_BREAK = 10;

async function endsWithLineBreak(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === LINE_BREAK;
}

function headerOf(file: string, first: string): z.output<typeof header> {
  const begins = parsedAs(anyHeader, first);
  if (begins === undefined) throw new BackupError(`${file} is no backup of this service.`);
  if (begins.version > FORMAT_VERSION) {
    throw new BackupError(
      `${file} was written by a later release of this service (format ${begins.version}); restore it with that.`,
    );
  }
  const parsed = parsedAs(header, first);
  if (parsed === undefined)
    throw new BackupError(`The first line of ${file} is damaged; use another backup.`);
  return parsed;
}

function footerOf(file: string, line: string): z.output<typeof footer> {
  const parsed = parsedAs(footer, line);
  if (parsed === undefined) throw new BackupError(`${file} is cut off: its last line is missing.`);
  return parsed;
}

function parsedAs<Schema extends z.ZodType>(schema: Schema, line: string): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** What a backup has, for the operator. */
export function inWords(counts: BackupCounts): string {
  const { accounts, 'api-keys': keys, publications, audit, changes, 'saved-records': records } = counts;
  return (
    `${accounts} accounts, ${keys} API keys, ${publications} entries of the ledger and ${audit} of the audit log, ` +
    `${changes} changes, and ${records} saved records`
  );
}

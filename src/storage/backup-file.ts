import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
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

/** The first line. Of a later version, no more is known than its number. */
const header = z.looseObject({ backup: z.literal(FORMAT), version: z.int().positive() });

/**
 * The kinds of documents in the order in which a backup has them. The ledger comes after the changes: a publication that
 * goes on meanwhile must not leave changes of an epoch that the ledger would give to another one.
 */
export const BACKED_UP_NAMES = [
  'accounts',
  'api-keys',
  'changes',
  'publications',
  'audit',
  'saved-records',
] as const;

/** The index of each kind of document. */
export const BACKED_UP = {
  accounts: 'accounts',
  'api-keys': 'apiKeys',
  publications: 'ledger',
  audit: 'audit',
  changes: 'changes',
  'saved-records': 'savedRecords',
} as const satisfies Record<(typeof BACKED_UP_NAMES)[number], StoredIndex>;

/** A line between the first and the last: a document, its index named without the installation's prefix. */
const backupDocument = z.strictObject({
  index: z.enum(BACKED_UP_NAMES),
  id: z.string(),
  source: z.looseObject({}),
});

/** A valid document of a backup. */
export interface BackupDocument extends Pick<z.output<typeof backupDocument>, 'index' | 'id'> {
  readonly source: object;
}

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
  const at = new Date().toISOString();
  return { backup: FORMAT, version: FORMAT_VERSION, at, service_version: SERVICE_VERSION };
}

/**
 * Reads a backup and checks all of it. It is read line by line: a backup may have more changes than fit in memory.
 *
 * @returns how many valid documents of each kind it has, what is not valid, and a function that reads the valid ones in
 * the order in which they were written to their index
 * @throws {BackupError} when the file is no backup, of a later version, cut off or altered
 */
export async function readBackup(file: string, checks: DocumentChecks) {
  const { first, last, sha256, bytes } = await endsOf(file);
  checkHeader(file, first);
  const ends = parsedAs(footer, last);
  if (ends !== undefined && sha256 !== ends.sha256) {
    throw new BackupError(`${file} was altered or damaged after it was written; use another backup.`);
  }
  if (ends === undefined || (await stat(file)).size < bytes) {
    throw new BackupError(`${file} is cut off: its last line is missing.`);
  }
  const [found, counts] = [noDocuments(), noDocuments()];
  const leftOut: BadDocument[] = [];
  for await (const { index, id, kept, problem } of documentsIn(file, checks)) {
    found[index] += 1;
    if (kept !== undefined) counts[index] += 1;
    if (problem !== undefined) leftOut.push({ index, id, problem });
  }
  for (const name of BACKED_UP_NAMES) {
    if (found[name] !== ends.documents[name]) {
      throw new BackupError(
        `${file} has ${found[name]} documents of ${name}, not ${ends.documents[name]} as it says.`,
      );
    }
  }
  return { counts, leftOut, documents: () => validDocumentsIn(file, checks) };
}

async function* validDocumentsIn(file: string, checks: DocumentChecks): AsyncIterable<BackupDocument> {
  for await (const { index, id, kept } of documentsIn(file, checks))
    if (kept !== undefined) yield { index, id, source: kept };
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

/** The first and the last line, the hash of everything before the last, and how many bytes all lines have. */
async function endsOf(file: string) {
  const hash = createHash('sha256');
  let [first, last, bytes] = ['', '', 0];
  for await (const { line, isLast } of linesOf(file)) {
    if (bytes === 0) first = line;
    if (isLast) last = line;
    else hash.update(`${line}\n`);
    bytes += Buffer.byteLength(line) + 1;
  }
  return { first, last, sha256: hash.digest('hex'), bytes };
}

async function* linesOf(file: string): AsyncGenerator<{ line: string; isLast: boolean }, void, undefined> {
  const handle = await open(file).catch((error: unknown) => {
    throw new BackupError(`The backup ${file} can't be read: ${String(error)}`);
  });
  try {
    let before: string | undefined;
    for await (const line of handle.readLines({ autoClose: false })) {
      if (before !== undefined) yield { line: before, isLast: false };
      before = line;
    }
    if (before !== undefined) yield { line: before, isLast: true };
  } finally {
    await handle.close();
  }
}

function checkHeader(file: string, line: string): void {
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

/** What a backup has, for the operator. */
export function inWords(counts: BackupCounts): string {
  const { accounts, 'api-keys': keys, publications, audit, changes, 'saved-records': records } = counts;
  return (
    `${accounts} accounts, ${keys} API keys, ${publications} entries of the ledger and ${audit} of the audit log, ` +
    `${changes} changes, and ${records} saved records`
  );
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { SERVICE_VERSION } from '../config.ts';
import { auditEntry } from './audit-log.ts';

/** A backup can't be used, or not here. The message says why. */
export class BackupError extends Error {}

const FORMAT = 'ohio-license-verification';
/** Version 2 has the audit log, too. Version 1 is still read. */
const FORMAT_VERSION = 2;

/** The first line; of a later version nothing but its number is known. */
const anyHeader = z.looseObject({ backup: z.literal(FORMAT), version: z.int().positive() });
const header = z.strictObject({
  backup: z.literal(FORMAT),
  version: z.int().min(1).max(FORMAT_VERSION),
  at: z.iso.datetime(),
  service_version: z.string(),
});

const accountDocument = z.strictObject({
  index: z.literal('accounts'),
  id: z.string(),
  source: z.looseObject({ account: z.string(), verified_by: z.string(), verified_at: z.string() }),
});

const keyDocument = z
  .strictObject({
    index: z.literal('api-keys'),
    id: z.string(),
    source: z.looseObject({
      id: z.string(),
      account: z.string(),
      sha256: z.string(),
      revoked_at: z.string().nullable(),
    }),
  })
  .refine(({ id, source }) => id === source.sha256, 'a key is stored under its hash');

const ledgerDocument = z.strictObject({
  index: z.literal('publications'),
  id: z.string(),
  source: z.union([
    z.looseObject({ publication: z.string(), at: z.string(), event: z.string() }),
    z.looseObject({ epoch: z.int() }),
  ]),
});

const auditDocument = z.strictObject({ index: z.literal('audit'), id: z.string(), source: auditEntry });

/** A line between the first and the last: a document, its index named without the installation's prefix. */
const backupDocument = z.discriminatedUnion('index', [
  accountDocument,
  keyDocument,
  ledgerDocument,
  auditDocument,
]);

/** A document of a backup. */
export type BackupDocument = z.output<typeof backupDocument>;

const backupCounts = z.strictObject({
  accounts: z.int().default(0),
  'api-keys': z.int(),
  publications: z.int(),
  audit: z.int().default(0),
});

/** How many documents a backup has of the accounts, the API keys, the ledger of publications with its epoch, and the audit log. */
export type BackupCounts = z.output<typeof backupCounts>;

/** The last line; the hash is of all the bytes before it. */
const footer = z.strictObject({ documents: backupCounts, sha256: z.string() });

/** The kinds of documents in the order in which a backup has them. */
export const BACKED_UP_NAMES = [
  'accounts',
  'api-keys',
  'publications',
  'audit',
] as const satisfies readonly (keyof BackupCounts)[];

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
  readonly counts: BackupCounts;
  /** In the order in which they were written to their index. */
  readonly documents: readonly BackupDocument[];
}

/**
 * Reads a backup and checks all of it.
 *
 * @throws {BackupError} when the file is no backup, of a later version, cut off or altered
 */
export async function readBackup(file: string): Promise<Backup> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new BackupError(`The backup ${file} can't be read: ${String(error)}`);
  });
  const { at } = headerOf(file, bytes);
  const footerBegins = bytes.lastIndexOf('\n', -2) + 1;
  const { documents: counts, sha256 } = footerOf(file, bytes.subarray(footerBegins));
  const content = bytes.subarray(0, footerBegins);
  if (createHash('sha256').update(content).digest('hex') !== sha256) {
    throw new BackupError(`${file} was altered or damaged after it was written; use another backup.`);
  }

  const documents = linesOf(content)
    .slice(1)
    .map((line, index) => {
      const document = parsedAs(backupDocument, line);
      if (document === undefined) {
        throw new BackupError(
          `Line ${index + 2} of ${file} is no account, no API key, and neither of the ledger nor of the audit log.`,
        );
      }
      return document;
    });
  for (const name of BACKED_UP_NAMES) {
    const found = documents.filter(({ index }) => index === name).length;
    if (found !== counts[name]) {
      throw new BackupError(`${file} has ${found} documents of ${name}, not ${counts[name]} as it says.`);
    }
  }
  return { at, counts, documents };
}

function headerOf(file: string, bytes: Buffer): z.output<typeof header> {
  const [first = ''] = linesOf(bytes.subarray(0, bytes.indexOf('\n') + 1));
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

function footerOf(file: string, bytes: Buffer): z.output<typeof footer> {
  const [line = ''] = linesOf(bytes);
  const parsed = parsedAs(footer, line);
  if (parsed === undefined) throw new BackupError(`${file} is cut off: its last line is missing.`);
  return parsed;
}

/** Complete lines: text after the last line break is none. */
function linesOf(bytes: Buffer): string[] {
  return bytes.toString('utf8').split('\n').slice(0, -1);
}

function parsedAs<Schema extends z.ZodType>(schema: Schema, line: string): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** What a backup has, for the operator. */
export function inWords({ accounts, 'api-keys': keys, publications: entries, audit }: BackupCounts): string {
  return `${accounts} accounts, ${keys} API keys, ${entries} entries of the ledger and ${audit} of the audit log`;
}

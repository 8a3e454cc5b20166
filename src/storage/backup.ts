import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { SERVICE_VERSION } from '../config.ts';
import { auditEntry } from './audit-log.ts';
import { countDocuments, search } from './checked-search.ts';
import type { IndexNames } from './index-names.ts';
import type { Store } from './store.ts';

/** A backup can't be used, or not here. The message says why. */
class BackupError extends Error {}

const FORMAT = 'ohio-license-verification';
/** Version 2 has the audit log, too. Version 1 is still read. */
const FORMAT_VERSION = 2;
const OWNER_ALONE = 0o600;

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

type BackupDocument = z.output<typeof backupDocument>;

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

const BACKED_UP = {
  accounts: 'accounts',
  'api-keys': 'apiKeys',
  publications: 'ledger',
  audit: 'audit',
} as const satisfies Record<keyof BackupCounts, keyof IndexNames>;
const BACKED_UP_NAMES = [
  'accounts',
  'api-keys',
  'publications',
  'audit',
] as const satisfies readonly (keyof BackupCounts)[];

/** A backup that is whole and as it was written. */
export interface Backup {
  readonly at: string;
  readonly counts: BackupCounts;
  /** In the order in which they were written to their index. */
  readonly documents: readonly BackupDocument[];
}

/**
 * Writes the accounts, the API keys, the ledger and the audit log to a file that only its owner may read. The file gets
 * its name once it is on disk and has been read back; until then, an existing file of that name stays as it was.
 *
 * @throws {BackupError} when the indices have something that could not be restored
 */
export async function writeBackup(store: Store, file: string): Promise<BackupCounts> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  try {
    await writePart(store, part);
    const { counts } = await readBackup(part);
    await rename(part, file);
    await syncToDisk(dirname(file));
    return counts;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function writePart(store: Store, part: string): Promise<void> {
  const handle = await open(part, 'wx', OWNER_ALONE);
  try {
    const lines = hashedLines(handle);
    const at = new Date().toISOString();
    await lines.write([{ backup: FORMAT, version: FORMAT_VERSION, at, service_version: SERVICE_VERSION }]);
    const documents: BackupCounts = { accounts: 0, 'api-keys': 0, publications: 0, audit: 0 };
    for (const name of BACKED_UP_NAMES) {
      for await (const page of pagesOf(store.client, store.names[BACKED_UP[name]])) {
        await lines.write(page.map(({ _id: id, _source: source }) => ({ index: name, id, source })));
        documents[name] += page.length;
      }
    }
    await lines.write([{ documents, sha256: lines.sha256() }]);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes values as lines of JSON and hashes them. */
function hashedLines(handle: FileHandle) {
  const hash = createHash('sha256');
  return {
    write: async (values: readonly unknown[]): Promise<void> => {
      const text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
      hash.update(text);
      await handle.appendFile(text);
    },
    sha256: (): string => hash.copy().digest('hex'),
  };
}

/** Flushes a folder, so that its new names survive a loss of power. */
async function syncToDisk(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const PAGE_SIZE = 1000;
const PAGE_KEPT = '1m';

const pageResponse = z.object({
  hits: z.object({
    total: z.object({ value: z.int() }),
    hits: z.array(
      z.object({ _id: z.string(), _source: z.record(z.string(), z.unknown()), sort: z.array(z.int()) }),
    ),
  }),
});

type StoredDocument = z.output<typeof pageResponse>['hits']['hits'][number];

/**
 * Every document of an index as of now, in the order in which they were written.
 *
 * @throws {Error} when fewer or more were read than there are
 */
async function* pagesOf(client: Client, index: string): AsyncGenerator<readonly StoredDocument[]> {
  await client.indices.refresh({ index });
  const { body: pointInTime } = await client.createPit({
    index: [index],
    keep_alive: PAGE_KEPT,
    allow_partial_pit_creation: false,
  });
  try {
    let read = 0;
    let after: StoredDocument['sort'] | undefined;
    for (;;) {
      const response = await search(client, pageResponse, {
        body: {
          pit: { id: pointInTime.pit_id, keep_alive: PAGE_KEPT },
          size: PAGE_SIZE,
          track_total_hits: true,
          sort: [{ _seq_no: 'asc' }, { _shard_doc: 'asc' }],
          ...(after === undefined ? {} : { search_after: after }),
        },
      });
      const { total, hits } = response.hits;
      const last = hits.at(-1);
      if (last === undefined) {
        if (read !== total.value)
          throw new Error(`${index} has ${total.value} documents; ${read} were read.`);
        return;
      }
      read += hits.length;
      after = last.sort;
      yield hits;
    }
  } finally {
    // Whether or not this is heard, it ends by itself; what was read, or went wrong, counts.
    await client.deletePit({ body: { pit_id: [pointInTime.pit_id] } }).catch(() => undefined);
  }
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

/**
 * Restores a backup into the indices that `prepareIndices` made, the documents one after the other: the ledger
 * is read in the order in which it was written. It takes an empty installation, so nothing is ever overwritten; only
 * an audit log may be there, to which that of the backup is added.
 *
 * @throws {BackupError} before anything is written, when the file can't be used or there are keys or a ledger
 * already; later, with what was done, when OpenSearch fails
 */
export async function restoreBackup(store: Store, file: string): Promise<BackupCounts> {
  const { documents, counts } = await readBackup(file);
  const found = await storedCounts(store);
  if (BACKED_UP_NAMES.some((name) => name !== 'audit' && found[name] > 0)) {
    throw new BackupError(
      `There are ${inWords(found)} already; a backup is restored only where there are none.`,
    );
  }
  await createDocuments(store, documents);
  const restored = await storedCounts(store);
  if (BACKED_UP_NAMES.some((name) => restored[name] !== found[name] + counts[name])) {
    throw new BackupError(
      `There are now ${inWords(restored)}; the backup has ${inWords(counts)}: something else writes to them.`,
    );
  }
  return restored;
}

/** What a backup has, for the operator. */
export function inWords({ accounts, 'api-keys': keys, publications: entries, audit }: BackupCounts): string {
  return `${accounts} accounts, ${keys} API keys, ${entries} entries of the ledger and ${audit} of the audit log`;
}

async function createDocuments(store: Store, documents: readonly BackupDocument[]): Promise<void> {
  for (const [done, { index, id, source }] of documents.entries()) {
    try {
      await store.client.index({ index: store.names[BACKED_UP[index]], id, op_type: 'create', body: source });
    } catch (error) {
      const indices = BACKED_UP_NAMES.map((name) => store.names[BACKED_UP[name]]).join(', ');
      throw new BackupError(
        `Stopped after ${done} of ${documents.length} documents: ${String(error)} ` +
          `Delete the indices ${indices} and restore again.`,
        { cause: error },
      );
    }
  }
}

async function storedCounts(store: Store): Promise<BackupCounts> {
  return {
    accounts: await documentsIn(store.client, store.names.accounts),
    'api-keys': await documentsIn(store.client, store.names.apiKeys),
    publications: await documentsIn(store.client, store.names.ledger),
    audit: await documentsIn(store.client, store.names.audit),
  };
}

async function documentsIn(client: Client, index: string): Promise<number> {
  await client.indices.refresh({ index });
  return countDocuments(client, index);
}

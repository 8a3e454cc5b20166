import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import {
  BACKED_UP,
  BACKED_UP_NAMES,
  type BackupCounts,
  type BackupDocument,
  BackupError,
  inWords,
  newHeader,
  noDocuments,
  readBackup,
} from './backup-file.ts';
import { countDocuments, pagesOf } from './checked-search.ts';
import type { DocumentChecks } from './collection.ts';
import type { Store } from './store.ts';
import type { BadDocument } from './stored.ts';

const OWNER_ALONE = 0o600;

/** What was written to a backup or restored, and what was left out because it is not valid. */
export interface BackupResult {
  readonly documents: BackupCounts;
  readonly leftOut: readonly BadDocument[];
}

/**
 * Writes the accounts, the API keys, the ledger, the audit log, the changes and the saved records to a file that only
 * its owner may read. What is not valid is left out. The file gets its name once it is on disk and has been read back;
 * until then, an existing file of that name stays as it was.
 */
export async function writeBackup(store: Store, file: string, checks: DocumentChecks): Promise<BackupResult> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  try {
    const leftOut = await writePart(store, part, checks);
    const { counts } = await readBackup(part, checks);
    await rename(part, file);
    await syncToDisk(dirname(file));
    return { documents: counts, leftOut };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function writePart(store: Store, part: string, checks: DocumentChecks): Promise<BadDocument[]> {
  const handle = await open(part, 'wx', OWNER_ALONE);
  const leftOut: BadDocument[] = [];
  try {
    const lines = hashedLines(handle);
    await lines.write([newHeader()]);
    const documents = noDocuments();
    for (const name of BACKED_UP_NAMES) {
      const key = BACKED_UP[name];
      const index = store.names[key];
      for await (const page of pagesOf(store.client, index)) {
        const valid = page.flatMap(({ _id: id, _source }) => {
          const { kept: source, problem } = checks[key](_source, id);
          if (problem !== undefined) leftOut.push({ index, id, problem });
          return source === undefined ? [] : [{ index: name, id, source }];
        });
        await lines.write(valid);
        documents[name] += valid.length;
      }
    }
    await lines.write([{ documents, sha256: lines.sha256() }]);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return leftOut;
}

/** Writes values as lines of JSON and hashes them. */
function hashedLines(handle: FileHandle) {
  const hash = createHash('sha256');
  return {
    write: async (values: readonly unknown[]): Promise<void> => {
      const text = values.map(lineOf).join('');
      hash.update(text);
      await handle.appendFile(text);
    },
    sha256: (): string => hash.copy().digest('hex'),
  };
}

/** JSON on one line. As they are, U+2028 and U+2029 would end a line where the file is read. */
function lineOf(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
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
  const { documents, counts, leftOut } = await readBackup(file, checks);
  const found = await storedCounts(store);
  if (BACKED_UP_NAMES.some((name) => name !== 'audit' && found[name] > 0)) {
    throw new BackupError(
      `There are ${inWords(found)} already; a backup is restored only where there are none. If an earlier restore ` +
        `into this installation was broken off, delete the indices ${restoredIndices(store)}, and restore again.`,
    );
  }
  await createDocuments(store, documents());
  const restored = await storedCounts(store);
  if (BACKED_UP_NAMES.some((name) => restored[name] !== found[name] + counts[name])) {
    throw new BackupError(
      `There are now ${inWords(restored)}; the backup has ${inWords(counts)}: something else writes to them.`,
    );
  }
  return { documents: restored, leftOut };
}

const DOCUMENTS_A_REQUEST = 1000;

/** Creates the documents in their order: within an index, OpenSearch keeps the order of a bulk request. */
async function createDocuments(store: Store, documents: AsyncIterable<BackupDocument>): Promise<void> {
  let done = 0;
  let batch: BackupDocument[] = [];
  try {
    for await (const document of documents) {
      batch.push(document);
      if (batch.length < DOCUMENTS_A_REQUEST) continue;
      await createBatch(store, batch);
      done += batch.length;
      batch = [];
    }
    if (batch.length > 0) await createBatch(store, batch);
  } catch (error) {
    throw new BackupError(
      `Stopped after ${done} documents: ${String(error)} Delete the indices ${restoredIndices(store)} and restore again.`,
      { cause: error },
    );
  }
}

function restoredIndices({ names }: Store): string {
  return BACKED_UP_NAMES.map((name) => names[BACKED_UP[name]]).join(', ');
}

const bulkResponse = z.object({
  items: z.array(z.object({ create: z.object({ error: z.object({ reason: z.string() }).optional() }) })),
});

async function createBatch({ client, names }: Store, batch: readonly BackupDocument[]): Promise<void> {
  const { body } = await client.bulk({
    body: batch.flatMap(({ index, id, source }) => [
      { create: { _index: names[BACKED_UP[index]], _id: id } },
      source,
    ]),
  });
  const failed = bulkResponse.parse(body).items.find(({ create }) => create.error !== undefined);
  if (failed?.create.error !== undefined) throw new Error(failed.create.error.reason);
}

async function storedCounts({ client, names }: Store): Promise<BackupCounts> {
  const counts = noDocuments();
  for (const name of BACKED_UP_NAMES) {
    const index = names[BACKED_UP[name]];
    await client.indices.refresh({ index });
    counts[name] = await countDocuments(client, index);
  }
  return counts;
}

import { hash } from 'node:crypto';
import { z } from 'zod';
import { addTo, valueAt } from '../licenses/counts.ts';
import { numberKey } from '../licenses/fold.ts';
import { bulk, documentsById } from '../storage/checked-search.ts';
import { digestIndexName, type Store } from '../storage/store.ts';
import { BadDocumentError, checked } from '../storage/stored.ts';

/**
 * The number of parts of a digest. Two publications are compared part by part, so that neither digest must be in memory
 * as a whole.
 */
export const DIGEST_PARTS = 256;

const ID_LENGTH_BYTES = 2;
const RECORD_HASH_BYTES = 6;
const ROW_HASH_BYTES = 4;
const HASH_BYTES = RECORD_HASH_BYTES + ROW_HASH_BYTES;

/** The digest's entry for one license, about 27 bytes: the document id and the hashes of the record and its row. */
export interface DigestEntry {
  readonly id: string;
  /** The first bytes of the record's hash, in hexadecimal. */
  readonly record: string;
  readonly row: number;
}

/** @param text the record as `recordText` gives it */
export function recordHash(text: string): string {
  return hash('sha1', text).slice(0, 2 * RECORD_HASH_BYTES);
}

export type Digest = ReturnType<typeof emptyDigest>;

const MIN_GROWTH_BYTES = 8 * 1024;

/** Creates a digest without entries. Entries are added in the order in which the licenses are read. */
export function emptyDigest() {
  const emptyPart = () => ({ buffer: Buffer.alloc(0), length: 0 });
  const parts = new Map<number, ReturnType<typeof emptyPart>>();
  let bytes = 0;

  function add({ id, record, row }: DigestEntry): void {
    const part = valueAt(parts, partOf(id), emptyPart);
    const idBytes = Buffer.byteLength(id);
    const needed = part.length + ID_LENGTH_BYTES + idBytes + HASH_BYTES;
    const before = part.buffer.length;
    if (needed > before) {
      const larger = Buffer.allocUnsafeSlow(needed + Math.max(MIN_GROWTH_BYTES, before >> 2));
      part.buffer.copy(larger, 0, 0, part.length);
      part.buffer = larger;
      bytes += larger.length - before;
    }
    const { buffer } = part;
    let at = buffer.writeUInt16LE(idBytes, part.length);
    at += buffer.write(id, at);
    at += buffer.write(record, at, 'hex');
    part.length = buffer.writeUInt32LE(row, at);
  }

  /** The entries of one part as bytes. */
  function partAt(number: number): Buffer {
    const { buffer, length } = parts.get(number) ?? emptyPart();
    return buffer.subarray(0, length);
  }

  return {
    add,
    /** Removes entries. Each given entry removes one stored entry with the same id and record hash. */
    remove(entries: readonly Pick<DigestEntry, 'id' | 'record'>[]): void {
      const left = new Map<string, number>();
      for (const { id, record } of entries) addTo(left, record + id);
      for (const number of new Set(entries.map(({ id }) => partOf(id)))) {
        const before = partAt(number);
        parts.delete(number);
        for (const entry of digestEntries(before)) {
          const count = left.get(entry.record + entry.id) ?? 0;
          if (count > 0) left.set(entry.record + entry.id, count - 1);
          else add(entry);
        }
      }
    },
    /** All parts, in order. */
    parts: () => Array.from({ length: DIGEST_PARTS }, (_, number) => partAt(number)),
    /** The memory that the entries take outside the heap, in bytes. */
    bytes: (): number => bytes,
  };
}

export function* digestEntries(part: Buffer): Generator<DigestEntry, void, undefined> {
  for (const bytes of entriesIn(part)) yield entryOf(bytes);
}

/** Yields each entry as a Latin-1 string, with one character per byte. */
function* entriesIn(part: Buffer): Generator<string, void, undefined> {
  for (let at = 0; at < part.length; ) {
    const end = entryEnd(part, at);
    yield part.toString('latin1', at, end);
    at = end;
  }
}

function entryOf(bytes: string): DigestEntry {
  const entry = Buffer.from(bytes, 'latin1');
  const rowBegins = entry.length - ROW_HASH_BYTES;
  const recordBegins = rowBegins - RECORD_HASH_BYTES;
  return {
    id: entry.toString('utf8', ID_LENGTH_BYTES, recordBegins),
    record: entry.toString('hex', recordBegins, rowBegins),
    row: entry.readUInt32LE(rowBegins),
  };
}

/** @param part a complete part; `isWhole` checks parts that were read */
function entryEnd(part: Buffer, at: number): number {
  return at + ID_LENGTH_BYTES + part.readUInt16LE(at) + HASH_BYTES;
}

/** A license that differs between two publications, by its document id. */
export interface Difference {
  readonly license: string;
  readonly kind: 'added' | 'changed' | 'removed';
  /** Whether the license was read from the same row in both publications. */
  readonly isSameRow: boolean;
  /**
   * For a license that exists in only one of the publications: the license that exists only in the other and has the
   * same board and number key, if there is exactly one on each side.
   */
  readonly counterpart?: string | undefined;
}

/**
 * Compares one part of two digests. Yields added and changed licenses first, in the order of the later digest, then
 * removed ones.
 */
export function* differences(before: Buffer, after: Buffer): Generator<Difference, void, undefined> {
  const onlyBefore = new Set(entriesIn(before));
  // Nearly all licenses are the same in both digests, so only the others are decoded.
  const right = byId(entriesIn(after).filter((entry) => !onlyBefore.delete(entry)));
  const left = byId(onlyBefore);
  const removed = Map.groupBy(new Set(left.keys()).difference(right), licenseNumber);
  const added = Map.groupBy(new Set(right.keys()).difference(left), licenseNumber);
  const counterpart = (id: string) => {
    const number = licenseNumber(id);
    const [before = [], after = []] = [removed.get(number), added.get(number)];
    if (before.length > 1 || after.length > 1) return undefined;
    return id === before[0] ? after[0] : before[0];
  };
  for (const { id, record, row } of right.values()) {
    const old = left.get(id);
    left.delete(id);
    if (old === undefined)
      yield { license: id, kind: 'added', isSameRow: false, counterpart: counterpart(id) };
    else if (old.record !== record) yield { license: id, kind: 'changed', isSameRow: old.row === row };
  }
  for (const license of left.keys())
    yield { license, kind: 'removed', isSameRow: false, counterpart: counterpart(license) };
}

/** Returns the board's code and the number key, which stay the same however the State writes the number. */
function licenseNumber(id: string): string {
  const slash = id.indexOf('/');
  return id.slice(0, slash + 1) + numberKey(id.slice(slash + 1));
}

function byId(entries: Iterable<string>): Map<string, DigestEntry> {
  return new Map(Array.from(entries, entryOf).map((entry) => [entry.id, entry]));
}

/**
 * Returns the part that a license belongs to. It hashes the number key, so that both spellings of a number are in the
 * same part.
 */
function partOf(id: string): number {
  const key = licenseNumber(id);
  let sum = 0;
  for (let at = 0; at < key.length; at += 1) sum = (31 * sum + key.charCodeAt(at)) | 0;
  return Math.imul(sum, 0x9e3779b1) >>> 24;
}

/** The approximate size of a read or write request. With 2.6 million licenses, a part has about 0.4 MB. */
const REQUEST_BYTES = 4 * 2 ** 20;
/** The number of parts that the first request reads. Even with ten times the data, the request stays small enough. */
const FIRST_PARTS = 8;

/**
 * The ids differ from those of version 0.3.0, which hashed the number as written. So neither version reads the other's
 * parts.
 */
function partId(part: number): string {
  return `number-${part}`;
}

/** Stores the digest of a publication in an index that is kept as long as the licenses index. */
export async function writeDigest({ client, prefix }: Store, licensesIndex: string, digest: Digest) {
  const index = digestIndexName(prefix, licensesIndex);
  await client.indices.create({ index });
  const parts = digest.parts();
  const largest = parts.reduce((most, { length }) => Math.max(most, length), 1);
  const count = Math.ceil(REQUEST_BYTES / largest);
  for (let first = 0; first < DIGEST_PARTS; first += count) {
    const body = parts
      .slice(first, first + count)
      .flatMap((part, at) => [{ index: { _id: partId(first + at) } }, { entries: part.toString('base64') }]);
    await bulk(client, { index, body });
  }
  await client.indices.flush({ index, wait_if_ongoing: true });
}

/** Whether a publication has a digest. The first publications of version 0.2.0 have none. */
export async function hasDigest({ client, prefix }: Store, licensesIndex: string): Promise<boolean> {
  return (await client.indices.exists({ index: digestIndexName(prefix, licensesIndex) })).body;
}

const storedPart = z.object({
  entries: z
    .base64()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine(isWhole),
});

/** Whether a part ends at the end of an entry. A stored document may have been cut off. */
function isWhole(part: Buffer): boolean {
  let at = 0;
  while (at + ID_LENGTH_BYTES <= part.length) at = entryEnd(part, at);
  return at === part.length;
}

/**
 * Yields the parts of a publication's stored digest, in order. A digest of version 0.3.0 is divided into new parts in
 * memory.
 *
 * @throws {BadDocumentError} when there is no digest, or a part is missing or not valid
 */
export async function* readDigest(store: Store, licensesIndex: string) {
  const index = digestIndexName(store.prefix, licensesIndex);
  if (!(await hasDigest(store, licensesIndex)))
    throw new BadDocumentError({ index, id: partId(0), problem: 'there is no such index' });
  const isEarlier = (await store.client.exists({ index, id: '0' })).body;
  if (!isEarlier) return yield* readParts(store, index, partId);
  const digest = emptyDigest();
  for await (const part of readParts(store, index, String))
    for (const entry of digestEntries(part)) digest.add(entry);
  yield* digest.parts();
}

async function* readParts({ client, reportBad }: Store, index: string, idOf: (part: number) => string) {
  for (let [first, count] = [0, FIRST_PARTS]; first < DIGEST_PARTS; ) {
    const ids = Array.from({ length: Math.min(count, DIGEST_PARTS - first) }, (_, at) => idOf(first + at));
    const parts = await documentsById(client, { index, body: { ids } });
    let bytes = 0;
    for (const [at, id] of ids.entries()) {
      const { document, problem = '' } = checked(storedPart, parts[at]?._source);
      if (document === undefined) {
        reportBad({ index, id, problem });
        throw new BadDocumentError({ index, id, problem });
      }
      bytes += document.entries.length;
      yield document.entries;
    }
    first += ids.length;
    // All parts have about the same size, so the next request can read more.
    if (bytes < REQUEST_BYTES / 2) count *= 2;
  }
}

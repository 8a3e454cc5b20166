import { hash } from 'node:crypto';

/** How many parts a digest has. Two publications are compared part by part, so that neither is in memory whole. */
export const DIGEST_PARTS = 256;

const ID_LENGTH_BYTES = 2;
const RECORD_HASH_BYTES = 6;
const ROW_HASH_BYTES = 4;
const HASH_BYTES = RECORD_HASH_BYTES + ROW_HASH_BYTES;

/** What a digest has of a license: about 27 bytes. */
export interface DigestEntry {
  /** The license's document id. */
  readonly id: string;
  /** The beginning of the hash of its record, in hexadecimal. */
  readonly record: string;
  /** The hash of its row in the State's file. */
  readonly row: number;
}

/** The hash of a record. @param text the record as `recordText` gives it */
export function recordHash(text: string): string {
  return hash('sha1', text).slice(0, 2 * RECORD_HASH_BYTES);
}

/** A digest of a publication. */
export interface Digest {
  add(entry: DigestEntry): void;
  /** Replaces all entries of a license by one, or by none. */
  settle(id: string, entry: DigestEntry | undefined): void;
  /** The entries of one part as bytes. */
  part(number: number): Buffer;
  /** How much memory its entries take, outside of the heap. */
  bytes(): number;
}

const CHUNK_BYTES = 32 * 1024;

interface Part {
  readonly full: Buffer[];
  filling: Buffer;
  length: number;
  readonly settled: Map<string, DigestEntry | undefined>;
}

/** A digest without entries. They are added in the order in which the licenses are read. */
export function emptyDigest(): Digest {
  const parts = Array.from({ length: DIGEST_PARTS }, emptyPart);
  let bytes = 0;
  const partAt = (number: number) => {
    const part = parts[number];
    if (part === undefined) throw new RangeError(`A digest has no part ${number}.`);
    return part;
  };
  return {
    add: (entry) => {
      bytes += append(partAt(partOf(entry.id)), entry);
    },
    bytes: () => bytes,
    settle: (id, entry) => {
      partAt(partOf(id)).settled.set(id, entry);
    },
    part: (number) => {
      const part = partAt(number);
      return part.settled.size === 0 ? bytesOf(part) : bytesOf(settledPart(part));
    },
  };
}

function emptyPart(): Part {
  return { full: [], filling: Buffer.alloc(0), length: 0, settled: new Map() };
}

function bytesOf({ full, filling, length }: Part): Buffer {
  return Buffer.concat([...full, filling.subarray(0, length)]);
}

function settledPart(part: Part): Part {
  const copy = emptyPart();
  for (const entry of digestEntries(bytesOf(part))) if (!part.settled.has(entry.id)) append(copy, entry);
  for (const entry of part.settled.values()) if (entry !== undefined) append(copy, entry);
  return copy;
}

/** @returns how many bytes of memory it took */
function append(part: Part, { id, record, row }: DigestEntry): number {
  const idBytes = Buffer.byteLength(id);
  const needed = ID_LENGTH_BYTES + idBytes + HASH_BYTES;
  let taken = 0;
  if (part.length + needed > part.filling.length) {
    part.full.push(part.filling.subarray(0, part.length));
    taken = Math.max(CHUNK_BYTES, needed);
    part.filling = Buffer.allocUnsafeSlow(taken);
    part.length = 0;
  }
  const { filling } = part;
  let at = filling.writeUInt16LE(idBytes, part.length);
  at += filling.write(id, at);
  at += filling.write(record, at, 'hex');
  part.length = filling.writeUInt32LE(row, at);
  return taken;
}

/** The entries of one part. */
export function* digestEntries(part: Buffer): Generator<DigestEntry, void, undefined> {
  for (let at = 0; at < part.length; ) {
    const idBegins = at + ID_LENGTH_BYTES;
    const idEnds = idBegins + part.readUInt16LE(at);
    const recordEnds = idEnds + RECORD_HASH_BYTES;
    const rowEnds = recordEnds + ROW_HASH_BYTES;
    if (rowEnds > part.length) throw new Error('A part of a digest is cut off.');
    yield {
      id: part.toString('utf8', idBegins, idEnds),
      record: part.toString('hex', idEnds, recordEnds),
      row: part.readUInt32LE(recordEnds),
    };
    at = rowEnds;
  }
}

/** Whether a part that was read has whole entries. */
export function isWholePart(part: Buffer): boolean {
  try {
    for (const _ of digestEntries(part));
    return true;
  } catch {
    return false;
  }
}

/** The part that has a license: a hash of its id. */
function partOf(id: string): number {
  let sum = 0;
  for (let at = 0; at < id.length; at += 1) sum = (31 * sum + id.charCodeAt(at)) | 0;
  return Math.imul(sum, 0x9e3779b1) >>> 24;
}

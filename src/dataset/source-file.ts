import { isUtf8 as isUtf8Text } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import { crc32, createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { type Entry, openPromise as openZip, type ZipFile } from 'yauzl';
import { z } from 'zod';

/** How a file's bytes are to be read. Latin-1 is read as Windows-1252, its superset. */
export type Encoding = 'utf-8' | 'windows-1252';

/** What is known of a file after one pass over its bytes. */
export interface InspectedFile {
  readonly path: string;
  readonly name: string;
  /** Its size on disk. */
  readonly bytes: number;
  /** Of the file as it stands on disk, packed where it is. */
  readonly sha256: string;
  /** Of the text in it. */
  readonly encoding: Encoding;
}

/** A gzip or zip file that can't be unpacked, or a zip file without exactly one CSV file. */
export class BrokenSourceError extends Error {}

/** Small, so that what a chunk gives has been used before the garbage collector comes by (measured). */
const CHUNK_BYTES = 1 << 16;

/** Of a chunk that is only looked through, nothing is left for the garbage collector. */
const LOOKED_THROUGH_BYTES = 1 << 20;

/** A byte order mark of UTF-8 before text that is Latin-1 all the same. */
const MARK_AS_LATIN1 = /^\u00ef\u00bb\u00bf/;

/**
 * Hashes a file and detects its encoding: UTF-8, or Latin-1 where the bytes are not UTF-8. A gzip file, or a zip
 * file with one CSV file in it, is unpacked for that; its first bytes decide what it is, not its name.
 *
 * @throws {BrokenSourceError} when it can't be unpacked to its end
 */
export async function inspectFile(path: string): Promise<InspectedFile> {
  const hash = createHash('sha256');
  const utf8 = utf8Check();
  let bytes = 0;
  let isUtf8 = true;
  const packing = await packingOf(path);
  for await (const chunk of plainContent(path, { chunkBytes: LOOKED_THROUGH_BYTES })) {
    hash.update(chunk);
    bytes += chunk.length;
    if (packing === 'plain') isUtf8 &&= utf8.takes(chunk);
  }
  if (packing !== 'plain') {
    for await (const chunk of contentOf(path, packing)) isUtf8 &&= utf8.takes(chunk);
  }
  const encoding = isUtf8 && utf8.isWhole() ? 'utf-8' : 'windows-1252';
  return { path, name: basename(path), bytes, sha256: hash.digest('hex'), encoding };
}

/** Checks chunks as one text (measured: twenty times as fast as to decode them). */
function utf8Check() {
  let cut = Buffer.alloc(0);
  return {
    takes(chunk: Buffer): boolean {
      const bytes = cut.length === 0 ? chunk : Buffer.concat([cut, chunk]);
      const end = endOfLastCharacter(bytes);
      cut = Buffer.from(bytes.subarray(end));
      return isUtf8Text(bytes.subarray(0, end));
    },
    /** Whether no character is cut off at the end. */
    isWhole: () => cut.length === 0,
  };
}

/** Where the last character ends that is not cut off. */
function endOfLastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0x80 && byte < 0xc0) continue;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/**
 * The file's text in chunks of about 128 KB, unpacked, a byte order mark left off.
 *
 * @param onBytes called after each chunk with how many more bytes have been read from disk
 * @throws {BrokenSourceError} when it can't be unpacked, which may show only at its end
 */
export async function* fileText(
  file: Pick<InspectedFile, 'path' | 'encoding'>,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder(file.encoding);
  let isStart = true;
  for await (const chunk of contentOf(file.path, await packingOf(file.path), onBytes)) {
    const text = decoder.decode(chunk, { stream: true });
    yield isStart ? text.replace(MARK_AS_LATIN1, '') : text;
    isStart = false;
  }
  yield decoder.decode();
}

type Packing = 'plain' | 'gzip' | 'zip';

/** How gzip files begin, and zip files: with an entry, without one, as one of several parts. */
const PACKED: readonly (readonly [string, Packing])[] = [
  ['\x1f\x8b', 'gzip'],
  ['PK\x03\x04', 'zip'],
  ['PK\x05\x06', 'zip'],
  ['PK\x07\x08', 'zip'],
];

async function packingOf(path: string): Promise<Packing> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.toString('latin1', 0, bytesRead);
    return PACKED.find(([magic]) => start.startsWith(magic))?.[1] ?? 'plain';
  } finally {
    await file.close();
  }
}

type Content = AsyncGenerator<Buffer, void, undefined>;

function contentOf(path: string, packing: Packing, onBytes?: (bytes: number) => void): Content {
  if (packing === 'plain') return plainContent(path, { onBytes });
  return packing === 'gzip' ? gzipContent(path, onBytes) : zipContent(path, onBytes);
}

/** Each chunk is good until the next is asked for: all are read into the same memory. */
async function* plainContent(
  path: string,
  {
    chunkBytes = CHUNK_BYTES,
    onBytes,
  }: { chunkBytes?: number; onBytes?: ((bytes: number) => void) | undefined },
): Content {
  const file = await open(path);
  const memory = Buffer.allocUnsafe(chunkBytes);
  try {
    for (;;) {
      const { bytesRead } = await file.read(memory);
      if (bytesRead === 0) return;
      yield memory.subarray(0, bytesRead);
      onBytes?.(bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function* gzipContent(path: string, onBytes?: (bytes: number) => void): Content {
  try {
    const disk = createReadStream(path, { highWaterMark: CHUNK_BYTES });
    yield* inflated(disk, createGunzip({ chunkSize: CHUNK_BYTES }), onBytes);
  } catch (error) {
    throw unreadable(path, 'gzip', error);
  }
}

/** The content of the one CSV file in a zip file, compared with the size and checksum that the zip names. */
async function* zipContent(path: string, onBytes?: (bytes: number) => void): Content {
  try {
    const csv = await csvInZip(path);
    let size = 0;
    let checksum = 0;
    for await (const chunk of entryContent(path, csv, onBytes)) {
      size += chunk.length;
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
    if (size !== csv.size) throw new Error(`${csv.name} has ${size} bytes, not ${csv.size}`);
    if (checksum !== csv.checksum) throw new Error(`the checksum of ${csv.name} is wrong`);
  } catch (error) {
    throw unreadable(path, 'zip', error);
  }
}

/** Where a file stands in a zip file, and what it must be once unpacked. */
interface ZippedFile {
  readonly name: string;
  readonly start: number;
  readonly packedSize: number;
  readonly isDeflated: boolean;
  readonly size: number;
  readonly checksum: number;
}

async function* entryContent(path: string, file: ZippedFile, onBytes?: (bytes: number) => void): Content {
  if (file.packedSize === 0) return;
  const { start } = file;
  const disk = createReadStream(path, {
    start,
    end: start + file.packedSize - 1,
    highWaterMark: CHUNK_BYTES,
  });
  if (file.isDeflated) {
    yield* inflated(disk, createInflateRaw({ chunkSize: CHUNK_BYTES }), onBytes);
    return;
  }
  for await (const chunk of disk) {
    yield chunk;
    onBytes?.(chunk.length);
  }
}

async function* inflated(
  disk: ReadStream,
  inflate: Gunzip | InflateRaw,
  onBytes?: (bytes: number) => void,
): Content {
  let reported = 0;
  try {
    for await (const chunk of pipeline(disk, inflate, () => undefined)) {
      yield chunk;
      onBytes?.(disk.bytesRead - reported);
      reported = disk.bytesRead;
    }
  } finally {
    disk.destroy();
  }
  // zlib passes over what follows a zero byte after the end, though it may be the rest of the rows.
  if (inflate.bytesWritten < disk.bytesRead) throw new Error('something follows after its end');
}

async function csvInZip(path: string): Promise<ZippedFile> {
  const zip = await openZip(path, { autoClose: false });
  try {
    const entry = await csvEntry(basename(path), zip);
    if (!entry.canDecodeFileData()) {
      const how = entry.isEncrypted() ? 'encrypted' : `compressed by method ${entry.compressionMethod}`;
      throw new Error(`${entry.fileName} is ${how}`);
    }
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    return {
      name: entry.fileName,
      start: fileDataStart,
      packedSize: entry.compressedSize,
      isDeflated: entry.isCompressed(),
      size: entry.uncompressedSize,
      checksum: entry.crc32,
    };
  } finally {
    zip.close();
  }
}

async function csvEntry(zipName: string, zip: ZipFile): Promise<Entry> {
  let found: Entry | undefined;
  for await (const entry of zip.eachEntry()) {
    if (!isCsv(entry.fileName)) continue;
    if (found !== undefined) {
      const both = `${found.fileName} and ${entry.fileName}`;
      throw new BrokenSourceError(`${zipName} holds more than one .csv file (${both}); pack each alone.`);
    }
    found = entry;
  }
  if (found === undefined) {
    throw new BrokenSourceError(`${zipName} holds no .csv file; pack the one to read.`);
  }
  return found;
}

/** Macs add to each file `a.csv` a `__MACOSX/._a.csv` with its icon and the like. */
function isCsv(name: string): boolean {
  return name.toLowerCase().endsWith('.csv') && !name.startsWith('__MACOSX/');
}

/** What the errors of Node and of the zip library have; `syscall` those of the disk alone. */
const failure = z.object({ message: z.string(), syscall: z.string().optional() });

/** The error to be thrown for one that arose while unpacking: those of the disk as they are. */
function unreadable(path: string, packing: Packing, error: unknown): unknown {
  const failed = failure.safeParse(error);
  if (error instanceof BrokenSourceError || !failed.success || failed.data.syscall !== undefined)
    return error;
  const [reason] = failed.data.message.split('. ');
  return new BrokenSourceError(
    `${basename(path)} can't be read as a ${packing} file (${reason}); fetch or pack it again.`,
    { cause: error },
  );
}

const sampleManifest = z.object({
  generated: z.literal(true),
  sha256: z.object({ individual: z.string(), business: z.string() }),
});

/** Whether the file is one that `licenses sample-data` wrote: the manifest beside it names its hash. */
export async function isGeneratedSample(file: InspectedFile): Promise<boolean> {
  try {
    const text = await readFile(join(dirname(file.path), 'sample.json'), 'utf8');
    const { sha256 } = sampleManifest.parse(JSON.parse(text));
    return sha256.individual === file.sha256 || sha256.business === file.sha256;
  } catch {
    return false;
  }
}

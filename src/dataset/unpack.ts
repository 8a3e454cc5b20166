import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import { type Entry, openPromise as openZip, type ZipFile } from 'yauzl';
import { z } from 'zod';

/** A gzip or zip file that can't be unpacked, or a zip file without exactly one CSV file. */
export class BrokenSourceError extends Error {}

/** A file's bytes in chunks. A chunk is valid until the next one is requested. */
type Chunks = AsyncGenerator<Buffer, void, undefined>;

/** Called after each chunk with how many more bytes have been read from disk. */
type OnBytes = ((bytes: number) => void) | undefined;

/** So small that the rows of a chunk have been processed before the garbage collector runs (measured). */
const CHUNK_BYTES = 1 << 16;

/** The first bytes of gzip files, and of zip files with entries, without entries, and in several parts. */
const GZIP = ['\x1f\x8b'];
const ZIP = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'];

/**
 * A file's content. A gzip file, or a zip file with one CSV file in it, is unpacked; its first bytes tell, not its name.
 *
 * @throws {BrokenSourceError} when it can't be unpacked, which may be known only at its end
 */
export async function* unpackedChunks(path: string, onBytes?: OnBytes): Chunks {
  const start = await firstBytes(path);
  const isPackedAs = (magic: readonly string[]) => magic.some((bytes) => start.startsWith(bytes));
  if (isPackedAs(GZIP)) yield* unpacked(path, 'gzip', gzipChunks(path, onBytes));
  else if (isPackedAs(ZIP)) yield* unpacked(path, 'zip', zipChunks(path, onBytes));
  else yield* rawChunks(path, CHUNK_BYTES, onBytes);
}

async function firstBytes(path: string): Promise<string> {
  for await (const bytes of rawChunks(path, 4)) return bytes.toString('latin1');
  return '';
}

/** A file's bytes as they are on disk. Every chunk is read into the same memory. */
export async function* rawChunks(path: string, chunkBytes: number, onBytes?: OnBytes): Chunks {
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

/** The errors of zlib and of the zip library have a message; those of the file system also have a `syscall`. */
const unpackingError = z.object({ message: z.string(), syscall: z.undefined().optional() });

async function* unpacked(path: string, format: 'gzip' | 'zip', chunks: Chunks): Chunks {
  try {
    yield* chunks;
  } catch (error) {
    const parsed = unpackingError.safeParse(error);
    if (error instanceof BrokenSourceError || !parsed.success) throw error;
    const [reason] = parsed.data.message.split('. ');
    throw new BrokenSourceError(
      `${basename(path)} can't be read as a ${format} file (${reason}); fetch or pack it again.`,
      { cause: error },
    );
  }
}

async function* gzipChunks(path: string, onBytes: OnBytes): Chunks {
  const disk = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  let reported = 0;
  try {
    for await (const chunk of pipeline(disk, gunzip, () => undefined)) {
      yield chunk;
      onBytes?.(disk.bytesRead - reported);
      reported = disk.bytesRead;
    }
  } finally {
    disk.destroy();
  }
  // After the end of the compressed data and a zero byte, zlib ignores further data, which may be missing rows.
  if (gunzip.bytesWritten < disk.bytesRead) throw new Error('there is more data after its end');
}

/** The one CSV file in a zip file. yauzl checks its size, but not its checksum. */
async function* zipChunks(path: string, onBytes: OnBytes): Chunks {
  const zip = await openZip(path, { autoClose: false });
  try {
    const csv = await csvEntry(basename(path), zip);
    const bytesOnDisk = csv.compressedSize / csv.uncompressedSize;
    const chunks: AsyncIterable<Buffer> = await zip.openReadStreamPromise(csv);
    let checksum = 0;
    for await (const chunk of chunks) {
      checksum = crc32(chunk, checksum);
      yield chunk;
      onBytes?.(chunk.length * bytesOnDisk);
    }
    if (checksum !== csv.crc32) throw new Error(`the checksum of ${csv.fileName} is wrong`);
  } finally {
    zip.close();
  }
}

async function csvEntry(zipName: string, zip: ZipFile): Promise<Entry> {
  let found: Entry | undefined;
  for await (const entry of zip.eachEntry()) {
    // Macs add a `__MACOSX/._a.csv` with metadata for each file `a.csv`.
    if (!/^(?!__MACOSX\/).*\.csv$/is.test(entry.fileName)) continue;
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

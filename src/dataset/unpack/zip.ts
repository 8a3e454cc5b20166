import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, openPromise as openZip, type ZipFile } from 'yauzl';
import { BrokenSourceError, unpackingError } from './errors.ts';
import { CHUNK_BYTES, type Chunks, inflatedChunks, type OnBytes } from './inflate.ts';

/** The one CSV file in a zip file, checked against the size and checksum in the zip's directory. */
export async function* zipChunks(path: string, onBytes: OnBytes): Chunks {
  try {
    const csv = await findCsv(path);
    let size = 0;
    let checksum = 0;
    for await (const chunk of entryChunks(path, csv, onBytes)) {
      size += chunk.length;
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
    if (size !== csv.size) throw new Error(`${csv.name} has ${size} bytes, not ${csv.size}`);
    if (checksum !== csv.checksum) throw new Error(`the checksum of ${csv.name} is wrong`);
  } catch (error) {
    throw unpackingError(path, 'zip', error);
  }
}

/** A file's position in a zip file, and its size and checksum once unpacked. */
interface ZippedFile {
  readonly name: string;
  readonly start: number;
  readonly compressedSize: number;
  readonly isCompressed: boolean;
  readonly size: number;
  readonly checksum: number;
}

async function* entryChunks(path: string, file: ZippedFile, onBytes: OnBytes): Chunks {
  if (file.compressedSize === 0) return;
  const { start } = file;
  const end = start + file.compressedSize - 1;
  const disk = createReadStream(path, { start, end, highWaterMark: CHUNK_BYTES });
  if (file.isCompressed) {
    yield* inflatedChunks(disk, createInflateRaw({ chunkSize: CHUNK_BYTES }), onBytes);
    return;
  }
  for await (const chunk of disk) {
    yield chunk;
    onBytes?.(chunk.length);
  }
}

async function findCsv(path: string): Promise<ZippedFile> {
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
      compressedSize: entry.compressedSize,
      isCompressed: entry.isCompressed(),
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

/** Macs add a `__MACOSX/._a.csv` with metadata for each file `a.csv`. */
function isCsv(name: string): boolean {
  return name.toLowerCase().endsWith('.csv') && !name.startsWith('__MACOSX/');
}

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';

/** A file on disk and its hash. */
export type InspectedFile = Readonly<Awaited<ReturnType<typeof inspectFile>>>;

/**
 * Every chunk is read into the same buffer. A stream takes half as much processor time again, and 80 MB more memory.
 */
const HASHED_CHUNK_BYTES = 1 << 20;

/** Hashes a file. */
export async function inspectFile(path: string) {
  const file = await open(path);
  const chunk = Buffer.allocUnsafe(HASHED_CHUNK_BYTES);
  const hash = createHash('sha256');
  try {
    for (let bytes = 0; ; ) {
      const { bytesRead } = await file.read(chunk);
      if (bytesRead === 0) return { path, name: basename(path), bytes, sha256: hash.digest('hex') };
      hash.update(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

const sampleManifest = z.object({
  generated: z.literal(true),
  sha256: z.object({ individual: z.string(), business: z.string() }),
});

/** Whether `licenses sample-data` wrote the file: the manifest in its folder lists its hash. */
export async function isSampleFile(file: InspectedFile): Promise<boolean> {
  try {
    const manifest = await readFile(join(dirname(file.path), 'sample.json'), 'utf8');
    const { sha256 } = sampleManifest.parse(JSON.parse(manifest));
    return sha256.individual === file.sha256 || sha256.business === file.sha256;
  } catch {
    return false;
  }
}

/** Called while a file is read. */
export interface FileTextListener {
  /** Called after each chunk with the number of bytes read from disk since the last call. */
  readonly onBytes?: (bytes: number) => void;
}

/**
 * The file's text, unpacked and without a byte order mark, in chunks of about 64 KB. A gzip file is recognized by its
 * first bytes, not by its name.
 *
 * The text is UTF-8. A field that is not valid UTF-8 is Latin-1, and is read as Windows-1252, its superset. One such
 * field does not change how other rows are read.
 *
 *
 * @throws {BrokenSourceError} when it cannot be unpacked; this may be known only at its end
 */
export async function* fileText(
  path: string,
  { onBytes }: FileTextListener = {},
): AsyncGenerator<string, void, undefined> {
  let isStart = true;
  for await (const lines of wholeLines(unpackedChunks(path, onBytes))) {
    const bytes = isStart && lines.indexOf(BYTE_ORDER_MARK) === 0 ? lines.subarray(3) : lines;
    isStart = false;
    yield isUtf8(bytes) ? UTF8.decode(bytes) : decodedByField(bytes);
  }
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const WINDOWS_1252 = new TextDecoder('windows-1252');
const LINE_FEED = 10;

/** More bytes than the longest valid row. */
const MAX_LINE_BYTES = 16 << 20;

/** The same bytes, split only after line breaks, so that no character and no unquoted field is split. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let begun = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const lines = Buffer.concat([begun, chunk]);
    const lastBreak = chunk.lastIndexOf(LINE_FEED);
    const isTooLong = lastBreak < 0 && lines.length > MAX_LINE_BYTES;
    const end = isTooLong ? lines.length : lastBreak < 0 ? 0 : begun.length + lastBreak + 1;
    if (end > 0) yield lines.subarray(0, end);
    begun = lines.subarray(end);
  }
  yield begun;
}

/** Decodes lines of which at least one is not UTF-8, field by field. */
function decodedByField(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^\n,]+/g, decodedField);
}

const NOT_ASCII = /[\u0080-\u00ff]/;

function decodedField(latin1: string): string {
  if (!NOT_ASCII.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, 'latin1');
  return (isUtf8(bytes) ? UTF8 : WINDOWS_1252).decode(bytes);
}

/** A gzip file that cannot be unpacked, or a file in another packed format. */
export class BrokenSourceError extends Error {}

/** Chunks are small enough that their rows have been processed before the garbage collector runs (measured). */
const CHUNK_BYTES = 1 << 16;

const GZIP = '\x1f\x8b';
const ZIP = 'PK\x03\x04';

/** Errors of zlib have a message; errors of the file system also have a `syscall`. */
const unpackingError = z.object({ message: z.string(), syscall: z.undefined().optional() });

/** A file's content, unpacked. */
async function* unpackedChunks(
  path: string,
  onBytes: FileTextListener['onBytes'],
): AsyncGenerator<Buffer, void, undefined> {
  const start = await text(createReadStream(path, { end: 3, encoding: 'latin1' }));
  if (start.startsWith(ZIP)) {
    throw new BrokenSourceError(
      `${basename(path)} is a zip file, which is not read; unpack it, or pack the CSV file with gzip.`,
    );
  }
  const disk = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const gunzip = start.startsWith(GZIP) ? createGunzip({ chunkSize: CHUNK_BYTES }) : undefined;
  let reported = 0;
  try {
    for await (const chunk of gunzip === undefined ? disk : pipeline(disk, gunzip, () => undefined)) {
      yield chunk;
      onBytes?.(disk.bytesRead - reported);
      reported = disk.bytesRead;
    }
    // After the compressed data and a zero byte, zlib ignores any further data, which may contain rows.
    if (gunzip !== undefined && gunzip.bytesWritten < disk.bytesRead)
      throw new Error('there is more data after its end');
  } catch (error) {
    const parsed = unpackingError.safeParse(error);
    if (!parsed.success) throw error;
    const [reason] = parsed.data.message.split('. ');
    throw new BrokenSourceError(
      `${basename(path)} can't be read as a gzip file (${reason}); fetch or pack it again.`,
      { cause: error },
    );
  } finally {
    disk.destroy();
  }
}

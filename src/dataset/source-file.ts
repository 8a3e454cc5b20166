import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TextDecoder } from 'node:util';
import { z } from 'zod';
import { rawChunks, unpackedChunks } from './unpack.ts';

/** A file as it is on disk. */
export interface InspectedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Hashing creates no garbage for each chunk, so larger chunks are faster. */
const HASHED_CHUNK_BYTES = 1 << 20;

/** Hashes a file. */
export async function inspectFile(path: string): Promise<InspectedFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of rawChunks(path, HASHED_CHUNK_BYTES)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { path, name: basename(path), bytes, sha256: hash.digest('hex') };
}

const sampleManifest = z.object({
  generated: z.literal(true),
  sha256: z.object({ individual: z.string(), business: z.string() }),
});

/** Whether `licenses sample-data` wrote the file: the manifest in its folder lists its hash. */
export async function isSampleFile(file: InspectedFile): Promise<boolean> {
  try {
    const text = await readFile(join(dirname(file.path), 'sample.json'), 'utf8');
    const { sha256 } = sampleManifest.parse(JSON.parse(text));
    return sha256.individual === file.sha256 || sha256.business === file.sha256;
  } catch {
    return false;
  }
}

/** Called while a file is read. */
export interface FileTextListener {
  /** After each chunk, with how many more bytes have been read from disk. */
  readonly onBytes?: (bytes: number) => void;
  /** With how many more lines have bytes that are not UTF-8. */
  readonly onWindows1252?: (lines: number) => void;
}

/**
 * The file's text, unpacked and without a byte order mark, in chunks of about 64 KB. A gzip file, or a zip file with
 * one CSV file in it, is recognized by its first bytes, not by its name.
 *
 * The text is UTF-8. A field that is not is Latin-1, and is read as Windows-1252, its superset: one such field must
 * not change how the names in other rows are read.
 *
 * @throws {BrokenSourceError} when it can't be unpacked, which may be known only at its end
 */
export async function* fileText(
  path: string,
  { onBytes, onWindows1252 }: FileTextListener = {},
): AsyncGenerator<string, void, undefined> {
  let isStart = true;
  for await (const lines of wholeLines(unpackedChunks(path, onBytes))) {
    const bytes = isStart && lines.indexOf(BYTE_ORDER_MARK) === 0 ? lines.subarray(3) : lines;
    isStart = false;
    yield isUtf8(bytes) ? UTF8.decode(bytes) : decodedByField(bytes, onWindows1252);
  }
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const WINDOWS_1252 = new TextDecoder('windows-1252');
const LINE_FEED = 10;

/** More bytes than the longest row may have. */
const MAX_LINE_BYTES = 16 << 20;

/** The same bytes, cut only after line breaks, where no character is cut and no field that is not quoted. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let begun: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      yield begun.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...begun, chunk.subarray(0, end)]);
      begun = [];
      bytes = 0;
    }
    // The chunk's memory is reused.
    begun.push(Buffer.from(chunk.subarray(end)));
    bytes += chunk.length - end;
    if (bytes > MAX_LINE_BYTES) {
      yield Buffer.concat(begun);
      begun = [];
      bytes = 0;
    }
  }
  yield Buffer.concat(begun);
}

/** Lines of which at least one is not UTF-8. */
function decodedByField(bytes: Buffer, onWindows1252: FileTextListener['onWindows1252']): string {
  let others = 0;
  const lines = bytes
    .toString('latin1')
    .split('\n')
    .map((line) => {
      if (!isOther(line)) return decodedField(line);
      others += 1;
      return line.split(',').map(decodedField).join(',');
    });
  onWindows1252?.(others);
  return lines.join('\n');
}

const NOT_ASCII = /[\u0080-\u00ff]/;

/** Whether bytes, as the characters of Latin-1, are not UTF-8. */
function isOther(latin1: string): boolean {
  return NOT_ASCII.test(latin1) && !isUtf8(Buffer.from(latin1, 'latin1'));
}

function decodedField(latin1: string): string {
  if (!NOT_ASCII.test(latin1)) return latin1;
  return (isOther(latin1) ? WINDOWS_1252 : UTF8).decode(Buffer.from(latin1, 'latin1'));
}

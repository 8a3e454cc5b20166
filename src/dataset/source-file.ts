import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { TextDecoder } from 'node:util';
import { compressionOf, rawChunks, unpackedChunks } from './unpack/file-chunks.ts';
import { utf8Check } from './utf8-check.ts';

/** A file's character encoding. Latin-1 is read as Windows-1252, its superset. */
export type Encoding = 'utf-8' | 'windows-1252';

/** What one pass over a file's bytes found. */
export interface InspectedFile {
  readonly path: string;
  readonly name: string;
  /** Its size on disk. */
  readonly bytes: number;
  /** Of the file on disk, before it is unpacked. */
  readonly sha256: string;
  /** Of its text, after it is unpacked. */
  readonly encoding: Encoding;
}

/** Hashing creates no garbage for each chunk, so larger chunks are faster. */
const HASHED_CHUNK_BYTES = 1 << 20;

/**
 * Hashes a file and detects its encoding: UTF-8, or Latin-1 when the bytes are not UTF-8. A gzip file, or a zip file
 * with one CSV file in it, is unpacked for that. The format is recognized by the first bytes, not by the name.
 *
 * @throws {BrokenSourceError} when it can't be unpacked to its end
 */
export async function inspectFile(path: string): Promise<InspectedFile> {
  const hash = createHash('sha256');
  const utf8 = utf8Check();
  let bytes = 0;
  let isUtf8 = true;
  const compression = await compressionOf(path);
  for await (const chunk of rawChunks(path, HASHED_CHUNK_BYTES)) {
    hash.update(chunk);
    bytes += chunk.length;
    if (compression === 'none') isUtf8 &&= utf8.add(chunk);
  }
  if (compression !== 'none') {
    for await (const chunk of unpackedChunks(path, compression)) isUtf8 &&= utf8.add(chunk);
  }
  const encoding = isUtf8 && utf8.isComplete() ? 'utf-8' : 'windows-1252';
  return { path, name: basename(path), bytes, sha256: hash.digest('hex'), encoding };
}

/** A UTF-8 byte order mark, decoded as Latin-1: some Latin-1 files begin with one. */
const BYTE_ORDER_MARK_AS_LATIN1 = /^\u00ef\u00bb\u00bf/;

/**
 * The file's text, unpacked and without a byte order mark, in chunks of about 128 KB.
 *
 * @param onBytes called after each chunk with how many more bytes have been read from disk
 * @throws {BrokenSourceError} when it can't be unpacked, which may be known only at its end
 */
export async function* fileText(
  file: Pick<InspectedFile, 'path' | 'encoding'>,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder(file.encoding);
  let isStart = true;
  for await (const chunk of unpackedChunks(file.path, await compressionOf(file.path), onBytes)) {
    const text = decoder.decode(chunk, { stream: true });
    yield isStart ? text.replace(BYTE_ORDER_MARK_AS_LATIN1, '') : text;
    isStart = false;
  }
  yield decoder.decode();
}

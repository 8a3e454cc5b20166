import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { unpackingError } from './errors.ts';
import { CHUNK_BYTES, type Chunks, inflatedChunks, type OnBytes } from './inflate.ts';
import { zipChunks } from './zip.ts';

/** How a file is compressed. */
export type Compression = 'none' | 'gzip' | 'zip';

/** The first bytes of gzip files, and of zip files with entries, without entries, and in several parts. */
const MAGIC_BYTES: readonly (readonly [string, Compression])[] = [
  ['\x1f\x8b', 'gzip'],
  ['PK\x03\x04', 'zip'],
  ['PK\x05\x06', 'zip'],
  ['PK\x07\x08', 'zip'],
];

/** How a file is compressed, by its first bytes. */
export async function compressionOf(path: string): Promise<Compression> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.toString('latin1', 0, bytesRead);
    return MAGIC_BYTES.find(([magic]) => start.startsWith(magic))?.[1] ?? 'none';
  } finally {
    await file.close();
  }
}

/**
 * A file's content, unpacked. A chunk is valid until the next one is requested.
 *
 * @throws {BrokenSourceError} when it can't be unpacked, which may be known only at its end
 */
export function unpackedChunks(path: string, compression: Compression, onBytes?: OnBytes): Chunks {
  switch (compression) {
    case 'none':
      return rawChunks(path, CHUNK_BYTES, onBytes);
    case 'gzip':
      return gzipChunks(path, onBytes);
    case 'zip':
      return zipChunks(path, onBytes);
  }
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

async function* gzipChunks(path: string, onBytes: OnBytes): Chunks {
  try {
    const disk = createReadStream(path, { highWaterMark: CHUNK_BYTES });
    yield* inflatedChunks(disk, createGunzip({ chunkSize: CHUNK_BYTES }), onBytes);
  } catch (error) {
    throw unpackingError(path, 'gzip', error);
  }
}

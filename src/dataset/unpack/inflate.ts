import type { ReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import type { Gunzip, InflateRaw } from 'node:zlib';

/** A file's bytes in chunks. */
export type Chunks = AsyncGenerator<Buffer, void, undefined>;

/** Called after each chunk with how many more bytes have been read from disk. */
export type OnBytes = ((bytes: number) => void) | undefined;

/** So small that the rows of a chunk have been processed before the garbage collector runs (measured). */
export const CHUNK_BYTES = 1 << 16;

/** Decompresses a stream from disk to its end. */
export async function* inflatedChunks(
  disk: ReadStream,
  inflate: Gunzip | InflateRaw,
  onBytes: OnBytes,
): Chunks {
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
  // After the end of the compressed data and a zero byte, zlib ignores further data, which may be missing rows.
  if (inflate.bytesWritten < disk.bytesRead) throw new Error('there is more data after its end');
}

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

/** Rows are written once this many bytes are buffered. The buffer has room for one more row. */
const CHUNK_BYTES = 1 << 20;
const BUFFER_BYTES = CHUNK_BYTES + (1 << 16);
const BYTE_ORDER_MARK = '\ufeff';

/** A CSV file being written. */
export interface CsvFile {
  /**
   * Buffers a row of at most 64 KiB, including its line break. Returns whether the buffer is full: then `flush` must be
   * called and awaited before the next row.
   */
  readonly add: (row: string) => boolean;
  /** Writes the buffered rows and waits until they are written. */
  readonly flush: () => Promise<void>;
  /** Writes the buffered rows, closes the file and returns the SHA-256 of its bytes in hexadecimal. */
  readonly finish: () => Promise<string>;
  /** Closes the file without writing the buffered rows. */
  readonly close: () => Promise<void>;
}

/**
 * Creates a UTF-8 CSV file with a byte order mark and a header. An existing file is replaced.
 *
 * @throws the file system's error if the file cannot be created
 */
export async function createCsvFile(path: string, columns: readonly string[]): Promise<CsvFile> {
  const file = await open(path, 'w');
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let waiting = buffer.write(`${BYTE_ORDER_MARK}${columns.join(',')}\n`);
  const flush = async () => {
    const bytes = buffer.subarray(0, waiting);
    hash.update(bytes);
    await file.appendFile(bytes);
    waiting = 0;
  };
  return {
    add: (row) => {
      waiting += buffer.write(row, waiting);
      return waiting >= CHUNK_BYTES;
    },
    flush,
    finish: async () => {
      await flush();
      await file.close();
      return hash.digest('hex');
    },
    close: () => file.close(),
  };
}

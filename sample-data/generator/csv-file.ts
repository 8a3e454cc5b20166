import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

/** Rows are written out once so many bytes of them wait; the buffer has room for a row more. */
const CHUNK_BYTES = 1 << 20;
const BUFFER_BYTES = CHUNK_BYTES + (1 << 16);
const BYTE_ORDER_MARK = '\ufeff';

/** A CSV file being written. */
export interface CsvFile {
  /**
   * Takes a row of at most 64 KiB, line break included. Says whether enough are waiting that `flush` must be
   * called, and waited for, before the next row.
   */
  readonly add: (row: string) => boolean;
  /** Writes what is waiting, and waits until it is written. */
  readonly flush: () => Promise<void>;
  /** Writes what is waiting, closes the file and gives the SHA-256 of its bytes in hexadecimal. */
  readonly finish: () => Promise<string>;
  /** Closes the file as it is. */
  readonly close: () => Promise<void>;
}

/**
 * Creates a UTF-8 CSV file with a byte order mark and a header. An existing file is replaced.
 *
 * @throws the file system's error where the file can't be created
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

import { crc32 } from 'node:zlib';
import type { CsvRow } from './csv.ts';

/** A column of a file. */
export interface NamedColumn {
  /** Its current name, in upper case with underscores. */
  readonly name: string;
  /** The hash of its name. */
  readonly nameHash: number;
  /** Counted from 0. */
  readonly position: number;
}

export function namedColumn(name: string, position: number): NamedColumn {
  return { name, nameHash: crc32(name), position };
}

/**
 * A hash of what a row says: of the values of its columns that are not empty, and of the columns' names. It is the
 * same whatever the order of the columns and the format of the file.
 *
 * @param columns in the order of their names
 * @returns 32 bits, without a sign
 */
export function rowHash({ fields }: CsvRow, columns: readonly NamedColumn[]): number {
  let hash = 0;
  for (const { nameHash, position } of columns) {
    const value = fields[position]?.trim();
    if (value) hash = crc32(value, (hash ^ nameHash) >>> 0);
  }
  return hash;
}

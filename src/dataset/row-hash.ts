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

/** FNV-1a's (http://www.isthe.com/chongo/tech/comp/fnv/), for UTF-16 units instead of bytes, and from 0 on. */
const PRIME = 0x01000193;

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
    const field = fields[position];
    // Of 154 columns, most rows fill about 20.
    if (field === undefined || field === '') continue;
    const value = field.trim();
    if (value === '') continue;
    hash = Math.imul(hash ^ nameHash, PRIME);
    for (let at = 0; at < value.length; at += 1) hash = Math.imul(hash ^ value.charCodeAt(at), PRIME);
  }
  return hash >>> 0;
}

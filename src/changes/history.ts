import type { StoredChange } from './change.ts';

/**
 * The changes of one license, among those of all licenses of a board whose numbers are searched by the same key.
 *
 * @param number the license's number, or the number as typed
 * @returns none when it is not certain which license is meant
 */
export function changesOfOne<Change extends StoredChange>(
  changes: readonly Change[],
  number: string,
): readonly Change[] {
  const exact = changes.filter(({ license_number: each }) => each === number);
  if (exact.length > 0) return exact;
  return new Set(changes.map(({ license }) => license)).size === 1 ? changes : [];
}

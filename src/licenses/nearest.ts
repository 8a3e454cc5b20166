import { distance } from 'fastest-levenshtein';
import { fold } from './fold.ts';

/**
 * Of texts that exist, those written most like the one typed: by edit distance once folded, then as they
 * stand, then by spelling, so that the order is the same each time.
 *
 * @param most how many at the most
 */
export function nearest(typed: string, existing: readonly string[], most: number): string[] {
  const key = fold(typed);
  const written = typed.trim().toUpperCase();
  return [...new Set(existing)]
    .map((text) => ({
      text,
      edits: distance(key, fold(text)),
      differences: distance(written, text.toUpperCase()),
    }))
    .sort(
      (one, other) =>
        one.edits - other.edits || one.differences - other.differences || (one.text < other.text ? -1 : 1),
    )
    .slice(0, most)
    .map(({ text }) => text);
}

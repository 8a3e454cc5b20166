import { distance } from 'fastest-levenshtein';
import { fold } from './fold.ts';

/**
 * The existing texts that are spelled most like the typed one: ordered by edit distance of the folded texts, then of
 * the texts themselves, then alphabetically, so that the order is always the same.
 *
 * @param max how many texts to return at most
 */
export function nearestSpellings(typed: string, existing: readonly string[], max: number): string[] {
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
    .slice(0, max)
    .map(({ text }) => text);
}

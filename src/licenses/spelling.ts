import { distance } from 'fastest-levenshtein';
import GIVEN_NAMES from '../../data/given-names.json' with { type: 'json' };
import { fold, numberKey, unaccent } from './fold.ts';

/**
 * The existing texts with the spelling closest to the typed text. They are ordered by edit distance of the folded
 * texts, then of the texts themselves, then alphabetically, so that the order is always the same.
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

/** Characters that people and scanners confuse with each other. */
const DIGIT_OF = new Map(Array.from('OQDILZSGB', (letter, at) => [letter, '000112568'.charAt(at)] as const));
const LETTER_OF = new Map(Array.from('012568', (digit, at) => [digit, 'OIZSGB'.charAt(at)] as const));

/** Digits, and letters that look like digits. */
const DIGITS = /^(?=.*\d)[\dOQDILZSGB]{2,}$/;
const LAST_DIGITS = /(?<![\dOQDILZSGB])[\dOQDILZSGB]+$/;
/** A prefix with a letter in it, before the first separator. */
const PREFIX = /^(?=[^.\-/\s]*[A-Z])[^.\-/\s]+(?=[.\-/\s])/;

/**
 * The keys of numbers that the caller may have meant by a number that no license has: two neighboring digits swapped, a
 * digit typed twice, a double digit typed once, a letter for a digit (`O` for `0`) or, in the prefix, a digit for a
 * letter.
 */
export function misreadNumberKeys(written: string): string[] {
  const key = numberKey(written);
  const upper = unaccent(written).trim();
  const meant = [withDigits(upper), numberKey(withLetters(upper)), ...mistypedDigits(key)];
  return [...new Set(meant)].filter((each) => each !== key);
}

/** Replaces letters with the digits they look like, in a part between separators or at the end of a number. */
function withDigits(written: string): string {
  const parts = written.split(/[\s./\p{Pd}\u2212]/u);
  const read = (text: string) => text.replace(/[A-Z]/g, (letter) => DIGIT_OF.get(letter) ?? letter);
  const readEnd = (run: string) => run.replace(/\d.*/, read);
  return parts.map((part) => (DIGITS.test(part) ? read(part) : part.replace(LAST_DIGITS, readEnd))).join('');
}

function withLetters(written: string): string {
  return written.replace(PREFIX, (prefix) => prefix.replace(/\d/g, (digit) => LETTER_OF.get(digit) ?? digit));
}

/** No license number has more digits. */
const MAX_DIGITS = 12;

/** The keys that differ from this one by one typing mistake in the last group of digits. */
function mistypedDigits(key: string): string[] {
  const match = /(?<!\d)(\d+)\D*$/.exec(key);
  const digits = match?.[1] ?? '';
  if (match === null || digits.length > MAX_DIGITS) return [];
  const [prefix, suffix] = [key.slice(0, match.index), key.slice(match.index + digits.length)];
  return Array.from(digits)
    .flatMap((digit, at) => {
      const [before, next, rest] = [digits.slice(0, at), digits.slice(at + 1), digits.slice(at + 2)];
      const doubled = before + digit + digit + next;
      if (next === '') return [doubled];
      return next[0] === digit ? [before + next, doubled] : [before + next[0] + digit + rest, doubled];
    })
    .map((meant) => prefix + meant + suffix);
}

/** The groups that each given name is in. */
const GROUPS = new Map<string, string[][]>();
for (const names of GIVEN_NAMES.groups) {
  const group = names.split(' ');
  for (const name of group) GROUPS.set(name, [...(GROUPS.get(name) ?? []), group]);
}

/**
 * Other given names that the same person may go by, full names first: `BOB` → `ROBERT`, `BOBBY`, `ROB`, …
 *
 * @param name a folded given name
 */
export function givenNameVariants(name: string): string[] {
  const found = GROUPS.get(name) ?? [];
  const fullNames = found.flatMap(([fullName]) => fullName ?? []);
  return [...new Set([...fullNames, ...found.flat()])].filter((each) => each !== name);
}

/** Letters that Unicode does not decompose into a base letter and a mark. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['Æ', 'AE'],
  ['Đ', 'D'],
  ['Ð', 'D'],
  ['Ħ', 'H'],
  ['Ł', 'L'],
  ['Ø', 'O'],
  ['Œ', 'OE'],
  ['Þ', 'TH'],
  ['ẞ', 'SS'],
]);

/** Apostrophes that Unicode counts among the letters: `ʼ` as in `OʼBrien`, the `ʻ` of Hawaii. */
const LETTER_APOSTROPHES = /[\u02b9-\u02bf]/g;

/**
 * A longer folded value is not searched for. One character may fold to 15 (U+FDFA), and the cost of OpenSearch's
 * search for similar surnames grows faster than the length.
 */
export const MAX_FOLDED_CHARACTERS = 200;

const PLAIN = /^[A-Z0-9]*$/;
const ASCII_ONLY = /^[\x20-\x7e]*$/;

/** Upper case without accents: `Muñoz` → `MUNOZ`, `Bjørk` → `BJORK`. Punctuation and blanks stay. */
export function unaccent(text: string): string {
  const upper = text.toUpperCase();
  if (ASCII_ONLY.test(upper)) return upper;
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toUpperCase()
    .replace(LETTER_APOSTROPHES, "'")
    .replace(/[ÆĐÐĦŁØŒÞẞ]/g, (letter) => LETTERS.get(letter) ?? letter);
}

/** Each key once, in their order, and none that is empty. */
export function distinctKeys(keys: readonly string[]): string[] {
  return [...new Set(keys)].filter((key) => key !== '');
}

/**
 * Only letters and digits, in upper case, without accents: `O'Brien` → `OBRIEN`, `de la Cruz` → `DELACRUZ`.
 * Used both for the keys in the index and for the values in requests.
 */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text;
  const upper = unaccent(text);
  return ASCII_ONLY.test(upper) ? upper.replace(/[^A-Z0-9]/g, '') : upper.replace(/[^\p{L}\p{N}]/gu, '');
}

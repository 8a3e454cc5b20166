/** Letters that Unicode does not decompose into a base letter and a mark. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({ Æ: 'AE', Đ: 'D', Ð: 'D', Ħ: 'H', Ł: 'L', Ø: 'O', Œ: 'OE', Þ: 'TH', ẞ: 'SS' }),
);

/** Apostrophes that Unicode counts among the letters: `ʼ` as in `OʼBrien`, the `ʻ` of Hawaii. */
const LETTER_APOSTROPHES = /[\u02b9-\u02bf]/g;

/**
 * Longer folded values are not searched for. One character may fold to 15 (U+FDFA), and the cost of OpenSearch's search
 * for similar surnames grows faster than the length.
 */
export const MAX_FOLDED_CHARACTERS = 200;

/**
 * Characters of a short normalized text that are folded; the rest would take too long. A text of up to 200 characters
 * has more only if its first thousand have over 200 letters: no blank or sign becomes more than four characters.
 */
const MAX_NORMALIZED_CHARACTERS = 1000;

const PLAIN = /^[A-Z0-9]*$/;
const ASCII_ONLY = /^[\x20-\x7e]*$/;

/**
 * Invisible characters: zero-width characters, soft hyphens, direction marks, byte order marks, NUL, and U+2800, which
 * looks blank but does not count as whitespace. Tabs and line breaks count as blanks, so they are not included.
 */
const INVISIBLE = '\\p{Default_Ignorable_Code_Point}\\p{Cf}\\0-\\x08\\x0e-\\x1f\\x7f-\\x9f\\u2800';
const INVISIBLES = new RegExp(`[${INVISIBLE}]`, 'gu');
const INVISIBLES_AND_MARKS = new RegExp(`[\\p{M}${INVISIBLE}]`, 'gu');

/** Removes invisible characters, which often come along when a text is copied. */
export function visibleText(text: string): string {
  return ASCII_ONLY.test(text) ? text : text.replace(INVISIBLES, '');
}

/**
 * Converts to upper case and removes accents and invisible characters: `Muñoz` → `MUNOZ`, `Bjørk` → `BJORK`.
 * Punctuation and blanks stay.
 */
export function unaccent(text: string): string {
  const upper = text.toUpperCase();
  if (ASCII_ONLY.test(upper)) return upper;
  const isShort = text.length <= MAX_FOLDED_CHARACTERS;
  return text
    .normalize('NFKD')
    .slice(0, isShort ? MAX_NORMALIZED_CHARACTERS : undefined)
    .replace(INVISIBLES_AND_MARKS, '')
    .toUpperCase()
    .replace(LETTER_APOSTROPHES, "'")
    .replace(/[ÆĐÐĦŁØŒÞẞ]/g, (letter) => LETTERS.get(letter) ?? letter);
}

/** The keys in their order, without duplicates and empty keys. */
export function distinctKeys(keys: readonly string[]): string[] {
  return [...new Set(keys)].filter((key) => key !== '');
}

/**
 * Only letters and digits, in upper case, without accents: `O'Brien` → `OBRIEN`, `de la Cruz` → `DELACRUZ`.
 * Used both for the keys in the index and for the values in requests.
 */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text;
  const upper = text.toUpperCase();
  if (PLAIN.test(upper)) return upper;
  if (ASCII_ONLY.test(upper)) return upper.replace(/[^A-Z0-9]/g, '');
  return unaccent(text).replace(/[^\p{L}\p{N}]/gu, '');
}

const SEPARATORS = /[\s./\p{Pd}\u2212]/gu;

/**
 * Superscript, subscript and circled characters, such as footnote marks: `RN.987654321²` must not be read as the number
 * RN.9876543212.
 */
const MARKS = /[\u00b2\u00b3\u00b9\u2070-\u209c\u2460-\u24ff]/g;

function unaccentNumber(written: string): string {
  return unaccent(written.replace(MARKS, '*'));
}

/**
 * The query key of a license number, the same for every way of writing it: upper case, without blanks, dots, slashes
 * and dashes of any kind. The key of `rn 987654321`, `RN/987654321` and `RN.987654321` is `RN987654321`. Other
 * characters are kept, so that the key of a pattern such as `RN.987654321*` matches no license.
 */
export function numberKey(written: string): string {
  return unaccentNumber(written).replace(SEPARATORS, '');
}

/**
 * The last group of digits of a number, without leading zeros: `APRN.CNP.0912345678` → `912345678`, `E.987654321-SUPV`
 * → `987654321`. Numbers that differ only in leading zeros, prefix or suffix have the same result. Empty if the number
 * has no digits.
 */
export function numberDigits(written: string): string {
  const digits = /(?<!\d)(\d+)\D*$/.exec(unaccentNumber(written).replace(/\s/g, ''))?.[1];
  return digits?.replace(/^0+(?=\d)/, '') ?? '';
}

/** Whether the text is exactly this number, ignoring case, surrounding blanks and invisible characters. */
export function isExactNumber(written: string, licenseNumber: string): boolean {
  return visibleText(written).trim().toUpperCase() === visibleText(licenseNumber).toUpperCase();
}

const MAX_RESULTS = 10_000;

/** Memoizes a pure function of a text, for texts that occur in many rows. */
export function memoize<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const cached = results.get(text);
    if (cached !== undefined) return cached;
    const result = compute(text);
    if (results.size >= MAX_RESULTS) results.clear();
    // The text may be a slice of a file's chunk, which would keep the whole chunk in memory. So the key is a copy.
    results.set(Buffer.from(text).toString(), result);
    return result;
  };
}

import { BOARDS } from '../../src/licenses/boards.ts';

/** No board is known to write more digits after the prefix. The pharmacy board's `02` has eight. */
export const MAX_DIGITS = 8;

const PREFIXES = new Set(BOARDS.flatMap((board) => board.license_types.map(({ prefix }) => prefix)));

/**
 * A pattern for a prefix as people type it: with `.`, `-`, `/`, a blank or nothing between its parts, followed by the
 * minimum number of digits.
 */
function pattern(prefix: string): string {
  if (/^0\d$/.test(prefix)) return `${prefix}-?(?=\\d{6})`;
  const typed = prefix.split(/[.-]/).filter(Boolean).join('[./ -]?');
  // In prose, a decimal number is not a license number, and neither is a short word before a short number.
  if (/^\d/.test(prefix)) return `${typed}[./-](?=\\d{5})`;
  return typed.length === 1 ? `${typed}[./-](?=\\d{4})` : `${typed}(?:[./-](?=\\d{4})|[./ -]?(?=\\d{5}))`;
}

const NUMBER = new RegExp(`(?<![\\w.]|\\w-)(?:${[...PREFIXES].map(pattern).join('|')})(\\d+)(?!\\w)`, 'gi');

/**
 * The license numbers in a text or source code that a board could have issued, and that may belong to a real person.
 */
export function issuableNumbers(text: string): string[] {
  const withoutEscapes = text.replaceAll(/\\[nrt]/g, ' ');
  return [...withoutEscapes.matchAll(NUMBER)].flatMap(([number, digits = '']) =>
    digits.length > MAX_DIGITS ? [] : [number],
  );
}

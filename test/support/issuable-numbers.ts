import { BOARDS } from '../../src/licenses/boards.ts';

/** No board is known to write more digits after the prefix: `02` of the pharmacy board has eight. */
export const MAX_DIGITS = 8;

const PREFIXES = new Set(BOARDS.flatMap((board) => board.license_types.map(({ prefix }) => prefix)));

/** A prefix as people type it: `.`, `-`, `/`, a blank or nothing between its parts, then the fewest digits of a number. */
function pattern(prefix: string): string {
  if (/^0\d$/.test(prefix)) return `${prefix}-?(?=\\d{6})`;
  const typed = prefix.split(/[.-]/).filter(Boolean).join('[./ -]?');
  // In prose, a decimal number is no license, nor is a short word before a short number.
  if (/^\d/.test(prefix)) return `${typed}[./-](?=\\d{5})`;
  return typed.length === 1 ? `${typed}[./-](?=\\d{4})` : `${typed}(?:[./-](?=\\d{4})|[./ -]?(?=\\d{5}))`;
}

const NUMBER = new RegExp(`(?<![\\w.]|\\w-)(?:${[...PREFIXES].map(pattern).join('|')})(\\d+)(?!\\w)`, 'gi');

/** The license numbers in a text or in source code that a board could have issued, and that may be a real person's. */
export function issuableNumbers(text: string): string[] {
  const withoutEscapes = text.replaceAll(/\\[nrt]/g, ' ');
  return [...withoutEscapes.matchAll(NUMBER)].flatMap(([number, digits = '']) =>
    digits.length > MAX_DIGITS ? [] : [number],
  );
}

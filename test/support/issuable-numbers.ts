import { BOARDS } from '../../src/licenses/boards.ts';

/** No board writes more digits after the prefix: dataset and `sample-data/data/numbers.json` have eight at most. */
export const MOST_DIGITS = 8;

const PREFIXES = new Set(BOARDS.flatMap((board) => board.license_types.map(({ prefix }) => prefix)));

/** A prefix as people type it: `.`, `-`, `/`, a blank or nothing between its parts, then the fewest digits of a number. */
function pattern(prefix: string): string {
  const parts = prefix.split(/[.-]/).filter((part) => part !== '');
  if (/^0\d$/.test(prefix)) return `${prefix}-?(?=\\d{6})`;
  const typed = parts.join('[./ -]?');
  // In prose, a short word before a short number is no license.
  return /^[A-Z]$|^\d/.test(typed)
    ? `${typed}[./-](?=\\d{4})`
    : `${typed}(?:[./-](?=\\d{4})|[./ -]?(?=\\d{5}))`;
}

const NUMBER = new RegExp(`(?<![\\w.]|\\w-)(?:${[...PREFIXES].map(pattern).join('|')})(\\d+)(?!\\w)`, 'gi');

/** The license numbers in a text that a board could have issued, and that may be a real person's. */
export function issuableNumbers(text: string): string[] {
  return [...text.matchAll(NUMBER)].flatMap(([number, digits = '']) =>
    digits.length > MOST_DIGITS ? [] : [number],
  );
}

import { boardByName } from '../src/licenses/boards.ts';
import type { LicenseRecord } from '../src/licenses/license.ts';
import type { LookupRequest } from '../src/licenses/lookup.ts';

/** A way in which people type a number or a name. */
export interface TypingHabit {
  readonly name: string;
  /** The lookup of a license by somebody with this habit; `undefined` if the habit does not apply. */
  ask(license: LicenseRecord, kind: 'person' | 'business'): LookupRequest | undefined;
}

/** @param write returns `undefined` if the habit does not apply */
export function number(name: string, write: (number: string) => string | undefined): TypingHabit {
  return {
    name: `number ${name}`,
    ask: (license) => {
      const typed = write(license.license_number);
      if (typed === undefined) return undefined;
      return { by: 'number', number: typed, board: boardByName(license.board), businessOnly: false };
    },
  };
}

/** The parts of `LAST, FIRST MIDDLE`. */
export interface WrittenName {
  readonly last: string;
  readonly first: string;
}

/** @param write returns `undefined` if the habit does not apply */
export function person(name: string, write: (name: WrittenName) => WrittenName | undefined): TypingHabit {
  return {
    name: `person ${name}`,
    ask: (license, kind) => {
      const board = boardByName(license.board);
      if (kind !== 'person' || board === undefined) return undefined;
      const [last = '', first = ''] = license.full_name.split(',').map((part) => part.trim());
      const typed = write({ last, first });
      if (typed === undefined) return undefined;
      return {
        by: 'person',
        board,
        lastName: typed.last,
        firstName: typed.first === '' ? undefined : typed.first,
        filters: {},
      };
    },
  };
}

/** @param write returns `undefined` if the habit does not apply */
export function business(name: string, write: (name: string) => string | undefined): TypingHabit {
  return {
    name: `business ${name}`,
    ask: (license, kind) => {
      const board = boardByName(license.board);
      if (kind !== 'business' || board === undefined) return undefined;
      const typed = write(license.full_name);
      return typed === undefined ? undefined : { by: 'business', board, name: typed, filters: {} };
    },
  };
}

const SUFFIX = /\s+(JR|SR|II|III|IV)\.?$/;
const withoutAccents = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '');
const firstWord = (text: string) => text.split(/\s+/)[0] ?? '';
const titleCase = (text: string) =>
  text.toLowerCase().replace(/(^|[\s'-])\p{L}/gu, (start) => start.toUpperCase());

/** The habits whose results are in `docs/generated/matching.md`. */
export const TYPING_HABITS: readonly TypingHabit[] = [
  number('in lower case', (text) => text.toLowerCase()),
  number('with blanks for separators', (text) => text.replace(/[.-]/g, ' ')),
  number('with slashes, blanks around', (text) => `  ${text.replaceAll('.', '/')} `),
  number('without separators', (text) => text.replace(/[.-]/g, '')),
  number('with a typographic dash', (text) => text.replace(/[.-]/, '\u2013')),
  person('in title case, first name alone', ({ last, first }) => ({
    last: titleCase(last),
    first: titleCase(firstWord(first)),
  })),
  person('without accents, apostrophes, hyphens or blanks', ({ last, first }) => ({
    last: withoutAccents(last).replace(/[^\p{L}\s]|\s(?!(JR|SR|II|III|IV)\.?$)/gu, ''),
    first: withoutAccents(first).replace(/[^\p{L}]/gu, ''),
  })),
  person('with another generational suffix', ({ last, first }) => ({
    last: `${last.replace(SUFFIX, '')}, Jr.`,
    first,
  })),
  person('by the last half of a hyphenated surname', ({ last, first }) => ({
    last: last.replace(SUFFIX, '').split('-').at(-1) ?? last,
    first: firstWord(first),
  })),
  person('with three letters of the first name', ({ last, first }) => ({ last, first: first.slice(0, 3) })),
  business(
    'in lower case without THE and legal form',
    (text) =>
      text
        .split(/\sD\.?B\.?A\.?\s/)[0]
        ?.toLowerCase()
        .replace(/^the\s/, '')
        .replace(/[\s,]+(llc|inc|co|corp|ltd)\.?$/, '') ?? text,
  ),
  business('by the second name, AND for &, no punctuation', (text) =>
    (text.split(/\sD\.?B\.?A\.?\s/).at(-1) ?? text).replaceAll('&', 'and').replace(/[^\p{L}\p{N}\s]/gu, ''),
  ),
];

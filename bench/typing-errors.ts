import type { LicenseRecord } from '../src/licenses/license.ts';
import { givenNameVariants } from '../src/licenses/spelling.ts';
import { business, number, person, type TypingHabit, type WrittenName } from './typing-habits.ts';

/** The position of a mistake in a text. Positions vary with the text, but are the same in every run. */
function placeIn(text: string, from: number, to: number): number {
  const sum = Array.from(text).reduce((total, letter) => (total * 31 + letter.charCodeAt(0)) % 65_521, 7);
  return to <= from ? from : from + (sum % (to - from));
}

/** Makes a mistake at a position of a text; `undefined` if it is not possible there. */
type Mistake = (text: string, at: number) => string | undefined;

const swapped: Mistake = (text, at) =>
  text[at] === text[at + 1] || text[at + 1] === undefined
    ? undefined
    : text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2);
const doubled: Mistake = (text, at) => text.slice(0, at + 1) + text.slice(at);
const missing: Mistake = (text, at) => text.slice(0, at) + text.slice(at + 1);
const changedDigit: Mistake = (text, at) =>
  text.slice(0, at) + ((Number(text[at]) + 3) % 10) + text.slice(at + 1);
const changedLetter: Mistake = (text, at) =>
  text.slice(0, at) + (text[at] === 'E' ? 'A' : 'E') + text.slice(at + 1);

const LOOKALIKES: Readonly<Record<string, string>> = { 0: 'O', 1: 'I', 5: 'S', O: '0', I: '1', S: '5' };

const misread: Mistake = (text, at) => {
  const lookalike = LOOKALIKES[text[at] ?? ''];
  return lookalike === undefined ? undefined : text.slice(0, at) + lookalike + text.slice(at + 1);
};

/** Makes the mistake at the first possible position, starting from `placeIn` and wrapping around. */
function made(text: string, mistake: Mistake, from: number, to: number): string | undefined {
  const start = placeIn(text, from, to);
  const places = Array.from({ length: to - from }, (_, at) => from + ((start - from + at) % (to - from)));
  for (const at of places) {
    const typed = mistake(text, at);
    if (typed !== undefined && typed !== text) return typed;
  }
  return undefined;
}

/** Makes the mistake in the last group of digits. */
function inDigits(mistake: Mistake): (written: string) => string | undefined {
  return (written) => {
    const match = /\d+(?=\D*$)/.exec(written);
    if (match === null) return undefined;
    return made(written, mistake, match.index, match.index + match[0].length);
  };
}

/** Makes the mistake in the first part of a name, before a suffix or second name, but not in its first letter. */
function inWord(mistake: Mistake): (name: string) => string | undefined {
  return (name) => {
    const length = /^\p{L}+/u.exec(name)?.[0].length ?? 0;
    return length < 4 ? undefined : made(name, mistake, 1, length - 1);
  };
}

const repeatedDigit: Mistake = (text, at) => (text[at] === text[at + 1] ? missing(text, at) : undefined);

const firstWord = (text: string) => text.split(/\s+/)[0] ?? '';

function surname(change: (last: string) => string | undefined) {
  return ({ last, first }: WrittenName) => {
    const typed = change(last);
    return typed === undefined ? undefined : { last: typed, first: firstWord(first) };
  };
}

function given(change: (first: string) => string | undefined) {
  return ({ last, first }: WrittenName) => {
    const typed = change(firstWord(first));
    return typed === undefined ? undefined : { last, first: typed };
  };
}

/** Spellings that sound alike, tried in this order. */
const SOUNDS: readonly (readonly [RegExp, string])[] = [
  [/PH/, 'F'],
  [/CK/, 'K'],
  [/EI/, 'IE'],
  [/(.)IE/, '$1EI'],
  [/([LNRTSP])\1/, '$1'],
  [/(?<=.)Y/, 'I'],
  [/C(?=[AOU])/, 'K'],
  [/(?<=.)Z/, 'S'],
  [/EN$/, 'IN'],
  [/ER$/, 'OR'],
  [/SON$/, 'SEN'],
  [/(?<=.)A(?=[LNR])/, 'E'],
];

function asItSounds(name: string): string | undefined {
  const sound = SOUNDS.find(([pattern]) => pattern.test(name));
  return sound === undefined ? undefined : name.replace(sound[0], sound[1]);
}

function nickname(first: string): string | undefined {
  const names = givenNameVariants(first).filter((name) => !name.startsWith(first));
  return names[placeIn(first, 0, names.length)];
}

const COMMON_SURNAMES = ['SMITH', 'MILLER', 'JOHNSON', 'BROWN', 'DAVIS', 'WILLIAMS', 'JONES', 'WILSON'];

function otherSurname(last: string): string | undefined {
  const others = COMMON_SURNAMES.filter((name) => !last.includes(name));
  return others[placeIn(last, 0, others.length)];
}

/** The same habit, with the holder's name sent along with the number. */
function withName(habit: TypingHabit): TypingHabit {
  return {
    name: `${habit.name}, with the holder's name`,
    ask: (license: LicenseRecord, kind) => {
      const request = habit.ask(license, kind);
      if (request?.by !== 'number' || kind !== 'person') return undefined;
      const [lastName = '', first = ''] = license.full_name.split(',').map((part) => part.trim());
      const name = first === '' ? { lastName } : { lastName, firstName: firstWord(first) };
      return { ...request, name };
    },
  };
}

const NUMBER_ERRORS = [
  number('with two digits swapped', inDigits(swapped)),
  number('with a digit typed twice', inDigits(doubled)),
  number('with a double digit typed once', inDigits(repeatedDigit)),
  number('with a digit missing', inDigits(missing)),
  number('with another digit', inDigits(changedDigit)),
];

/** Mistakes that the folding rules do not undo. `docs/generated/matching.md` has the result of each. */
export const TYPING_ERRORS: readonly TypingHabit[] = [
  ...NUMBER_ERRORS,
  number('with O for 0, I for 1 or S for 5', inDigits(misread)),
  number('with 0 for O, 1 for I or 5 for S in the prefix', (written) => {
    const prefix = /^[A-Z]+(?=[.-])/.exec(written)?.[0] ?? '';
    return prefix === '' ? undefined : made(written, misread, 0, prefix.length);
  }),
  ...NUMBER_ERRORS.map(withName),
  person('with a nickname or another form of the given name', given(nickname)),
  person('with the middle name as the given name', ({ last, first }) => {
    const middle = first.split(/\s+/)[1] ?? '';
    return middle.length < 3 ? undefined : { last, first: middle };
  }),
  person('with given name and surname swapped', ({ last, first }) =>
    first === '' ? undefined : { last: firstWord(first), first: last },
  ),
  person('with two letters of the surname swapped', surname(inWord(swapped))),
  person('with a letter of the surname typed twice', surname(inWord(doubled))),
  person('with a letter of the surname missing', surname(inWord(missing))),
  person('with another letter in the surname', surname(inWord(changedLetter))),
  person('with the surname as it sounds', surname(asItSounds)),
  person('with 0 for O, 1 for I or 5 for S in the surname', surname(inWord(misread))),
  person('with two letters of the given name swapped', given(inWord(swapped))),
  person('with a letter of the given name missing', given(inWord(missing))),
  person('with the given name as it sounds', given(asItSounds)),
  person('with a surname from before or after a marriage', surname(otherSurname)),
  business('with two letters swapped', inWord(swapped)),
  business('with a letter missing', inWord(missing)),
  business('with its first two words swapped', (name) => {
    const [one = '', other = '', ...rest] = name.split(/\s+/);
    return other === '' ? undefined : [other, one, ...rest].join(' ');
  }),
  business('without its second word', (name) => {
    const words = name.split(/\s+/);
    return words.length < 3 ? undefined : words.toSpliced(1, 1).join(' ');
  }),
];

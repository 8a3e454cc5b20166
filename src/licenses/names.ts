import NAMES from '../../data/names.json' with { type: 'json' };
import { distinctKeys, fold, unaccent, visibleText } from './fold.ts';

/** The single words of texts that have several words in capitals. */
function wordsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.split(' ')));
}

const SUFFIXES = wordsOf(NAMES.generational_suffixes);
/** `V` and `VI` count as suffixes only if the name has given names. After given names, they may also be initials. */
const NUMERALS = wordsOf(NAMES.suffixes_or_initials);
const TITLES = wordsOf(NAMES.titles);
const CREDENTIALS = wordsOf(NAMES.credentials);
const CREDENTIALS_OR_NAMES = wordsOf(NAMES.credentials_or_names);
const SURNAME_BEGINNINGS = wordsOf(NAMES.surname_beginnings);
const SAINTS = wordsOf(NAMES.saints);
const ARTICLES = wordsOf(NAMES.business_articles);
const CONJUNCTIONS = wordsOf(NAMES.business_conjunctions);
const LEGAL_FORMS = wordsOf(NAMES.business_legal_forms);
const DASH = /[\p{Pd}\u2212]/u;
const DASHES_AND_BLANKS = /[\s\p{Pd}\u2212]/u;

/** A person's name in folded form. */
export interface PersonName {
  /** The whole surname, without a generational suffix. */
  readonly surname: string;
  /** The whole surname first, then each half of a hyphenated surname; each with every spelling of Saint. */
  readonly surnameForms: readonly string[];
  /** Each half of a double surname without a hyphen. Only suggestions use the halves, not searches. */
  readonly halves: readonly string[];
  /** The suffix, if it may be typed as an initial; else empty. */
  readonly numeral: string;
  /** First and middle names as one word; empty for a single name. */
  readonly given: string;
}

/**
 * Splits a LICENSEE_NAME of the form `LAST SUFFIX, FIRST MIDDLE`. There may be a blank before the comma, no blank after
 * it, or a comma before the suffix. A name without a comma counts as the surname, and keeps its suffix.
 */
export function nameParts(licenseeName: string): { last: string; given: string } {
  const name = visibleText(licenseeName);
  const comma = commaAfterSurname(name);
  return {
    last: (comma < 0 ? name : name.slice(0, comma)).trim(),
    given: comma < 0 ? '' : name.slice(comma + 1).trim(),
  };
}

/** The first comma, or the second in `LAST, SUFFIX, FIRST`; -1 without one. */
function commaAfterSurname(licenseeName: string): number {
  const first = licenseeName.indexOf(',');
  const second = first < 0 ? -1 : licenseeName.indexOf(',', first + 1);
  return second > 0 && isSuffix(licenseeName.slice(first + 1, second)) ? second : first;
}

/** Whether a word is a generational suffix in a name with given names. */
function isSuffix(word: string): boolean {
  const key = fold(word);
  return SUFFIXES.has(key) || NUMERALS.has(key);
}

/** Given names one by one, as they are written. */
export function givenNames(given: string): string[] {
  return given.split(/[\s,]+/).filter((name) => name !== '');
}

/** The first of the given names, as it is written. */
export function firstGivenName(given: string): string {
  return givenNames(given)[0] ?? '';
}

/**
 * The name to search for a license's holder. A part without a letter or digit is left out, because a search for it
 * would be rejected.
 */
export function holderToSearch(licenseeName: string): PersonParts | undefined {
  const { last, given } = nameParts(licenseeName);
  return searchableParts({ lastName: last, firstName: given })[0];
}

export function foldPersonName(licenseeName: string): PersonName {
  const { last, given: writtenGiven } = nameParts(licenseeName);
  const given = fold(withoutSuffix(writtenGiven));
  const whole = fold(last);
  if (whole === last) {
    return { surname: whole, surnameForms: whole === '' ? [] : [whole], halves: [], numeral: '', given };
  }
  const written = surnameOf(last, given !== '');
  const surname = written === last ? whole : fold(written);
  const surnameForms = surnameFormsOf(written, surname);
  const halves = given === '' ? [] : surnameUnits(written).filter((unit) => !surnameForms.includes(unit));
  const suffix = whole.slice(surname.length);
  return { surname, surnameForms, halves, numeral: NUMERALS.has(suffix) ? suffix : '', given };
}

/** A surname without its suffix. */
function surnameOf(last: string, hasGivenNames: boolean): string {
  return hasGivenNames ? withoutEnd(last, isSuffix) : withoutSuffix(last);
}

function surnameFormsOf(written: string, surname: string): string[] {
  const forms = saintForms(written, surname);
  if (!DASH.test(written)) return surname === '' ? [] : forms;
  return distinctKeys([...forms, ...written.split(DASH).flatMap((half) => saintForms(half))]);
}

const SAINT = new RegExp(`(?<![\\p{L}\\p{N}])(?:${[...SAINTS].join('|')})(?=[.\\s\\p{Pd}]+\\p{L})`, 'giu');
/** A fast check, which rules out `Saint` for most surnames. */
const MAYBE_SAINT = /ST[^A-Z]|STE[^A-Z]|SAINT/i;

/** The keys of a surname: first as written, then with the other spellings of `Saint` before a word. */
function saintForms(surname: string, asWritten = fold(surname)): string[] {
  if (!MAYBE_SAINT.test(surname)) return [asWritten];
  return distinctKeys([asWritten, ...Array.from(SAINTS, (word) => fold(surname.replace(SAINT, word)))]);
}

/** The parts of a double surname: `DE LA CRUZ GARCIA` → `DELACRUZ`, `GARCIA`. None for a surname of one part. */
function surnameUnits(surname: string): string[] {
  if (!hasTwoWords(surname)) return [];
  const units: string[] = [];
  let beginning = '';
  for (const key of surname.split(DASHES_AND_BLANKS).map(fold)) {
    const isBeginning = key === '' || SURNAME_BEGINNINGS.has(key);
    // A single letter, such as the `Y` between two names, is no surname.
    if (!isBeginning && key.length > 1) units.push(beginning + key);
    beginning = isBeginning ? beginning + key : '';
  }
  return units.length > 1 ? units : [];
}

/** Marks half of a double surname in keys for suggestions. No folded surname contains it. */
const HALF = '-';

/** The key of half of a surname, to look for holders of double surnames. */
export function halfKey(surname: string): string {
  return surname + HALF;
}

/**
 * The keys of a holder, `BOARD/SURNAME/GIVEN`. A search finds the holder if one of these keys begins with the searched
 * name.
 */
export function holderKeys(
  board: string,
  { surname, surnameForms, halves, numeral, given }: PersonName,
): string[] {
  const keys = surnameForms.map((form) => `${board}/${form}/${given}`);
  if (numeral !== '') {
    keys.push(`${board}/${surname}/${given}${numeral}`, `${board}/${surname}${numeral}/${given}`);
  }
  for (const half of halves) keys.push(`${board}/${halfKey(half)}/${given}`);
  return keys;
}

/** A LICENSEE_NAME as responses show it: without the blank that older rows have before the comma. */
export function fullName(licenseeName: string): string {
  const comma = licenseeName.indexOf(',');
  return comma < 0 ? licenseeName : licenseeName.slice(0, comma).trimEnd() + licenseeName.slice(comma);
}

/**
 * A LICENSEE_NAME without suffix and middle names, to search for its holder: `KING JR, MARTIN LEE` → `KING, MARTIN`.
 */
export function nameToSearch(licenseeName: string): string {
  const { last, given } = nameParts(licenseeName);
  const first = firstGivenName(given);
  const surname = surnameOf(last, fold(given) !== '').trim();
  return fold(first) === '' ? surname : `${surname}, ${first}`;
}

/**
 * The possible keys of a typed surname, most likely first: without title, credentials and generational suffix, then as
 * typed.
 */
export function surnameKeys(lastName: string, hasGivenNames: boolean): string[] {
  const written = visibleText(lastName);
  if (ONE_WORD.test(written)) return distinctKeys(saintForms(written));
  const name = withoutEnd(withoutTitle(written), isNoSurname);
  return distinctKeys([surnameOf(name, hasGivenNames), written].flatMap((form) => saintForms(form)));
}

/** The most likely key of a typed surname; empty if it has no letter or digit. */
export function surnameKey(lastName: string, hasGivenNames = false): string {
  return surnameKeys(lastName, hasGivenNames)[0] ?? '';
}

/** The most likely key of typed given names: folded, without title, credentials and generational suffix. */
export function givenNamesKey(firstName: string): string {
  const written = visibleText(firstName);
  return fold(ONE_WORD.test(written) ? written : withoutEnd(withoutTitle(written), isNoSurname));
}

const TITLE = /^\P{L}*(\p{L}+)[.,\s]+(?=\p{L})/u;

/** `Dr. Mary Smith` → `Mary Smith`. */
function withoutTitle(name: string): string {
  const [title, word] = TITLE.exec(name) ?? [];
  return title !== undefined && TITLES.has(fold(word ?? '')) ? withoutTitle(name.slice(title.length)) : name;
}

/** @param before the text before the word */
type IsEnd = (word: string, before: string) => boolean;

function withoutSuffix(name: string): string {
  return withoutEnd(name, (word) => SUFFIXES.has(fold(word)));
}

/** Removes words from the end of a name as long as `isEnd` accepts them. At least one word stays. */
function withoutEnd(name: string, isEnd: IsEnd): string {
  const end = endOf(name, name.length, false);
  const at = endOf(name, end, true);
  if (at === 0) return name;
  const before = name.slice(0, at);
  if (!isEnd(name.slice(at, end), before) || fold(before) === '') return name;
  return withoutEnd(before.slice(0, endOf(before, at, false)), isEnd);
}

/** A typed text that is a single word, so that it has neither title nor suffix. */
const ONE_WORD = /^[^\s,.]*[\s,]*$/;

function hasTwoWords(name: string): boolean {
  return endOf(name, endOf(name, name.length, false), true) > 0;
}

/**
 * Moves backward in a name over one word, or over the blanks and commas between words, and returns the place it
 * reaches.
 */
function endOf(name: string, from: number, isWord: boolean): number {
  let at = from;
  while (at > 0 && isBetweenWords(name.charCodeAt(at - 1)) !== isWord) at -= 1;
  return at;
}

function isBetweenWords(code: number): boolean {
  if (code > 0x7f) return /\s/.test(String.fromCharCode(code));
  return code <= 0x20 || code === 0x2c;
}

/**
 * Whether the last word of a typed name is certainly not part of the name: a listed credential or an unambiguous
 * suffix. The holder's name does not matter.
 */
function isNoSurname(word: string, before: string): boolean {
  return SUFFIXES.has(fold(word)) || isCredential(word, before);
}

/**
 * Whether a word is a credential: `RN`, `R.N.`, `FNP-C`. `DO` and `PA` may also be names, so they count only if the
 * word ends in a capital letter and the name before it has lower case letters.
 */
function isCredential(word: string, before: string): boolean {
  const key = fold(word);
  if (key === '' || CREDENTIALS.has(key)) return true;
  if (CREDENTIALS_OR_NAMES.has(key)) return /\p{Ll}/u.test(before) && /\p{Lu}\P{L}*$/u.test(word);
  return DASH.test(word) && CREDENTIALS.has(fold(word.split(DASH)[0] ?? ''));
}

/** Whether the word after an otherwise matching name is not part of the name: a suffix, a title or a credential. */
function isNoName(word: string, before: string): boolean {
  const key = fold(word);
  const isInOneCase = word === word.toUpperCase() || word === word.toLowerCase();
  const isLikelyCredential = isInOneCase && CREDENTIALS_OR_NAMES.has(key);
  return isLikelyCredential || isSuffix(word) || TITLES.has(key) || isCredential(word, before);
}

/**
 * Whether a person has the typed name. The surname must be one of the forms of the person's surname or half of it. The
 * given names must begin the person's given names, or may be more than the State has. Titles and credentials are
 * ignored.
 */
export function matchesPersonName(licenseeName: string, typed: TypedParts): boolean {
  return isHolder(holderOf(licenseeName), typed, true);
}

/** Whether a typed surname is only part of the holder's: `Smith` of `SMITH-JONES`. A business has no surname. */
export function isPartOfSurname(licenseeName: string, lastName: string): boolean {
  const { last, given } = nameParts(licenseeName);
  if (lastName === '' || (!DASH.test(last) && !hasTwoWords(last))) return false;
  const whole = saintForms(surnameOf(last, given !== ''));
  const { surnames } = holderOf(licenseeName);
  const typed = surnameKeys(lastName, true).filter((key) => surnames.has(key));
  return typed.length > 0 && !typed.some((key) => whole.includes(key));
}

/**
 * The parts of a holder's name to compare with typed names: the keys of the surname, and the given names as written.
 */
function holderOf(licenseeName: string) {
  const { surnameForms, halves } = foldPersonName(licenseeName);
  return { surnames: new Set([...surnameForms, ...halves]), given: nameParts(licenseeName).given };
}

/** @param mayHaveMore whether the typed name may have given names that the State does not have */
function isHolder(
  { surnames, given }: ReturnType<typeof holderOf>,
  { lastName, firstName }: TypedParts,
  mayHaveMore: boolean,
): boolean {
  const isSurname = lastName === undefined || surnameKeys(lastName, true).some((key) => surnames.has(key));
  if (!isSurname || firstName === undefined) return isSurname;
  return fitsGiven(given, visibleText(firstName), mayHaveMore);
}

/**
 * Whether typed given names may be the holder's. Either side may have more given names than the other, but no name may
 * contradict.
 */
function fitsGiven(holders: string, typed: string, mayHaveMore: boolean): boolean {
  const key = givenNamesKey(typed);
  if (key !== '' && fold(withoutSuffix(holders)).startsWith(key)) return true;
  // The given names end at a comma, as in `LAST, FIRST MIDDLE, RN`.
  const [names = ''] = withoutTitle(typed).split(',');
  const words = foldedWords(withoutEnd(names, isNoName));
  return words.length > 0 && fitsNames(foldedWords(holders), words, mayHaveMore);
}

function foldedWords(names: string): string[] {
  return names
    .split(/[\s,\p{Pd}\u2212]+/u)
    .map(fold)
    .filter((word) => word !== '');
}

/** Compares folded given names one by one, for `fitsGiven`. An initial matches a name that begins with it. */
function fitsNames(
  [first = '', ...own]: readonly string[],
  [typedFirst = '', ...typed]: readonly string[],
  mayHaveMore: boolean,
): boolean {
  if (first !== typedFirst && !(typedFirst.length === 1 && first.startsWith(typedFirst))) return false;
  const missing = [...own];
  const further = typed.filter((word) => {
    const at = missing.findIndex(
      (name) => name.startsWith(word) || (name.length === 1 && word.startsWith(name)),
    );
    if (at >= 0) missing.splice(at, 1);
    return at < 0;
  });
  return further.length === 0 || (mayHaveMore && missing.every(isSuffix));
}

/** Either part of a person's name, as typed. */
export interface TypedParts {
  readonly lastName?: string | undefined;
  readonly firstName?: string | undefined;
}

/** A person's name in two parts, as typed. */
export interface PersonParts {
  readonly lastName: string;
  /** The beginning of the given names; `undefined` for any. */
  readonly firstName?: string | undefined;
}

/** Names have fewer words. There is a limit because the surname could begin at each word. */
const MAX_NAME_WORDS = 8;

/**
 * The ways to split a person's name that was typed as a whole, most likely first. `GARCIA, MARIA` can be split in one
 * way. `Maria Garcia Lopez` is split with the last word as the surname, then with the last two words as the surname,
 * then with the surname first.
 */
export function personParts(wholeName: string): readonly PersonParts[] {
  const name = withoutEnd(withoutTitle(readableName(wholeName)), isAfterName);
  const { last, given } = nameParts(name);
  const isWritten = given !== '' && !givenNames(given).every((word) => SUFFIXES.has(fold(word)));
  if (isWritten) return [{ lastName: last, firstName: given }];
  const words = givenNames(name).slice(0, MAX_NAME_WORDS);
  const [lastWord = ''] = words.slice(-1);
  const ends = words.length > 1 && SUFFIXES.has(fold(lastWord)) ? 2 : 1;
  if (words.length <= ends) {
    return last === '' || CREDENTIALS.has(fold(last)) ? [] : [{ lastName: words.join(' ') }];
  }
  const splitAt = (at: number) => [words.slice(0, at).join(' '), words.slice(at).join(' ')] as const;
  const places = words.map((_, at) => at).slice(1, words.length - ends + 1);
  const beginning = places.find((at) => SURNAME_BEGINNINGS.has(fold(words[at] ?? '')));
  const likeliest = beginning ?? words.length - (words.length > 2 && isSuffix(lastWord) ? 2 : 1);
  const ordered = [likeliest, ...places.toReversed().filter((at) => at !== likeliest)];
  return [
    ...ordered.map((at) => ({ lastName: splitAt(at)[1], firstName: splitAt(at)[0] })),
    ...places.map((at) => ({ lastName: splitAt(at)[0], firstName: splitAt(at)[1] })),
  ];
}

/** A typed name with single blanks between its words, and without the brackets and separators around credentials. */
function readableName(typed: string): string {
  return visibleText(typed)
    .replace(/[\s|;/()[\]]+/g, ' ')
    .trim();
}

/**
 * Whether the word after a whole name is a credential or a title. A word that may also be a name counts as a credential
 * after a second comma.
 */
function isAfterName(word: string, before: string): boolean {
  const key = fold(word);
  if (isCredential(word, before)) return true;
  const isSecondComma = before.indexOf(',') !== before.lastIndexOf(',');
  return (
    (TITLES.has(key) && hasTwoWords(before) && !SUFFIXES.has(key)) ||
    (CREDENTIALS_OR_NAMES.has(key) && isSecondComma)
  );
}

const MAX_READINGS = 4;

/** Reads a person's name that was typed into one field. A name without a surname has no readings. */
export function readTypedPerson(typed: string) {
  const parts = personParts(typed).flatMap(searchableParts);
  const isAtComma = parts.length < 2;
  const surnameLast = isAtComma ? parts : parts.slice(0, parts.length / 2);
  const surnameFirst = isAtComma ? parts.flatMap(swappedParts) : parts.slice(parts.length / 2);
  const [first, last] = [surnameFirst[0], surnameFirst.slice(1).at(-1)];
  const others = [first, last, ...[surnameLast[0], first].map((each) => each && withoutMiddleNames(each))];
  return {
    /** The readings with the surname last, or before a comma: at most four. */
    readings: surnameLast.slice(0, MAX_READINGS),
    /** The readings with the surname first, then those without the middle names: at most four. */
    others: others.filter((other) => other !== undefined),
  };
}

function searchableParts({ lastName, firstName = '' }: PersonParts): PersonParts[] {
  if (surnameKey(lastName) === '') return [];
  return [givenNamesKey(firstName) === '' ? { lastName } : { lastName, firstName }];
}

/**
 * The surname and given name swapped. None if the given name has a comma, because the swapped name would be split
 * there.
 */
function swappedParts({ lastName, firstName }: PersonParts): PersonParts[] {
  if (firstName === undefined || firstName.includes(',')) return [];
  return [{ lastName: firstName, firstName: lastName }];
}

function withoutMiddleNames({ lastName, firstName = '' }: PersonParts): PersonParts | undefined {
  const [first = '', middle] = givenNames(firstName);
  return middle === undefined || fold(first) === '' ? undefined : { lastName, firstName: first };
}

/** Whether a person has the name that was typed as a whole. */
export function isNamed(holder: string, typed: string): boolean {
  const compared = holderOf(holder);
  const isAfterTwo: IsEnd = (word, before) => hasTwoWords(before) && isNoName(word, before);
  return [typed, withoutEnd(readableName(typed), isAfterTwo)].map(personParts).some((parts) =>
    // Only the first half of the readings may have extra given names: where the surname comes first, the words after
    // the given names may be the surname.
    parts.some((each, at) => isHolder(compared, each, at < parts.length / 2)),
  );
}

/** Whether a name is a business name, according to its legal form or `D.B.A`: `Maple Health LLC`. */
export function hasLegalForm(name: string): boolean {
  return DOING_BUSINESS_AS.test(name) || tradeNameWords(name).length < contentWords(name).length;
}

const DOING_BUSINESS_AS = new RegExp(
  `(?:^|\\s)(?:${Array.from(wordsOf(NAMES.doing_business_as), (word) => word.replace(/[./]/g, '\\$&')).join('|')})(?:\\s+|$)`,
  'i',
);

/** The trade names of a BUSINESS_NAME: one, or those before and after `D.B.A`. */
export function tradeNames(businessName: string): string[] {
  return visibleText(businessName)
    .split(DOING_BUSINESS_AS)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The keys of a business, searched by prefix: each trade name with and without its legal form, and the whole name. */
export function businessNameKeys(businessName: string): string[] {
  return distinctKeys([
    // The key with the legal form also matches a name that was typed only up to the middle of the legal form.
    ...tradeNames(businessName).flatMap((name) => [tradeNameKey(name), contentWords(name).join('')]),
    contentWords(businessName).join(''),
  ]);
}

/**
 * The key of a trade name: folded, without `THE` at its start, `AND`, `&`, punctuation and the legal form at its end.
 * A name that consists only of such words keeps them.
 */
export function tradeNameKey(tradeName: string): string {
  return tradeNameWords(tradeName).join('');
}

/** The significant words of a trade name, folded, without legal forms at the end. */
function tradeNameWords(tradeName: string): string[] {
  const words = contentWords(tradeName);
  while (words.length > 1 && LEGAL_FORMS.has(words.at(-1) ?? '')) words.pop();
  return words;
}

/** The significant words of every trade name of a business. */
export function businessWords(businessName: string): string[] {
  return distinctKeys(tradeNames(businessName).flatMap(tradeNameWords));
}

/** Each further word would make the search slower. */
const MAX_SEARCHED_WORDS = 10;

/**
 * The words (at most ten) to search for a typed business name: the words of every trade name in it, without `D.B.A` and
 * `THE`. Each must begin a word of the business's name.
 */
export function searchedWords(businessName: string): string[] {
  const words = businessWords(businessName);
  const kept = words.filter((word) => !ARTICLES.has(word));
  return (kept.length > 0 ? kept : words).slice(0, MAX_SEARCHED_WORDS);
}

/**
 * Whether a search for the typed name finds the business: its key begins one of the business's keys, or each typed word
 * begins a word of the business's name.
 */
export function matchesBusinessName(businessName: string, typed: string): boolean {
  const key = tradeNameKey(typed);
  if (key !== '' && businessNameKeys(businessName).some((form) => form.startsWith(key))) return true;
  const words = businessWords(businessName);
  const typedWords = searchedWords(typed);
  return typedWords.length > 0 && typedWords.every((start) => words.some((word) => word.startsWith(start)));
}

function contentWords(tradeName: string): string[] {
  const all = unaccent(tradeName)
    .replace(/['’‘`.]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const kept = all.filter((word, at) => !(at === 0 && ARTICLES.has(word)) && !CONJUNCTIONS.has(word));
  return kept.length > 0 ? kept : all;
}

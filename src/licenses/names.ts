import { z } from 'zod';
import namesJson from '../../data/names.json' with { type: 'json' };
import { distinctKeys, fold, unaccent } from './fold.ts';

const words = z.array(z.string().min(1)).min(1);
const NAMES = z
  .object({
    generational_suffixes: words,
    credentials: words,
    surname_beginnings: words,
    business_articles: words,
    business_conjunctions: words,
    business_legal_forms: words,
    doing_business_as: words,
  })
  .parse(namesJson);

const GENERATIONAL_SUFFIXES = new Set(NAMES.generational_suffixes);
const DASH = /[\p{Pd}\u2212]/u;

/** A person's name in folded form. */
export interface PersonName {
  /** The whole surname, without a generational suffix. */
  readonly surname: string;
  /** The whole surname first, then each half of a hyphenated one. */
  readonly surnameForms: readonly string[];
  /** First and middle names as one word; empty for a single name. */
  readonly given: string;
}

/**
 * Splits a LICENSEE_NAME: `LAST SUFFIX, FIRST MIDDLE`, also with a blank before the comma or none after it, or with a
 * comma before the suffix. A name without a comma is taken as the surname, which keeps its suffix.
 */
export function nameParts(licenseeName: string): { last: string; given: string } {
  const comma = commaAfterSurname(licenseeName);
  return {
    last: (comma < 0 ? licenseeName : licenseeName.slice(0, comma)).trim(),
    given: comma < 0 ? '' : licenseeName.slice(comma + 1).trim(),
  };
}

/** The first comma, or the second in `LAST, SUFFIX, FIRST`; -1 without one. */
function commaAfterSurname(licenseeName: string): number {
  const first = licenseeName.indexOf(',');
  const second = first < 0 ? -1 : licenseeName.indexOf(',', first + 1);
  const isSuffix = second > 0 && GENERATIONAL_SUFFIXES.has(fold(licenseeName.slice(first + 1, second)));
  return isSuffix ? second : first;
}

/** Given names one by one, as they are written. */
export function givenNames(given: string): string[] {
  return given.split(/[\s,]+/).filter((name) => name !== '');
}

/** The first of the given names, as it is written. */
export function firstGivenName(given: string): string {
  return givenNames(given)[0] ?? '';
}

/** What finds a holder by name: a part without a letter or digit is left out, for a search by it is refused. */
export function holderToSearch(licenseeName: string): { lastName: string; firstName?: string } | undefined {
  const { last, given } = nameParts(licenseeName);
  if (surnameKey(last) === '') return undefined;
  return { lastName: last, ...(givenNamesKey(given) === '' ? {} : { firstName: given }) };
}

export function foldPersonName(licenseeName: string): PersonName {
  const { last, given } = nameParts(licenseeName);
  const written = withoutGenerationalSuffix(last);
  const surname = fold(written);
  return { surname, surnameForms: surnameForms(written, surname), given: givenNamesKey(given) };
}

function surnameForms(written: string, surname: string): string[] {
  if (!DASH.test(written)) return surname === '' ? [] : [surname];
  return distinctKeys([surname, ...written.split(DASH).map(fold)]);
}

/** A LICENSEE_NAME as responses show it: without the blank that older rows have before the comma. */
export function fullName(licenseeName: string): string {
  return licenseeName.replace(/^[^,]*(?=,)/, (surname) => surname.trimEnd());
}

/** A LICENSEE_NAME without suffix and middle names, which finds its holder: `KING JR, MARTIN LEE` → `KING, MARTIN`. */
export function nameToSearch(licenseeName: string): string {
  const { last, given } = nameParts(licenseeName);
  const surname = withoutGenerationalSuffix(last).trim();
  const first = firstGivenName(given);
  return fold(first) === '' ? surname : `${surname}, ${first}`;
}

/** The key of a surname: folded, without a generational suffix at its end. */
export function surnameKey(lastName: string): string {
  return fold(withoutGenerationalSuffix(lastName));
}

/** The key of given names, typed or from the file: folded, without a generational suffix at the end. */
export function givenNamesKey(firstName: string): string {
  return fold(withoutGenerationalSuffix(firstName));
}

/** Whether a person has the typed name: one of the surname's forms, and the beginning of the given names. */
export function matchesPersonName(
  licenseeName: string,
  lastName: string | undefined,
  firstName: string | undefined,
): boolean {
  const { surnameForms, given } = foldPersonName(licenseeName);
  const isSurname = lastName === undefined || surnameForms.includes(surnameKey(lastName));
  const beginning = givenNamesKey(firstName ?? '');
  const isGiven = firstName === undefined || (beginning !== '' && given.startsWith(beginning));
  return isSurname && isGiven;
}

/** A person's name in two parts, as typed. */
export interface PersonParts {
  readonly lastName: string;
  /** The beginning of the given names; `undefined` for any. */
  readonly firstName?: string | undefined;
}

/** What follows the names of professionals. `DO` and `PA` are names, too. */
const CREDENTIALS = new Set(NAMES.credentials);

/** A name has fewer words; each could be where the surname begins. */
const MAX_NAME_WORDS = 8;

/** Words that begin a surname of several: `DE LA CRUZ`, `VAN DER BERG`. */
const SURNAME_BEGINNINGS = new Set(NAMES.surname_beginnings);

/**
 * How a person's name, typed as a whole, may be split, the likeliest first: `GARCIA, MARIA` in one way; `Maria Garcia
 * Lopez` with the last word as the surname, then with the last two, then the other way round.
 */
export function personParts(wholeName: string): readonly PersonParts[] {
  const name = withoutCredentials(wholeName.trim().replace(/\s+/g, ' '));
  const { last, given } = nameParts(name);
  if (given !== '') return [{ lastName: last, firstName: given }];
  const words = last.split(' ').slice(0, MAX_NAME_WORDS);
  const ends = words.length > 2 && GENERATIONAL_SUFFIXES.has(fold(words.at(-1) ?? '')) ? 2 : 1;
  if (words.length <= ends) return last === '' ? [] : [{ lastName: last }];
  const splitAt = (at: number) => [words.slice(0, at).join(' '), words.slice(at).join(' ')] as const;
  const places = words.map((_, at) => at).slice(1, words.length - ends + 1);
  const beginning = places.find((at) => SURNAME_BEGINNINGS.has(fold(words[at] ?? '')));
  const likeliest = beginning ?? words.length - ends;
  const ordered = [likeliest, ...places.toReversed().filter((at) => at !== likeliest)];
  return [
    ...ordered.map((at) => ({ lastName: splitAt(at)[1], firstName: splitAt(at)[0] })),
    ...places.map((at) => ({ lastName: splitAt(at)[0], firstName: splitAt(at)[1] })),
  ];
}

/** How a person's name that was typed into one field is searched. */
export interface TypedPerson {
  /** With the surname last, or before a comma: at most four. */
  readonly readings: readonly PersonParts[];
  /** With the surname first, or without the middle names: at most three. */
  readonly others: readonly PersonParts[];
}

const MAX_READINGS = 4;

/** Reads a person's name that was typed into one field. Without a surname, there are no readings. */
export function readTypedPerson(typed: string): TypedPerson {
  const parts = personParts(typed).flatMap(searchableParts);
  const isAtComma = parts.length < 2;
  const surnameLast = isAtComma ? parts : parts.slice(0, parts.length / 2);
  const surnameFirst = isAtComma ? parts.flatMap(swappedParts) : parts.slice(parts.length / 2);
  const [first, last] = [surnameFirst[0], surnameFirst.slice(1).at(-1)];
  const others = [first, last, ...surnameLast.slice(0, 1).map(withoutMiddleNames)];
  return {
    readings: surnameLast.slice(0, MAX_READINGS),
    others: others.filter((other) => other !== undefined),
  };
}

function searchableParts({ lastName, firstName = '' }: PersonParts): PersonParts[] {
  if (surnameKey(lastName) === '') return [];
  return [givenNamesKey(firstName) === '' ? { lastName } : { lastName, firstName }];
}

/** None for what a comma in it would split elsewhere. */
function swappedParts({ lastName, firstName }: PersonParts): PersonParts[] {
  if (firstName === undefined || firstName.includes(',')) return [];
  return [{ lastName: firstName, firstName: lastName }];
}

function withoutMiddleNames({ lastName, firstName = '' }: PersonParts): PersonParts | undefined {
  const [first = '', middle] = givenNames(firstName);
  return middle === undefined || fold(first) === '' ? undefined : { lastName, firstName: first };
}

/** `GARCIA, MARIA, RN, BSN` → `GARCIA, MARIA`. */
function withoutCredentials(name: string): string {
  const parts = name.split(/, ?| (?=\S+$)/);
  let end = name.length;
  for (const part of parts.toReversed()) {
    if (!CREDENTIALS.has(fold(part))) break;
    end = name.lastIndexOf(part, end - 1);
  }
  return name.slice(0, end).replace(/(?<![\s,])[\s,]+$/, '');
}

/** Whether a holder, a person or a business, has the name that was typed as a whole. */
export function isNamed(kind: 'person' | 'business', holder: string, typed: string): boolean {
  if (kind === 'business') return matchesBusinessName(holder, typed);
  return personParts(typed).some(({ lastName, firstName }) => matchesPersonName(holder, lastName, firstName));
}

/** Whether a name is a business's, as its legal form says: `Maple Health LLC`. */
export function hasLegalForm(name: string): boolean {
  return DOING_BUSINESS_AS.test(name) || tradeNameWords(name).length < contentWords(name).length;
}

const LAST_WORD = /(?<![\s,])[\s,]+([^\s,]+)[\s,]*$/;

function withoutGenerationalSuffix(name: string): string {
  const [end, last] = LAST_WORD.exec(name) ?? [];
  if (end === undefined || last === undefined || !GENERATIONAL_SUFFIXES.has(fold(last))) return name;
  const rest = name.slice(0, -end.length);
  return fold(rest) === '' ? name : rest;
}

const ARTICLES = new Set(NAMES.business_articles);
const CONJUNCTIONS = new Set(NAMES.business_conjunctions);
const LEGAL_FORMS = new Set(NAMES.business_legal_forms);
const DOING_BUSINESS_AS = new RegExp(
  `(?:^|\\s)(?:${NAMES.doing_business_as.map((word) => word.replace(/[./]/g, '\\$&')).join('|')})(?:\\s+|$)`,
  'i',
);

/** The trade names of a BUSINESS_NAME: one, or those before and after `D.B.A`. */
export function tradeNames(businessName: string): string[] {
  return businessName
    .split(DOING_BUSINESS_AS)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The keys of a business, searched by prefix: each trade name with and without its legal form, and the whole name. */
export function businessNameKeys(businessName: string): string[] {
  return distinctKeys([
    ...tradeNames(businessName).flatMap((name) => [tradeNameKey(name), tradeNameKeyWithLegalForm(name)]),
    tradeNameKeyWithLegalForm(businessName),
  ]);
}

/**
 * The key of a trade name: folded, without `THE` at its start, `AND`, `&`, punctuation and the legal form at its end.
 * A name that consists only of such words keeps them.
 */
export function tradeNameKey(tradeName: string): string {
  return tradeNameWords(tradeName).join('');
}

/** Like `tradeNameKey`, but with the legal form, so that a name typed up to the middle of it is still a prefix. */
export function tradeNameKeyWithLegalForm(tradeName: string): string {
  return contentWords(tradeName).join('');
}

/** The significant words of a trade name, folded, without legal forms at the end. */
export function tradeNameWords(tradeName: string): string[] {
  const words = contentWords(tradeName);
  while (words.length > 1 && LEGAL_FORMS.has(words.at(-1) ?? '')) words.pop();
  return words;
}

/** Each further word would make the search slower. */
const MAX_SEARCHED_WORDS = 10;

/**
 * The words (the first ten) that a search for a typed business name looks for: those of every trade name in it, without
 * `D.B.A` and `THE`. Each must be the beginning of a word of the business's name.
 */
export function searchedWords(businessName: string): string[] {
  const words = tradeNames(businessName).flatMap(tradeNameWords);
  const kept = words.filter((word) => !ARTICLES.has(word));
  return (kept.length > 0 ? kept : words).slice(0, MAX_SEARCHED_WORDS);
}

/** Whether a search by this name finds the business: the name begins one of its keys, or has only words of it. */
export function matchesBusinessName(businessName: string, typed: string): boolean {
  const key = tradeNameKey(typed);
  const beginsKey = key !== '' && businessNameKeys(businessName).some((form) => form.startsWith(key));
  return beginsKey || hasSearchedWords(businessName, typed);
}

/** Whether every typed word is the beginning of a word of the business's trade names. */
export function hasSearchedWords(businessName: string, typed: string): boolean {
  const words = tradeNames(businessName).flatMap(tradeNameWords);
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

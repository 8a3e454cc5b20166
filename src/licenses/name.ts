import { z } from 'zod';
import namesJson from '../../data/names.json' with { type: 'json' };
import { fold, unaccent } from './fold.ts';

const words = z.array(z.string().min(1)).min(1);
const NAMES = z
  .strictObject({
    generational_suffixes: words,
    business_articles: words,
    business_conjunctions: words,
    business_legal_forms: words,
    doing_business_as: words,
  })
  .parse(namesJson);

const GENERATIONAL_SUFFIXES = new Set(NAMES.generational_suffixes);
const ARTICLES = new Set(NAMES.business_articles);
const CONJUNCTIONS = new Set(NAMES.business_conjunctions);
const LEGAL_FORMS = new Set(NAMES.business_legal_forms);
const DOING_BUSINESS_AS = new RegExp(
  `(?:^|\\s)(?:${NAMES.doing_business_as.map((word) => word.replace(/[./]/g, '\\$&')).join('|')})(?:\\s+|$)`,
  'i',
);
const DASH = /[\p{Pd}\u2212]/u;

/** A holder's name in folded form. */
export interface HolderName {
  /** The whole surname, without a generational suffix. */
  readonly surname: string;
  /** The whole surname first, then each half of a hyphenated one. */
  readonly surnameForms: readonly string[];
  /** First and middle names as one word; empty for a single name. */
  readonly given: string;
}

/**
 * Folds a LICENSEE_NAME: `LAST SUFFIX, FIRST MIDDLE`, also with a blank before the comma or without a comma
 * (a single name, taken as the surname).
 */
export function holderName(licenseeName: string): HolderName {
  const comma = licenseeName.indexOf(',');
  const last = comma < 0 ? licenseeName : licenseeName.slice(0, comma);
  const written = withoutGenerationalSuffix(last);
  const surname = fold(written);
  return {
    surname,
    surnameForms: surnameForms(written, surname),
    given: comma < 0 ? '' : typedGiven(licenseeName.slice(comma + 1)),
  };
}

function surnameForms(written: string, surname: string): string[] {
  if (!DASH.test(written)) return surname === '' ? [] : [surname];
  const forms = [surname, ...written.split(DASH).map(fold)];
  return [...new Set(forms)].filter((form) => form !== '');
}

/** A LICENSEE_NAME as it is answered: without the blank that older rows have before the comma. */
export function fullName(licenseeName: string): string {
  return licenseeName.replace(/^([^,]*?)\s+,/, '$1,');
}

/** The key of a surname as typed: folded, a generational suffix at its end left off. */
export function typedSurname(lastName: string): string {
  return fold(withoutGenerationalSuffix(lastName));
}

/** The key of given names as typed, or as they stand in the file: a generational suffix at the end left off. */
export function typedGiven(firstName: string): string {
  return fold(withoutGenerationalSuffix(firstName));
}

/** Whether a holder's name is the one typed: a form of the surname, and the beginning of the given names. */
export function isHoldersName(
  licenseeName: string,
  lastName: string | undefined,
  firstName: string | undefined,
): boolean {
  const { surnameForms, given } = holderName(licenseeName);
  const isSurname = lastName === undefined || surnameForms.includes(typedSurname(lastName));
  const beginning = typedGiven(firstName ?? '');
  const isGiven = firstName === undefined || (beginning !== '' && given.startsWith(beginning));
  return isSurname && isGiven;
}

/** Whether a search for what was typed finds a business of this name: by a beginning, or by its words. */
export function isTradeName(businessName: string, typed: string): boolean {
  const key = tradeNameKey(typed);
  if (key === '') return false;
  return tradeNameForms(businessName).some((form) => form.startsWith(key)) || hasWordsOf(businessName, typed);
}

/** Whether every word typed is the beginning of a word of a business's trade names. */
export function hasWordsOf(businessName: string, typed: string): boolean {
  const words = tradeNames(businessName).flatMap(tradeNameWords);
  const typedWords = typedBusinessWords(typed);
  return typedWords.length > 0 && typedWords.every((start) => words.some((word) => word.startsWith(start)));
}

const LAST_WORD = /[\s,]+([^\s,]+)[\s,]*$/;

function withoutGenerationalSuffix(name: string): string {
  const [end, last] = LAST_WORD.exec(name) ?? [];
  if (end === undefined || last === undefined || !GENERATIONAL_SUFFIXES.has(fold(last))) return name;
  const rest = name.slice(0, -end.length);
  return fold(rest) === '' ? name : rest;
}

/** The trade names of a BUSINESS_NAME: one, or those before and after `D.B.A`. */
export function tradeNames(businessName: string): string[] {
  return businessName
    .split(DOING_BUSINESS_AS)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The keys whose beginning finds a business: each trade name with and without legal form, and the whole name. */
export function tradeNameForms(businessName: string): string[] {
  const forms = [
    ...tradeNames(businessName).flatMap((name) => [tradeNameKey(name), tradeNameKeyWithLegalForm(name)]),
    tradeNameKeyWithLegalForm(businessName),
  ];
  return [...new Set(forms)].filter((form) => form !== '');
}

/**
 * The key of a trade name: folded, `THE` at its start, `AND` and `&`, punctuation and the legal form at its
 * end left off. A name made of nothing else keeps its words.
 */
export function tradeNameKey(tradeName: string): string {
  return tradeNameWords(tradeName).join('');
}

/** As `tradeNameKey`, with the legal form kept, so that a name typed halfway through it is still a prefix. */
export function tradeNameKeyWithLegalForm(tradeName: string): string {
  return contentWords(tradeName).join('');
}

/** The words of a trade name that say something, folded, legal forms at the end left off. */
export function tradeNameWords(tradeName: string): string[] {
  const words = contentWords(tradeName);
  while (words.length > 1 && LEGAL_FORMS.has(words.at(-1) ?? '')) words.pop();
  return words;
}

/** How many words of a business's name are searched for. More would only cost more. */
const MAX_TYPED_WORDS = 10;

/**
 * The words (the first ten) of a business's name as typed, each of which must begin one of its own: those of every
 * trade name, without `D.B.A` between them and `THE` wherever it stands.
 */
export function typedBusinessWords(businessName: string): string[] {
  const words = tradeNames(businessName).flatMap(tradeNameWords);
  const kept = words.filter((word) => !ARTICLES.has(word));
  return (kept.length > 0 ? kept : words).slice(0, MAX_TYPED_WORDS);
}

function contentWords(tradeName: string): string[] {
  const all = unaccent(tradeName)
    .replace(/['’‘`.]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const kept = all.filter((word, at) => !(at === 0 && ARTICLES.has(word)) && !CONJUNCTIONS.has(word));
  return kept.length > 0 ? kept : all;
}

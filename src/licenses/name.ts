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
    given: comma < 0 ? '' : fold(licenseeName.slice(comma + 1)),
  };
}

function surnameForms(written: string, surname: string): string[] {
  if (!DASH.test(written)) return surname === '' ? [] : [surname];
  const forms = [surname, ...written.split(DASH).map(fold)];
  return [...new Set(forms)].filter((form) => form !== '');
}

/** The key of a surname as typed: folded, a generational suffix at its end left off. */
export function typedSurname(lastName: string): string {
  return fold(withoutGenerationalSuffix(lastName));
}

function withoutGenerationalSuffix(surname: string): string {
  const parts = surname.split(/[\s,]+/).filter((part) => part !== '');
  const last = parts.at(-1);
  if (parts.length < 2 || last === undefined || !GENERATIONAL_SUFFIXES.has(fold(last))) return surname;
  return parts.slice(0, -1).join(' ');
}

/** The trade names of a BUSINESS_NAME: one, or those before and after `D.B.A`. */
export function tradeNames(businessName: string): string[] {
  return businessName
    .split(DOING_BUSINESS_AS)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * The key of a trade name: folded, `THE` at its start, `AND` and `&`, punctuation and the legal form at its
 * end left off. A name made of nothing else keeps its words.
 */
export function tradeNameKey(tradeName: string): string {
  const kept = contentWords(tradeName);
  const core = [...kept];
  while (core.length > 1 && LEGAL_FORMS.has(core.at(-1) ?? '')) core.pop();
  return core.join('');
}

/** As `tradeNameKey`, with the legal form kept, so that a name typed halfway through it is still a prefix. */
export function tradeNameKeyWithLegalForm(tradeName: string): string {
  return contentWords(tradeName).join('');
}

function contentWords(tradeName: string): string[] {
  const all = unaccent(tradeName)
    .replace(/['’‘`.]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const kept = all.filter((word, at) => !(at === 0 && ARTICLES.has(word)) && !CONJUNCTIONS.has(word));
  return kept.length > 0 ? kept : all;
}

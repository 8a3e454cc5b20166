import { z } from 'zod';
import namesJson from '../../data/names.json' with { type: 'json' };
import { distinctKeys, unaccent } from './fold.ts';

const words = z.array(z.string().min(1)).min(1);
const NAMES = z
  .object({
    business_articles: words,
    business_conjunctions: words,
    business_legal_forms: words,
    doing_business_as: words,
  })
  .parse(namesJson);

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
  if (key === '') return false;
  return (
    businessNameKeys(businessName).some((form) => form.startsWith(key)) ||
    hasSearchedWords(businessName, typed)
  );
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

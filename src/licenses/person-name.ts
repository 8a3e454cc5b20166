import { z } from 'zod';
import namesJson from '../../data/names.json' with { type: 'json' };
import { distinctKeys, fold } from './fold.ts';

const { generational_suffixes: suffixes } = z
  .object({ generational_suffixes: z.array(z.string().min(1)).min(1) })
  .parse(namesJson);

const GENERATIONAL_SUFFIXES = new Set(suffixes);
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

/** The parts of a LICENSEE_NAME as they are written. What is missing is empty. */
interface NameParts {
  /** With a generational suffix. */
  readonly last: string;
  /** First and middle names. */
  readonly given: string;
}

/**
 * Splits a LICENSEE_NAME: `LAST SUFFIX, FIRST MIDDLE`, also with a blank before the comma or none after it, or with a
 * comma before the suffix. A name without a comma is taken as the surname.
 */
export function nameParts(licenseeName: string): NameParts {
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

/** Folds a LICENSEE_NAME. */
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
  return licenseeName.replace(/^([^,]*?)\s+,/, '$1,');
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

const LAST_WORD = /[\s,]+([^\s,]+)[\s,]*$/;

function withoutGenerationalSuffix(name: string): string {
  const [end, last] = LAST_WORD.exec(name) ?? [];
  if (end === undefined || last === undefined || !GENERATIONAL_SUFFIXES.has(fold(last))) return name;
  const rest = name.slice(0, -end.length);
  return fold(rest) === '' ? name : rest;
}

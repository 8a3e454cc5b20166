import { z } from 'zod';
import namesJson from '../../data/names.json' with { type: 'json' };
import { fold } from './fold.ts';

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

/**
 * Folds a LICENSEE_NAME: `LAST SUFFIX, FIRST MIDDLE`, also with a blank before the comma. A name without a comma is
 * taken as the surname.
 */
export function foldPersonName(licenseeName: string): PersonName {
  const comma = licenseeName.indexOf(',');
  const last = comma < 0 ? licenseeName : licenseeName.slice(0, comma);
  const written = withoutGenerationalSuffix(last);
  const surname = fold(written);
  return {
    surname,
    surnameForms: surnameForms(written, surname),
    given: comma < 0 ? '' : givenNamesKey(licenseeName.slice(comma + 1)),
  };
}

function surnameForms(written: string, surname: string): string[] {
  if (!DASH.test(written)) return surname === '' ? [] : [surname];
  const forms = [surname, ...written.split(DASH).map(fold)];
  return [...new Set(forms)].filter((form) => form !== '');
}

/** A LICENSEE_NAME as responses show it: without the blank that older rows have before the comma. */
export function fullName(licenseeName: string): string {
  return licenseeName.replace(/^([^,]*?)\s+,/, '$1,');
}

/** A LICENSEE_NAME without suffix and middle names, which finds its holder: `KING JR, MARTIN LEE` → `KING, MARTIN`. */
export function nameToSearch(licenseeName: string): string {
  const [last = '', given = ''] = licenseeName.split(',');
  const surname = withoutGenerationalSuffix(last).trim();
  const first = given.trim().split(/\s+/)[0] ?? '';
  return first === '' ? surname : `${surname}, ${first}`;
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

import { missMessage } from '../answers/words.ts';
import { OHIO_TIME_ZONE } from '../licenses/dates.ts';
import type { Miss } from '../licenses/lookup.ts';

const OHIO_TIME = new Intl.DateTimeFormat('en-US', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: OHIO_TIME_ZONE,
});
const NUMBER = new Intl.NumberFormat('en-US');

/** Formats dates. Text that is no date stays as it is. */
function dateIn(dateStyle: 'long' | 'medium'): (date: string) => string {
  const format = new Intl.DateTimeFormat('en-US', { dateStyle, timeZone: 'UTC' });
  return (date) => {
    const time = Date.parse(date);
    return Number.isNaN(time) ? date : format.format(time);
  };
}

/** `2027-10-31` → `October 31, 2027`. */
export const longDate = dateIn('long');

/** `2027-10-31` → `Oct 31, 2027`. */
export const shortDate = dateIn('medium');

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Says what was searched without a match. @param date the run date of the dataset that answered */
export function missInWords({ left, ...miss }: Miss, date: string): string {
  const last = left?.last_in_dataset ?? null;
  const shown = left && { left: { ...left, last_in_dataset: last && longDate(last) } };
  return missMessage({ ...miss, ...shown }, longDate(date), 'page');
}

/** A value of a record. Dates are written out; other text stays as it is. */
export function inWords(value: string): string {
  return DATE.test(value) ? longDate(value) : value;
}

/** Formats an instant (ISO 8601) as date and time in Ohio. */
export function ohioTime(instant: string): string {
  return `${OHIO_TIME.format(new Date(instant))} (Ohio time)`;
}

/** `2600000` → `2,600,000`. */
export function count(value: number): string {
  return NUMBER.format(value);
}

/** `1 license`, `12 licenses`. */
export function counted(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/** The distance of an expiry date from today: `in 12 days`, `today`, `7 years ago`. */
export function fromToday(days: number): string {
  if (days === 0) return 'today';
  const far =
    Math.abs(days) < DAYS_SAID ? counted(Math.abs(days), 'day') : `${Math.floor(Math.abs(days) / 365)} years`;
  return days > 0 ? `in ${far}` : `${far} ago`;
}

/** Two years and more are given in years. */
const DAYS_SAID = 2 * 365;

/** The British format has no comma before `and`. */
const LIST = new Intl.ListFormat('en-GB');

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  return LIST.format(words);
}

/** `added` → `Added`. */
function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Words in names that stay in capitals: generations and legal forms. */
const IN_CAPITALS = new Set(
  'II III IV VI VII LLC LLP PLLC LP PC PA DBA USA US OH MD DO DDS DMD RN'.split(' '),
);
const SMALL_WORDS = new Set(['OF', 'AND', 'THE', 'FOR', 'AT', 'BY', 'IN', 'ON']);
/** Initials with dots, or three or more letters without a vowel: `J.R.`, `CVS`. */
const INITIALS = /^(?:(?:\p{L}\.)+\p{L}?|[B-DF-HJ-NP-TV-XZ]{3,})$/u;

/**
 * Converts a name in capitals to upper and lower case: `O'NEIL-MCCOY, ANN III` → `O'Neil-McCoy, Ann III`.
 * A name with a lower-case letter stays as it is.
 */
export function properCase(name: string): string {
  if (name !== name.toUpperCase()) return name;
  return name.replace(/[\p{L}\p{N}'’.&]+/gu, (word, at: number) => {
    if (IN_CAPITALS.has(word) || INITIALS.test(word)) return word;
    if (at > 0 && SMALL_WORDS.has(word)) return word.toLowerCase();
    return capitalized(word.toLowerCase()).replace(
      /^(Mc|[OD]['’])(\p{L})/u,
      (_, start: string, letter: string) => `${start}${letter.toUpperCase()}`,
    );
  });
}

const EXTRA_DATA = 'extra_data.';

/** Matches, for example, `Endorsement Sub Status 1`. */
const OF_ENDORSEMENT = /^Endorsement (.+) (\d+)$/;

/** The label of a record field (`License type`, `Status` for `raw_status`) or of an attribute (`extra_data.ZIP`). */
export function fieldLabel(name: string): string {
  if (name.startsWith(EXTRA_DATA)) {
    return name.slice(EXTRA_DATA.length).replace(OF_ENDORSEMENT, 'Endorsement $2: $1');
  }
  return capitalized(name.replace(/^(?:full|raw)_/, '').replaceAll('_', ' '));
}

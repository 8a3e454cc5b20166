import { memoize } from './fold.ts';

/** A fast check that nearly every date passes: ISO, with a day from 1 to 28, which every month has. */
const PLAIN_ISO = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?$/;
const AMERICAN = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: .*)?$/;
export const DAY_MS = 86_400_000;

/**
 * Reads a date of the dataset, ISO or `MM/DD/YYYY`, as `YYYY-MM-DD`. A time of day is ignored.
 *
 * @returns `undefined` when the text is not an existing date
 */
export function isoDate(text: string): string | undefined {
  if (PLAIN_ISO.test(text)) return text;
  const iso = ISO.exec(text);
  if (iso) return existing(iso[1], iso[2], iso[3]);
  const american = AMERICAN.exec(text);
  if (american) return existing(american[3], american[1]?.padStart(2, '0'), american[2]?.padStart(2, '0'));
  return undefined;
}

/**
 * The date, if it exists. `Date.parse` reads February 30 as a day in March, so the result is compared with the input.
 */
function existing(year = '', month = '', day = ''): string | undefined {
  const date = `${year}-${month}-${day}`;
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) ? date : undefined;
}

export const OHIO_TIME_ZONE = 'America/New_York';

/** The Swedish locale formats dates as `YYYY-MM-DD`. */
const ohioDate = new Intl.DateTimeFormat('sv-SE', { timeZone: OHIO_TIME_ZONE, dateStyle: 'short' });

const MINUTE_MS = 60_000;

let latest = { minute: Number.NaN, date: '' };

/** Today's date in Ohio, as `YYYY-MM-DD`. Days begin on whole minutes, so it is computed once a minute. */
export function todayInOhio(now: Date = new Date()): string {
  const minute = Math.floor(now.getTime() / MINUTE_MS);
  if (minute !== latest.minute) latest = { minute, date: ohioDate.format(now) };
  return latest.date;
}

const ohioClock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: OHIO_TIME_ZONE,
  dateStyle: 'short',
  timeStyle: 'medium',
});
const ohioZone = new Intl.DateTimeFormat('en-US', { timeZone: OHIO_TIME_ZONE, timeZoneName: 'short' });

/** An instant (ISO 8601) as date and time in Ohio: `2026-11-25 06:00:07 EST`. */
export function ohioTime(instant: string): string {
  const time = new Date(instant);
  const zone = ohioZone.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${ohioClock.format(time)} ${zone}`;
}

const timeOf = memoize((date) => Date.parse(date));

/**
 * Calendar days from one `YYYY-MM-DD` to another; negative if `to` is before `from`. Many answers share `from`. Among
 * thousands of expiry dates, finding a memoized one takes longer than parsing it.
 */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - timeOf(from)) / DAY_MS);
}

/** The date this many days before a `YYYY-MM-DD`. */
export function daysBefore(date: string, days: number): string {
  return new Date(Date.parse(date) - days * DAY_MS).toISOString().slice(0, 10);
}

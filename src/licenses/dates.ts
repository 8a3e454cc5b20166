const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?$/;
const AMERICAN = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?: .*)?$/;
const DAY_MS = 86_400_000;

/**
 * The calendar date of a dataset field, as `YYYY-MM-DD`: ISO or `MM/DD/YYYY`, a time of day ignored.
 * `undefined` when the text is no date that exists.
 */
export function isoDate(text: string): string | undefined {
  const iso = ISO.exec(text);
  if (iso) return existing(iso[1], iso[2], iso[3]);
  const american = AMERICAN.exec(text);
  if (american) return existing(american[3], american[1]?.padStart(2, '0'), american[2]?.padStart(2, '0'));
  return undefined;
}

function existing(year = '', month = '', day = ''): string | undefined {
  const text = `${year}-${month}-${day}`;
  if (Number(day) <= 28 && Number(day) >= 1 && Number(month) >= 1 && Number(month) <= 12) return text;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}

const ohioDate = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** Today's date in Ohio, as `YYYY-MM-DD`. */
export function todayInOhio(now: Date = new Date()): string {
  return ohioDate.format(now);
}

/** Calendar days from one `YYYY-MM-DD` to another; negative when `to` is the earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

const DAY_MS = 86_400_000;
const FIRST_YEAR = 1930;
const LAST_YEAR = 2040;

/** A calendar date as days since 1970-01-01. */
export type Day = number;

export function day(year: number, month: number, date: number): Day {
  return Date.UTC(year, month - 1, date) / DAY_MS;
}

const FIRST = day(FIRST_YEAR, 1, 1);
const TEXTS: readonly string[] = Array.from({ length: day(LAST_YEAR, 12, 31) - FIRST + 1 }, (_, index) =>
  new Date((FIRST + index) * DAY_MS).toISOString().slice(0, 10),
);

/**
 * Formats a day as `YYYY-MM-DD`; blank if there is no day.
 *
 * @throws {RangeError} before 1930 and after 2040
 */
export function dayText(value: Day | undefined): string {
  if (value === undefined) return '';
  const text = TEXTS[value - FIRST];
  if (text === undefined) throw new RangeError(`Day ${value} is not between ${FIRST_YEAR} and ${LAST_YEAR}.`);
  return text;
}

/** The last day of a month. Months above 12 continue in the following years. */
export function monthEnd(year: number, month: number): Day {
  return day(year, month + 1, 1) - 1;
}

const DAY_MS = 86_400_000;

/** Today's date in Ohio's time zone, computed in a different way than the service does. */
export function todayInNewYork(): string {
  // The Swedish date format is `YYYY-MM-DD`.
  return new Date().toLocaleDateString('sv-SE', { timeZone: 'America/New_York' });
}

/** Calendar days from one `YYYY-MM-DD` to another; negative when `to` is earlier. */
export const daysBetween = (from: string, to: string): number =>
  (Date.parse(`${to}T00:00Z`) - Date.parse(`${from}T00:00Z`)) / DAY_MS;

/** The `YYYY-MM-DD` this many days after another. */
export const daysAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/** Asks again if midnight in Ohio passed between question and answer. */
type OfOneDay<Answer> = Promise<{ today: string; answer: Answer }>;

/** Asks again if midnight in Ohio passed between question and answer. */
export async function onOneDay<Answer>(ask: () => Promise<Answer>): OfOneDay<Answer> {
  const today = todayInNewYork();
  const answer = await ask();
  return todayInNewYork() === today ? { today, answer } : onOneDay(ask);
}

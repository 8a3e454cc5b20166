const DAY_MS = 86_400_000;

/** Today's date in Ohio's time zone, worked out by other means than the service's. */
export function todayInNewYork(): string {
  // Swedes write a date so.
  return new Date().toLocaleDateString('sv-SE', { timeZone: 'America/New_York' });
}

/** Calendar days from one `YYYY-MM-DD` to another, negative when `to` is the earlier. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00Z`) - Date.parse(`${from}T00:00Z`)) / DAY_MS;
}

/** The `YYYY-MM-DD` so many days after another. */
export function daysAfter(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Asks again where midnight in Ohio came between question and answer. */
export async function onOneDay<Answer>(
  ask: () => Promise<Answer>,
): Promise<{ today: string; answer: Answer }> {
  const today = todayInNewYork();
  const answer = await ask();
  return todayInNewYork() === today ? { today, answer } : onOneDay(ask);
}

import type { SampleDataOptions } from '../sample-data/write-sample-data.ts';
import { todayInOhio } from '../src/licenses/dates.ts';

const DAY_MS = 86_400_000;

/** Which sample data are generated. */
export type SampleChoice = Pick<SampleDataOptions, 'rows' | 'seed' | 'date'>;

/** What `npm start` publishes: always the same licenses, with yesterday's date. */
export function startSample(): SampleChoice {
  return { rows: 20_000, seed: 1, date: todayInOhio(new Date(Date.now() - DAY_MS)) };
}

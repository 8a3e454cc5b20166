import { todayInOhio } from '../licenses/dates.ts';
import { interruption } from './interruption.ts';
import type { Actions } from './options.ts';
import { grouped } from './output.ts';

export const ACTIONS: Actions = {
  'sample-data': async ([directory = ''], options) => {
    // The image has only production files, so this fails there.
    const { writeSampleData } = await import('../../sample-data/write-sample-data.ts');
    const { individual, individualRows, business, businessRows } = await writeSampleData({
      ...{ rows: 20_000, seed: 1, date: todayInOhio(), ...options },
      ...{ directory, signal: interruption().signal },
    });
    return {
      words: [`${individual}: ${grouped(individualRows)} rows`, `${business}: ${grouped(businessRows)} rows`],
    };
  },
};

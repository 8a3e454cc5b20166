import { todayInOhio } from '../licenses/dates.ts';
import type { Actions } from './options.ts';
import { grouped } from './output.ts';
import { interruption } from './progress.ts';

export const ACTIONS: Actions = {
  'sample-data': async ([directory = ''], options) => {
    const defaults = { rows: 20_000, seed: 1, date: todayInOhio() };
    const { signal } = interruption();
    const { individual, individualRows, business, businessRows } = await (await generator()).writeSampleData({
      ...{ directory, ...defaults, ...options, signal },
    });
    return {
      words: [`${individual}: ${grouped(individualRows)} rows`, `${business}: ${grouped(businessRows)} rows`],
    };
  },
};

/** @throws {Error} in words for the operator where only production files are installed, as in the image */
async function generator() {
  return import('../../sample-data/write-sample-data.ts').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      throw new Error('The sample generator is not installed here. Run the command in a checkout.');
    throw error;
  });
}

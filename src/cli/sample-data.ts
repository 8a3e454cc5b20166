import { todayInOhio } from '../licenses/dates.ts';
import type { Actions } from './options.ts';
import { grouped } from './output.ts';
import { interruption } from './progress.ts';

export const ACTIONS: Actions = {
  'sample-data': async ([directory = ''], options: Partial<Parameters<typeof writeSampleData>[0]>) => {
    const { individual, individualRows, business, businessRows } = await writeSampleData({
      ...{ directory, rows: 20_000, seed: 1, date: todayInOhio(), signal: interruption().signal },
      ...options,
    });
    return {
      words: [`${individual}: ${grouped(individualRows)} rows`, `${business}: ${grouped(businessRows)} rows`],
    };
  },
};

type Generator = typeof import('../../sample-data/write-sample-data.ts');

/** @throws {Error} in words for the operator where only production files are installed, as in the image */
async function writeSampleData(options: Parameters<Generator['writeSampleData']>[0]) {
  const generator = await import('../../sample-data/write-sample-data.ts').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      throw new Error('The sample generator is not installed here. Run the command in a checkout.');
    throw error;
  });
  return generator.writeSampleData(options);
}

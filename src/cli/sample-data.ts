import { Command } from 'commander';
import { grouped, print } from './output.ts';

/** `licenses sample-data`: both files in the State's format, generated. */
export function sampleDataCommand(): Command {
  return new Command('sample-data')
    .description("generate both files in the State's format; the same arguments give the same bytes")
    .argument('<dir>', 'where to write individual.csv, business.csv and sample.json')
    .option('--rows <n>', 'rows in both files together', Number, 20_000)
    .option('--seed <s>', 'which data', Number, 1)
    .option('--date <d>', 'the run date, YYYY-MM-DD', new Date().toISOString().slice(0, 10))
    .option('--changed <fraction>', 'the share of rows that differ from the same data without it', Number)
    .option('--added <fraction>', 'the share of rows after which a new license follows', Number)
    .option('--removed <fraction>', 'the share of rows that are missing', Number)
    .option('--renamed <fraction>', 'the share of persons with another surname', Number)
    .option('--renumbered <fraction>', 'the share of licenses with another number', Number)
    .action(async (directory: string, options: SampleOptions) => {
      const { writeSampleData } = await loadGenerator();
      const written = await writeSampleData({ directory, ...options });
      print(`${written.individual}: ${grouped(written.individualRows)} rows`);
      print(`${written.business}: ${grouped(written.businessRows)} rows`);
    });
}

interface SampleOptions {
  readonly rows: number;
  readonly seed: number;
  readonly date: string;
  readonly changed?: number;
  readonly added?: number;
  readonly removed?: number;
  readonly renamed?: number;
  readonly renumbered?: number;
}

/** @throws {Error} in words for the operator where only production files are installed, as in the image */
async function loadGenerator() {
  try {
    return await import('../../sample-data/write-sample-data.ts');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
      throw new Error('The sample generator is not installed here. Run the command in a checkout.');
    }
    throw error;
  }
}

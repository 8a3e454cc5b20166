import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { summaryInWords } from '../answers/words.ts';
import { csvRows } from '../csv.ts';
import { addTo } from '../licenses/counts.ts';
import { csvFormat } from '../rosters/answer.ts';
import { grouped, print } from './output.ts';
import { type RosterFile, type RosterOptions, runRoster, withRosterOptions } from './roster-client.ts';
import { verifyFile } from './verify-roster.ts';

const SOME_INVALID = 2;

interface VerifyOptions extends RosterOptions {
  readonly out: string;
  readonly maxMatches?: string;
}

/** `licenses verify`: a client of the REST API. It needs neither OpenSearch nor Redis. */
export function verifyCommand(): Command {
  const command = new Command('verify').description(
    'verify a roster: a CSV file of licenses, of any size. Exit 0: all answered, 2: some rows invalid, 1: unfinished',
  );
  return withRosterOptions(
    command,
    'the CSV file; its first row names the columns, such as board, license_number, last_name',
  )
    .requiredOption('--out <file>', 'the CSV file to write: the roster with the columns of the results')
    .option('--max-matches <count>', 'how many matches of a name to list, 1 to 20')
    .action(async (roster: string, options: VerifyOptions) => {
      process.exitCode = await verify(resolve(roster), options);
    });
}

async function verify(rosterPath: string, options: VerifyOptions): Promise<number> {
  const { out, board, maxMatches } = options;
  const resultPath = resolve(out);
  if (resultPath === rosterPath) throw new Error('--out must be another file than the roster.');
  return runRoster(rosterPath, options, async (work) => {
    await verifyFile(work, { board, maxMatches, resultPath });
    work.display.end();
    return (await printSummary(work.roster, out)) > 0 ? SOME_INVALID : 0;
  });
}

/**
 * Reads the whole result file, and prints what it says.
 *
 * @returns how many rows are invalid
 * @throws {Error} when the file has not a row for each of the roster
 */
async function printSummary({ format, total }: RosterFile, out: string): Promise<number> {
  const outcomes = new Map<string, number>();
  const dates = new Set<string>();
  let rows = 0;
  let columns: readonly string[] = [];
  const written = { separator: csvFormat(format).delimiter, quotes: 'strict' } as const;
  for await (const { cells } of csvRows(createReadStream(out), written)) {
    if (columns.length === 0) {
      columns = cells;
      continue;
    }
    const cell = (name: string) => cells[columns.indexOf(`result_${name}`)] ?? '';
    rows += 1;
    addTo(outcomes, cell('outcome'));
    if (cell('outcome') === 'found' && cell('cautions') === '') addTo(outcomes, 'clear');
    dates.add(cell('last_scraped').slice(0, 10));
  }
  if (rows !== total) throw new Error(`The service answered ${rows} rows of ${total}.`);
  print(
    `${grouped(rows)} rows verified in the dataset of ${[...dates].join(' and ')}; ${out} has the results.`,
  );
  const count = (outcome: string) => outcomes.get(outcome) ?? 0;
  const invalid = count('invalid');
  print(
    `${summaryInWords({
      found: count('found'),
      clear: count('clear'),
      ambiguous: count('ambiguous'),
      not_found: count('not_found'),
      invalid,
    })}.`,
  );
  if (dates.size > 1) {
    print('The dataset changed meanwhile: result_last_scraped says which one answered each row.');
  }
  return invalid;
}

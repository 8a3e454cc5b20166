import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { csvRows } from '../csv.ts';
import { addTo } from '../licenses/counts.ts';
import { summaryInWords } from '../rosters/roster.ts';
import { grouped, print, printError } from './output.ts';
import { startDisplay } from './progress.ts';
import { openRoster, type RosterFile, verifyFile } from './verify-roster.ts';

const SOME_INVALID = 2;
const UNFINISHED = 1;

interface VerifyArguments {
  readonly out: string;
  readonly url: string;
  readonly key?: string;
  readonly board?: string;
  readonly maxMatches?: string;
}

/** `licenses verify`: a client of the REST API. It needs neither OpenSearch nor Redis. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description(
      'verify a roster: a CSV file of licenses, of any size. Exit 0: all answered, 2: some rows invalid, 1: unfinished',
    )
    .argument(
      '<roster>',
      'the CSV file; its first row names the columns, such as board, license_number, last_name',
    )
    .requiredOption('--out <file>', 'the CSV file to write: the roster with the columns of the results')
    .addOption(new Option('--url <url>', 'the service').env('LICENSES_URL').default('http://127.0.0.1:8080'))
    .addOption(
      new Option('--key <key>', 'the API key; lists of processes show it, unlike the variable').env(
        'LICENSES_KEY',
      ),
    )
    .option('--board <name>', 'the board of every row that names none')
    .option('--max-matches <count>', 'how many matches of a name to list, 1 to 20')
    .action(async (roster: string, options: VerifyArguments) => {
      process.exitCode = await verify(resolve(roster), options);
    });
}

async function verify(rosterPath: string, options: VerifyArguments): Promise<number> {
  const { key, url, out, ...asked } = options;
  if (!key) throw new Error('Give the API key: set LICENSES_KEY, or send --key.');
  const resultPath = resolve(out);
  if (resultPath === rosterPath) throw new Error('--out must be another file than the roster.');
  if (!/^https?:\/\//.test(url)) throw new Error('--url must be an http or https address.');
  const roster = await openRoster(rosterPath);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const display = startDisplay(process.stderr);
  let part = 0;
  try {
    await verifyFile(roster, {
      ...asked,
      url: url.replace(/\/+$/, ''),
      key,
      resultPath,
      signal: interrupted.signal,
      onRows: (rows) => {
        part = rows / roster.total;
        display.show(`${grouped(rows)} of ${grouped(roster.total)} rows`, part);
      },
      onWait: (reason) => display.show(`waiting: ${reason}`, part),
    });
    display.end();
    return (await printSummary(roster, out)) > 0 ? SOME_INVALID : 0;
  } catch (error) {
    display.end();
    if (!interrupted.signal.aborted) printError(error instanceof Error ? error.message : String(error));
    printError('Not finished. The same command continues where this one stopped.');
    return UNFINISHED;
  }
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
  for await (const cells of csvRows(createReadStream(out), format.delimiter)) {
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

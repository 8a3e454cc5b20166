import { resolve } from 'node:path';
import { Command } from 'commander';
import { summaryInWords } from '../rosters/roster.ts';
import { grouped, print, printError } from './output.ts';
import { startDisplay } from './progress.ts';
import { countRows, openRoster, type Verified, verifyFile } from './verify-roster.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';
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
    .option('--url <url>', 'the service (or LICENSES_URL)', process.env.LICENSES_URL ?? DEFAULT_URL)
    .option('--key <key>', 'the API key (better: LICENSES_KEY, which no list of processes shows)')
    .option('--board <name>', 'the board of every row that names none')
    .option('--max-matches <count>', 'how many matches of a name to list, 1 to 20')
    .action(async (roster: string, options: VerifyArguments) => {
      process.exitCode = await verify(resolve(roster), options);
    });
}

async function verify(rosterPath: string, options: VerifyArguments): Promise<number> {
  const key = options.key ?? process.env.LICENSES_KEY;
  if (!key) throw new Error('Give the API key: set LICENSES_KEY, or send --key.');
  const resultPath = resolve(options.out);
  if (resultPath === rosterPath) throw new Error('--out must be another file than the roster.');
  if (!/^https?:\/\//.test(options.url)) throw new Error('--url must be an http or https address.');
  const roster = await openRoster(rosterPath);
  const total = await countRows(roster);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  const display = startDisplay(process.stderr);
  const startedAt = Date.now();
  let rows: number | undefined;
  let firstRows: number | undefined;
  try {
    const { board, maxMatches, url } = options;
    const verified = await verifyFile(roster, {
      service: { url: url.replace(/\/+$/, ''), key, board, maxMatches },
      resultPath,
      signal: interrupted.signal,
      onRows: (done) => {
        rows = done;
        firstRows ??= done;
        const perMs = (done - firstRows) / (Date.now() - startedAt);
        display.show(progressInWords(done, total, perMs), done / total);
      },
      onWait: (reason) => display.show(`waiting: ${reason}`, (rows ?? 0) / total),
    });
    display.end();
    printSummary(verified, options.out);
    return (verified.outcomes.invalid ?? 0) > 0 ? SOME_INVALID : 0;
  } catch (error) {
    display.end();
    if (!interrupted.signal.aborted) printError(error instanceof Error ? error.message : String(error));
    printError('Not finished. The same command continues where this one stopped.');
    return UNFINISHED;
  }
}

function progressInWords(rows: number, total: number, perMs: number): string {
  const done = `${grouped(rows)} of ${grouped(total)} rows`;
  if (perMs === 0) return done;
  const secondsLeft = Math.ceil((total - rows) / perMs / 1000);
  return `${done}, ${grouped(Math.round(perMs * 1000))} rows/s, ${secondsLeft} s left`;
}

function printSummary({ rows, outcomes, dates }: Verified, out: string): void {
  print(`${grouped(rows)} rows verified in the dataset of ${dates.join(' and ')}; ${out} has the results.`);
  const { found = 0, clear = 0, ambiguous = 0, not_found = 0, invalid = 0 } = outcomes;
  print(`${summaryInWords({ found, clear, ambiguous, not_found, invalid })}.`);
  if (dates.length > 1) {
    print('The dataset changed meanwhile: result_last_scraped says which one answered each row.');
  }
}

import { resolve } from 'node:path';
import { Presets, SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { summaryInWords } from '../rosters/roster.ts';
import { grouped, print, printable, printError } from './output.ts';
import { countRows, openRoster } from './verify/roster-file.ts';
import { type Verified, verifyFile } from './verify/verify-file.ts';

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
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const display = progressDisplay(await countRows(roster));
  try {
    const verified = await verifyFile(roster, {
      service: {
        url: options.url.replace(/\/+$/, ''),
        key,
        board: options.board,
        maxMatches: options.maxMatches,
      },
      resultPath,
      signal: interrupted.signal,
      onRows: display.show,
      onWait: display.wait,
    });
    display.end();
    printSummary(verified, options.out);
    return (verified.outcomes.invalid ?? 0) > 0 ? SOME_INVALID : 0;
  } catch (error) {
    display.end();
    if (!interrupted.signal.aborted) printError(error instanceof Error ? error.message : String(error));
    printError('Not finished. The same command continues where this one stopped.');
    return UNFINISHED;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

function printSummary({ rows, outcomes, dates }: Verified, out: string): void {
  print(`${grouped(rows)} rows verified in the dataset of ${dates.join(' and ')}; ${out} has the results.`);
  const { found = 0, clear = 0, ambiguous = 0, not_found = 0, invalid = 0 } = outcomes;
  print(`${summaryInWords({ found, clear, ambiguous, not_found, invalid })}.`);
  if (dates.length > 1) {
    print('The dataset changed meanwhile: result_last_scraped says which one answered each row.');
  }
}

/** Shows how far the roster is verified: a bar on a terminal, else a line every few seconds. */
interface Display {
  show(progress: Verified): void;
  /** Says why nothing goes on for a while. */
  wait(reason: string): void;
  end(): void;
}

const LINE_EVERY_MS = 5000;

function progressDisplay(total: number): Display {
  const startedAt = Date.now();
  let firstRows: number | undefined;

  function pace({ rows }: Verified): string {
    firstRows ??= rows;
    const perMs = (rows - firstRows) / (Date.now() - startedAt);
    return perMs > 0
      ? `${grouped(Math.round(perMs * 1000))} rows/s, ${Math.ceil((total - rows) / perMs / 1000)} s left`
      : '';
  }
  return process.stderr.isTTY ? barDisplay(total, pace) : lineDisplay(total, pace);
}

function barDisplay(total: number, pace: (progress: Verified) => string): Display {
  const bar = new SingleBar(
    { format: '{bar} {percentage} %  {value} of {total} rows  {pace}', hideCursor: true },
    Presets.shades_classic,
  );
  bar.start(total, 0, { pace: '' });
  return {
    show: (progress) => bar.update(progress.rows, { pace: pace(progress) }),
    wait: (reason) => bar.update({ pace: `waiting: ${printable(reason)}` }),
    end: () => bar.stop(),
  };
}

function lineDisplay(total: number, pace: (progress: Verified) => string): Display {
  let lastAt = 0;
  function printSometimes(line: string): void {
    if (Date.now() - lastAt < LINE_EVERY_MS) return;
    lastAt = Date.now();
    printError(line);
  }
  return {
    show: (progress) =>
      printSometimes(
        `${grouped(progress.rows)} of ${grouped(total)} rows, ${pace(progress)}`.replace(/, $/, ''),
      ),
    wait: (reason) => printSometimes(`waiting: ${reason}`),
    end: () => undefined,
  };
}

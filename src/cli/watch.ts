import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { REQUEST_WORDS } from '../answers/words.ts';
import type { NumberedRow } from '../csv.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { addTo } from '../licenses/counts.ts';
import { numberKey } from '../licenses/fold.ts';
import { rowRequest } from '../licenses/row-lookup.ts';
import { rowFields } from '../rosters/list.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { grouped, print } from './output.ts';
import {
  chunksOf,
  type RosterOptions,
  type RosterWork,
  runRoster,
  sendRows,
  withRosterOptions,
} from './roster-client.ts';
import { answerAs } from './service-client.ts';
import { writeProofs } from './watch-proof.ts';

const SOME_NOT_WATCHED = 2;

const OUTCOMES = ['created', 'exists', 'not_found', 'invalid'] as const;

/** The answer to a batch of subscriptions. */
const batchAnswer = z.object({
  results: z.array(z.object({ outcome: z.enum(OUTCOMES), detail: z.string().default('') })),
});

/** A row that names a license. */
interface WatchRow {
  /** As a spreadsheet numbers it. */
  readonly row: number;
  readonly item: { readonly license_number: string; readonly board?: string; readonly reference?: string };
}

/** `licenses watch`: a client of the REST API. It needs neither OpenSearch nor Redis. */
export function watchCommand(): Command {
  const command = new Command('watch').description(
    'watch the licenses of a roster, a CSV file of any size; those that the account watches already stay as they are. Exit 0: all watched, 2: some not found or invalid, 1: unfinished',
  );
  return withRosterOptions(
    command,
    'the CSV file; its first row names the columns: license_number, board and reference are read',
    '[roster]',
  )
    .option('--sync', 'also remove what the roster does not name, after showing what would change and asking')
    .option('--yes', 'with --sync: do not ask')
    .option('--proof <file>', 'without a roster: write a signed proof for each watched license')
    .action(async (roster: string | undefined, options: WatchOptions) => {
      if (options.proof !== undefined) return writeProofs(options, resolve(options.proof), watchedLicenses);
      if (roster === undefined) throw new Error('Name a roster, or send --proof FILE.');
      process.exitCode = await runRoster(resolve(roster), options, (work) =>
        options.sync === true ? sync(work, options) : watch(work, options.board),
      );
    });
}

interface WatchOptions extends RosterOptions {
  readonly sync?: true;
  readonly yes?: true;
  readonly proof?: string;
}

type OnProblem = (row: number, detail: string) => void;

/** The rows of a chunk that name a license. */
function readRows(
  roster: RosterWork['roster'],
  chunk: readonly NumberedRow[],
  onProblem: OnProblem,
): WatchRow[] {
  return chunk.flatMap(({ number: row, cells }) => {
    try {
      return [{ row, item: itemOf(roster, cells) }];
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error;
      onProblem(row, error.message);
      return [];
    }
  });
}

/** @throws {BadRequestError} for a roster without numbers */
function requireNumbers({ meanings }: RosterWork['roster']): void {
  if (!meanings.includes('license_number'))
    throw new BadRequestError('The first row must name a column license_number.');
}

async function watch({ roster, service, display, onRows }: RosterWork, board?: string): Promise<number> {
  requireNumbers(roster);
  const outcomes = new Map<string, number>();
  const printProblem = (row: number, detail: string) => {
    display.end();
    print(`Row ${grouped(row)}: ${detail}`);
  };
  let read = 0;
  for await (const chunk of chunksOf(roster, 0)) {
    service.signal.throwIfAborted();
    const rows = readRows(roster, chunk, (row, detail) => {
      addTo(outcomes, 'invalid');
      printProblem(row, detail);
    });
    for (const { row, result } of await answersTo(
      service,
      '/api/v1/subscriptions/batch',
      batchAnswer,
      rows,
      board,
    )) {
      addTo(outcomes, result.outcome);
      if (result.outcome === 'not_found' || result.outcome === 'invalid') printProblem(row, result.detail);
    }
    read += chunk.length;
    onRows(read);
  }
  display.end();
  const count = (outcome: (typeof OUTCOMES)[number]) => outcomes.get(outcome) ?? 0;
  print(
    `${grouped(count('created'))} added, ${grouped(count('exists'))} watched already, ` +
      `${grouped(count('not_found'))} not found, ${grouped(count('invalid'))} invalid.`,
  );
  return count('not_found') + count('invalid') > 0 ? SOME_NOT_WATCHED : 0;
}

/** What the service answers to each row. */
async function answersTo<Result>(
  service: RosterWork['service'],
  path: string,
  answer: z.ZodType<{ results: Result[] }>,
  rows: readonly WatchRow[],
  board: string | undefined,
): Promise<(WatchRow & { readonly result: Result })[]> {
  if (rows.length === 0) return [];
  const answered = await sendRows(service, rows, (sent) => ({
    path,
    contentType: 'application/json',
    body: JSON.stringify({ board, items: sent.map(({ item }) => item) }),
  }));
  return answered.flatMap(({ rows: sent, text }) => {
    const { results } = answerAs(answer, text);
    return sent.map((row, at) => {
      const result = results[at];
      if (result === undefined) throw new Error('The service did not answer every row.');
      return { ...row, result };
    });
  });
}

const license = z.object({ board: z.string(), license_number: z.string() });

/** The answer to a batch of lookups. */
const lookupAnswer = z.object({
  results: z.array(z.object({ record: license.optional(), detail: z.string().default('') })),
});

const listAnswer = z.object({
  next: z.string().nullable(),
  subscriptions: z.array(
    license.extend({
      subscription_id: z.string(),
      reference: z.string().nullable(),
      in_dataset: z.boolean(),
    }),
  ),
});

type Watched = z.output<typeof listAnswer>['subscriptions'][number];

const keyOf = ({ board, license_number }: z.output<typeof license>) => `${board} ${license_number}`;

/** All licenses that the account watches. */
async function watchedLicenses(service: RosterWork['service']): Promise<Watched[]> {
  const all: Watched[] = [];
  for (let after = ''; ; ) {
    const path = `/api/v1/subscriptions?limit=${MAX_ITEMS}&after=${after}`;
    const [page] = await sendRows(service, [path], () => ({ path }));
    const { subscriptions, next } = answerAs(listAnswer, page?.text ?? '');
    all.push(...subscriptions);
    if (next === null) return all;
    after = next;
  }
}

const MAX_SHOWN = 50;

/** Makes what the account watches equal to the roster. Nothing is removed if any row could not be read. */
async function sync(
  { roster, service, display, onRows }: RosterWork,
  { board, yes }: WatchOptions,
): Promise<number> {
  requireNumbers(roster);
  let problems = 0;
  const onProblem: OnProblem = (row, detail) => {
    problems += 1;
    display.end();
    print(`Row ${grouped(row)}: ${detail}`);
  };
  const watched = new Map((await watchedLicenses(service)).map((each) => [keyOf(each), each]));
  const gone = Map.groupBy(
    [...watched.values()].filter(({ in_dataset }) => !in_dataset),
    ({ license_number }) => numberKey(license_number),
  );
  const named = new Set<string>();
  const added: WatchRow[] = [];
  let read = 0;
  for await (const chunk of chunksOf(roster, 0)) {
    service.signal.throwIfAborted();
    const rows = readRows(roster, chunk, onProblem);
    for (const { result, ...row } of await answersTo(
      service,
      '/api/v1/lookup/batch',
      lookupAnswer,
      rows,
      board,
    )) {
      const { item } = row;
      // A license that was removed from the dataset stays watched.
      const [removed, ...others] = result.record ? [] : (gone.get(numberKey(item.license_number)) ?? []);
      const meant = result.record ?? (others.length === 0 ? removed : undefined);
      if (meant === undefined) onProblem(row.row, result.detail);
      else if (!watched.has(keyOf(meant)) && !named.has(keyOf(meant))) added.push(row);
      if (meant !== undefined) named.add(keyOf(meant));
    }
    read += chunk.length;
    onRows(read);
  }
  display.end();
  const removed = [...watched].filter(([key]) => !named.has(key)).map(([, each]) => each);
  const kept = watched.size - removed.length;
  print(`${grouped(added.length)} to add, ${grouped(kept)} to keep, ${grouped(removed.length)} to remove.`);
  for (const { board: of, license_number, reference } of removed.slice(0, MAX_SHOWN))
    print(`  remove ${license_number}, ${of}${reference === null ? '' : `, ${reference}`}`);
  if (removed.length > MAX_SHOWN) print(`  and ${grouped(removed.length - MAX_SHOWN)} more`);
  if (problems > 0 && removed.length > 0)
    print(`Nothing is removed, because ${grouped(problems)} rows could not be read.`);
  const isAsked = added.length > 0 || (removed.length > 0 && problems === 0);
  if (isAsked && yes !== true && !(await isConfirmed())) throw new Error('Nothing was changed.');
  for (let at = 0; at < added.length; at += MAX_ITEMS) {
    const some = added.slice(at, at + MAX_ITEMS);
    for (const { row, result } of await answersTo(
      service,
      '/api/v1/subscriptions/batch',
      batchAnswer,
      some,
      board,
    ))
      if (result.outcome === 'not_found' || result.outcome === 'invalid') onProblem(row, result.detail);
  }
  if (problems > 0) return SOME_NOT_WATCHED;
  for (const { subscription_id: id } of removed) {
    service.signal.throwIfAborted();
    await sendRows(service, [id], () => ({ path: `/api/v1/subscriptions/${id}`, method: 'DELETE' as const }));
  }
  return 0;
}

/** @throws {Error} where nobody can be asked */
async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new Error('--sync asks before it changes anything. Without a terminal, send --yes.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Continue? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}

const WORDS = {
  ...REQUEST_WORDS.row,
  noBoard: () => undefined,
  noName: 'The row has no license_number.',
};

/** @throws {BadRequestError} for a row without a number, or of another state */
function itemOf(roster: RosterWork['roster'], cells: readonly string[]): WatchRow['item'] {
  const fields = rowFields(roster, cells);
  const request = rowRequest(fields, WORDS, undefined);
  if (request.by !== 'number') throw new BadRequestError(WORDS.noName);
  const { number: license_number, board } = request;
  const { reference } = fields;
  return {
    license_number,
    ...(board && { board: board.name }),
    ...(reference !== undefined && { reference }),
  };
}

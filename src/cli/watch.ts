import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { REQUEST_WORDS } from '../answers/words.ts';
import { addTo } from '../licenses/counts.ts';
import { numberKey } from '../licenses/fold.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { rowRequest } from '../licenses/row-lookup.ts';
import { rowFields } from '../rosters/list.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { writeWhole } from '../storage/whole-file.ts';
import type { Actions } from './options.ts';
import { grouped, type Outcome, print, printError } from './output.ts';
import { interruption } from './progress.ts';
import { chunksOf, type RosterFile, type RosterWork, rosterAction, sendRows } from './roster.ts';
import { openService, type Service, ServiceError, type ServiceOptions } from './service.ts';

const SOME_NOT_WATCHED = 2;

type WatchOptions = ServiceOptions & { readonly board?: string; readonly proof?: string } & {
  readonly [Each in 'sync' | 'yes']?: true;
};

const watchRoster = rosterAction(watch);

/** The licenses of a roster are watched by a running service. It needs neither OpenSearch nor Redis. */
export const ACTIONS: Actions = {
  watch: async (given: readonly string[], options: WatchOptions) => {
    const { proof } = options;
    if ((proof === undefined) === (given.length === 0))
      throw new Error('Name a roster, or send --proof FILE without one.');
    return proof === undefined ? watchRoster(given, options) : writeProofs(proof, options);
  },
};

/** Writes the signed proof of each license that is watched, one a line. */
async function writeProofs(file: string, options: WatchOptions): Promise<Outcome> {
  const waiting = { signal: interruption().signal, onWait: printError };
  const service = openService(options, { needsKey: true, waiting });
  const watched = await watchedLicenses(service);
  const proofs = async function* () {
    for (const { subscription_id: id } of watched)
      yield `${await service.text({ path: `/api/v1/subscriptions/${id}/proof`, accept: 'application/jose' })}\n`;
  };
  await writeWhole(file, proofs());
  return { words: `${grouped(watched.length)} proofs in ${file}.` };
}

/** Watches what is not watched yet; and with `--sync`, what else was watched is removed. */
async function watch(work: RosterWork, options: WatchOptions): Promise<Outcome> {
  if (!work.roster.meanings.includes('license_number'))
    throw new BadRequestError('The first row must name a column license_number.');
  const removed = options.sync === true ? await agreedRemovals(work, options) : [];
  const outcomes = new Map<string, number>();
  for await (const { number, result } of answersTo(work, '/api/v1/subscriptions/batch', options)) {
    addTo(outcomes, result.outcome);
    const isWatched = result.outcome === 'created' || result.outcome === 'exists';
    if (!isWatched && options.sync !== true) printProblem(work, number, result);
  }
  for (const { subscription_id: id } of removed)
    await work.service.text({ path: `/api/v1/subscriptions/${id}`, method: 'DELETE' }).catch(unlessGone);
  const count = (outcome: string) => grouped(outcomes.get(outcome) ?? 0);
  return {
    words:
      `${count('created')} added, ${count('exists')} watched already, ` +
      `${count('not_found')} not found, ${count('invalid')} invalid.`,
    code: outcomes.has('not_found') || outcomes.has('invalid') ? SOME_NOT_WATCHED : 0,
  };
}

/** Its response was lost, or another command has removed it. @throws any other error */
function unlessGone(error: unknown): void {
  if (!(error instanceof ServiceError && error.status === 404)) throw error;
}

const license = z.object({ board: z.string(), license_number: z.string() });

/** What is answered to a row. */
const rowResult = z.object({
  outcome: z.string(),
  detail: z.string().default(''),
  record: license.optional(),
});

const batchAnswer = z.object({ results: z.array(rowResult) });

/** A row, by its number in the file, and what the service answers to it; a row that names no license is not sent. */
type AnsweredRow = Omit<ReturnType<typeof readRow>, 'result'> & {
  readonly number: number;
  readonly result: z.output<typeof rowResult>;
};

async function* answersTo(
  { roster, service, onRows }: RosterWork,
  path: string,
  { board }: WatchOptions,
): AsyncGenerator<AnsweredRow, void, undefined> {
  let read = 0;
  for await (const chunk of chunksOf(roster)) {
    const rows = chunk.map(({ number, cells }) => ({ number, ...readRow(roster, cells) }));
    const sent = rows.flatMap(({ item }) => item ?? []);
    const send = async (items: readonly (typeof sent)[number][]) =>
      (await service.json(batchAnswer, { path, body: { board, items } })).results;
    const results = (await sendRows(sent, send)).values();
    for (const row of rows) {
      const result = row.result ?? results.next().value;
      if (result !== undefined) yield { ...row, result };
    }
    read += chunk.length;
    onRows(read);
  }
}

function printProblem({ display }: RosterWork, row: number, { detail }: AnsweredRow['result']): void {
  display.end();
  print(`Row ${grouped(row)}: ${detail}`);
}

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

type Subscriptions = z.output<typeof listAnswer>['subscriptions'];

/** All licenses that the account watches. */
async function watchedLicenses(service: Service, after = ''): Promise<Subscriptions> {
  const path = `/api/v1/subscriptions?limit=${MAX_ITEMS}&after=${after}`;
  const { subscriptions, next } = await service.json(listAnswer, { path });
  return next === null ? subscriptions : subscriptions.concat(await watchedLicenses(service, next));
}

const keyOf = ({ board, license_number }: z.output<typeof license>) => `${board} ${license_number}`;

const MAX_SHOWN = 50;

/**
 * Shows what would change, and asks.
 *
 * @returns what is watched and not in the roster; nothing if any row of it could not be read
 * @throws {Error} unless the answer is yes
 */
async function agreedRemovals(work: RosterWork, options: WatchOptions): Promise<Subscriptions> {
  const watched = await watchedLicenses(work.service);
  const gone = Map.groupBy(
    watched.filter(({ in_dataset }) => !in_dataset),
    ({ license_number }) => numberKey(license_number),
  );
  const named = new Set<string>();
  let problems = 0;
  for await (const { number, item, result } of answersTo(work, '/api/v1/lookup/batch', options)) {
    // A license that was removed from the dataset stays watched.
    const { license_number: typed = '', board = options.board } = item ?? {};
    const [removed, ...others] = (gone.get(numberKey(typed)) ?? []).filter(
      (each) => board === undefined || each.board === board,
    );
    const meant = result.record ?? (others.length === 0 ? removed : undefined);
    if (meant !== undefined) named.add(keyOf(meant));
    else {
      problems += 1;
      printProblem(work, number, result);
    }
  }
  work.display.end();
  const removed = watched.filter((each) => !named.has(keyOf(each)));
  const kept = watched.length - removed.length;
  const added = named.size - kept;
  print(`${grouped(added)} to add, ${grouped(kept)} to keep, ${grouped(removed.length)} to remove.`);
  for (const { board, license_number, reference } of removed.slice(0, MAX_SHOWN))
    print(`  remove ${[license_number, board, reference].filter(Boolean).join(', ')}`);
  if (removed.length > MAX_SHOWN) print(`  and ${grouped(removed.length - MAX_SHOWN)} more`);
  if (problems > 0 && removed.length > 0)
    print(`Nothing is removed, because ${grouped(problems)} rows could not be read.`);
  const agreed = problems > 0 ? [] : removed;
  if (added + agreed.length > 0 && options.yes !== true) await requireYes();
  return agreed;
}

/** @throws {Error} unless the person at the terminal says yes */
async function requireYes(): Promise<void> {
  if (!process.stdin.isTTY)
    throw new Error('--sync asks before it changes anything. Without a terminal, send --yes.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Continue? [y/N] ').finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.');
}

const WORDS = {
  ...REQUEST_WORDS.row,
  noBoard: () => undefined,
  noName: 'The row has no license_number.',
};

/** What is sent of a row; or what is wrong with one that names no license, or one of another state. */
function readRow(roster: RosterFile, cells: readonly string[]) {
  try {
    const fields = rowFields(roster, cells);
    const request = rowRequest(fields, WORDS, undefined);
    if (request.by !== 'number') throw new BadRequestError(WORDS.noName);
    const { number: license_number, board } = request;
    return { item: { license_number, board: board?.name, reference: fields.reference } };
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    return { result: { outcome: 'invalid', detail: error.message } };
  }
}

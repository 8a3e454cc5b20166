import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { REQUEST_WORDS } from '../answers/words.ts';
import { addTo } from '../licenses/counts.ts';
import { numberKey } from '../licenses/fold.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { rowRequest } from '../licenses/row-lookup.ts';
import { rowFields } from '../rosters/list.ts';
import { invalidLookup, MAX_ITEMS } from '../rosters/roster.ts';
import { writeWhole } from '../storage/whole-file.ts';
import type { Actions, Options } from './options.ts';
import { grouped, type Outcome, print } from './output.ts';
import { answersTo, rosterAction, type SentRoster } from './roster.ts';
import { batchAnswer, openService, type Result, type Service, ServiceError } from './service.ts';

const SOME_NOT_WATCHED = 2;

/** Sends a roster to a running service, which then watches its licenses. Needs neither OpenSearch nor Redis. */
export const ACTIONS: Actions = {
  watch: async (given, options) => {
    const { proof } = options;
    if ((proof === undefined) === (given.length === 0))
      throw new Error('Name a roster, or send --proof FILE without one.');
    return proof === undefined ? rosterAction(watch)(given, options) : writeProofs(proof, options);
  },
};

/** Writes the signed proof of each watched license, one a line. */
async function writeProofs(file: string, options: Options): Promise<Outcome> {
  const service = openService(options, true);
  const watched = await watchedLicenses(service);
  const headers = { accept: 'application/jose' };
  const proofs = Readable.from(watched).map(async ({ subscription_id: id }: Subscription) => {
    return `${await service.text(`/api/v1/subscriptions/${id}/proof`, { headers })}\n`;
  });
  await writeWhole(file, proofs);
  return { words: `${grouped(watched.length)} proofs in ${file}.` };
}

/** Watches every license of the roster. With `--sync`, also removes the licenses that the roster does not name. */
async function watch(roster: SentRoster, options: Options): Promise<Outcome> {
  if (!roster.meanings.includes('license_number'))
    throw new BadRequestError('The first row must name a column license_number.');
  const removed = options.sync === true ? await agreedRemovals(roster, options) : [];
  const outcomes = new Map<string, number>();
  const problems: string[] = [];
  for await (const rows of answersOf(roster, '/api/v1/subscriptions/batch', options))
    for (const { result, line } of rows) {
      addTo(outcomes, result.outcome);
      if (!['created', 'exists'].includes(result.outcome)) problems.push(line);
    }
  for (const { subscription_id: id } of removed)
    await roster.service.text(`/api/v1/subscriptions/${id}`, { method: 'DELETE' }).catch(unlessGone);
  const { created = 0, exists = 0, not_found = 0, invalid = 0 } = Object.fromEntries(outcomes);
  const counts =
    `${grouped(created)} added, ${grouped(exists)} watched already, ` +
    `${grouped(not_found)} not found, ${grouped(invalid)} invalid.`;
  return {
    words: [...(options.sync === true ? [] : problems), counts],
    code: problems.length > 0 ? SOME_NOT_WATCHED : 0,
  };
}

/** Ignores a 404: an earlier response was lost, or another command removed the subscription. @throws other errors */
function unlessGone(error: unknown): void {
  if (!(error instanceof ServiceError && error.status === 404)) throw error;
}

/** Yields what the service answers to each row. A row without a license is not sent. */
function answersOf(roster: SentRoster, path: string, { board }: Options) {
  return answersTo(roster, async (rows) => {
    const read = rows.map(({ number, cells }) => ({ number, ...readRow(roster, cells) }));
    const items = read.flatMap(({ item }) => item ?? []);
    const send = () => roster.service.json(batchAnswer, path, { board, items });
    const results = (items.length === 0 ? [] : (await send()).results).values();
    return read.flatMap(({ number, item, problem }) => {
      const result: Pick<Result, 'outcome' | 'detail' | 'record'> | undefined =
        problem ?? results.next().value;
      return result === undefined ? [] : [{ item, result, line: `Row ${grouped(number)}: ${result.detail}` }];
    });
  });
}

const subscription = z.object({
  ...{ subscription_id: z.string(), board: z.string(), license_number: z.string() },
  ...{ reference: z.string().nullable(), in_dataset: z.boolean() },
});
const listAnswer = z.object({ next: z.string().nullable(), subscriptions: z.array(subscription) });

type Subscription = z.output<typeof subscription>;
type License = Pick<Subscription, 'board' | 'license_number'>;

/** All licenses that the account watches, page by page. */
async function watchedLicenses(service: Service, after = ''): Promise<Subscription[]> {
  const path = `/api/v1/subscriptions?limit=${MAX_ITEMS}&after=${after}`;
  const { subscriptions, next } = await service.json(listAnswer, path);
  return next === null ? subscriptions : subscriptions.concat(await watchedLicenses(service, next));
}

const keyOf = ({ board, license_number }: License) => `${board} ${license_number}`;

/**
 * Shows what would change, and asks whether to do it.
 *
 * @returns the watched licenses that the roster does not name; none if a row of the roster could not be read
 * @throws {Error} unless the answer is yes
 */
async function agreedRemovals(roster: SentRoster, options: Options): Promise<Subscription[]> {
  const watched = await watchedLicenses(roster.service);
  const gone = watched.filter(({ in_dataset }) => !in_dataset);
  const named = new Set<string>();
  const problems: string[] = [];
  for await (const rows of answersOf(roster, '/api/v1/lookup/batch', options))
    for (const { item, result, line } of rows) {
      const { license_number: typed = '', board: ofRow = options.board } = item ?? {};
      // A row may mean a watched license that has left the dataset. That one stays watched.
      const isMeant = ({ board, license_number }: License) =>
        numberKey(license_number) === numberKey(typed) && board === (ofRow ?? board);
      const meant = result.record === undefined ? gone.filter(isMeant) : [result.record];
      for (const each of meant) named.add(keyOf(each));
      if (meant.length === 0) problems.push(line);
    }
  const removed = watched.filter((each) => !named.has(keyOf(each)));
  const kept = watched.length - removed.length;
  const added = named.size - kept;
  const isBlocked = problems.length > 0 && removed.length > 0;
  print([
    ...problems,
    ...removed.map(({ license_number, board, reference }) => {
      return `  remove ${[license_number, board, reference].filter(Boolean).join(', ')}`;
    }),
    `${grouped(added)} to add, ${grouped(kept)} to keep, ${grouped(removed.length)} to remove.`,
    ...(isBlocked ? [`Nothing is removed, because ${grouped(problems.length)} rows could not be read.`] : []),
  ]);
  const agreed = isBlocked ? [] : removed;
  if (added + agreed.length === 0 || options.yes === true) return agreed;
  if (!process.stdin.isTTY)
    throw new Error('--sync asks before it changes anything. Without a terminal, send --yes.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Continue? [y/N] ').finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.');
  return agreed;
}

/** The license of a row; or the problem, if the row names no license, or a license of another state. */
function readRow(roster: SentRoster, cells: readonly string[]) {
  try {
    const fields = rowFields(roster, cells);
    const request = fields.license_number ? rowRequest(fields, REQUEST_WORDS.row, undefined) : undefined;
    if (request?.by !== 'number') throw new BadRequestError('The row has no license_number.');
    const { number: license_number, board } = request;
    return { item: { license_number, board: board?.name, reference: fields.reference } };
  } catch (error) {
    return { problem: invalidLookup(error) };
  }
}

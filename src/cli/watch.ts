import { resolve } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { REQUEST_WORDS } from '../answers/words.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { addTo } from '../licenses/counts.ts';
import { rowRequest } from '../licenses/row-lookup.ts';
import { rowFields } from '../rosters/list.ts';
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
  ).action(async (roster: string, options: RosterOptions) => {
    process.exitCode = await runRoster(resolve(roster), options, (work) => watch(work, options.board));
  });
}

async function watch({ roster, service, display, onRows }: RosterWork, board?: string): Promise<number> {
  if (!roster.meanings.includes('license_number'))
    throw new BadRequestError('The first row must name a column license_number.');
  const outcomes = new Map<string, number>();
  const printProblem = (row: number, detail: string) => {
    display.end();
    print(`Row ${grouped(row)}: ${detail}`);
  };
  let read = 0;
  for await (const chunk of chunksOf(roster, 0)) {
    service.signal.throwIfAborted();
    const rows: WatchRow[] = [];
    for (const { number: row, cells } of chunk) {
      try {
        rows.push({ row, item: itemOf(roster, cells) });
      } catch (error) {
        if (!(error instanceof BadRequestError)) throw error;
        addTo(outcomes, 'invalid');
        printProblem(row, error.message);
      }
    }
    const request = (sent: readonly WatchRow[]) => ({
      path: '/api/v1/subscriptions/batch',
      contentType: 'application/json',
      body: JSON.stringify({ board, items: sent.map(({ item }) => item) }),
    });
    const answered = rows.length === 0 ? [] : await sendRows(service, rows, request);
    for (const { rows: sent, text } of answered) {
      const { results } = answerAs(batchAnswer, text);
      if (results.length !== sent.length) throw new Error('The service did not answer every row.');
      for (const [at, { outcome, detail }] of results.entries()) {
        addTo(outcomes, outcome);
        if (outcome === 'not_found' || outcome === 'invalid') printProblem(sent[at]?.row ?? 0, detail);
      }
    }
    read += chunk.length;
    onRows(read);
  }
  display.end();
  const count = (outcome: (typeof OUTCOMES)[number]) => outcomes.get(outcome) ?? 0;
  print(
    `${grouped(count('created'))} added, ${grouped(count('exists'))} watched already, ` +
      `${grouped(count('not_found'))} not found, ${grouped(count('invalid'))} not understood.`,
  );
  return count('not_found') + count('invalid') > 0 ? SOME_NOT_WATCHED : 0;
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

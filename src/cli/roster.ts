import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BEGINNING_BYTES, beginningOf, csvRows, firstRows, type NumberedRow, withQuotes } from '../csv.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { headerRowOf, rosterColumns } from '../rosters/columns.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import type { Action, Options } from './options.ts';
import { errorWords, grouped, type Outcome, showProgress } from './output.ts';
import { openService, type Service, ServiceError } from './service.ts';

/** The service takes 1 MB. Quotation marks and letters beyond ASCII make a request larger than its characters. */
const MAX_REQUEST_CHARACTERS = 300_000;

/**
 * The action of a command that sends a roster to a service. Nothing is sent when the URL or the file can't be used.
 * Ctrl-C stops it, and the answers that have come are kept.
 */
export function rosterAction(action: (roster: SentRoster, options: Options) => Promise<Outcome>): Action {
  return async ([path = ''], options) => {
    const roster = await openRoster(path, openService(options, true));
    try {
      return await action(roster, options);
    } catch (error) {
      const [answered, total] = [roster.answered, roster.total].map(grouped);
      if (roster.answered === 0 || answered === total) throw error;
      const state = `Not finished: ${answered} of ${total} rows are answered. The same command finishes it.`;
      throw new Error(`${errorWords(error)}\n${state}`);
    }
  };
}

/** A roster file of any size, and the service that gets it. */
export type SentRoster = Awaited<ReturnType<typeof openRoster>>;

/**
 * Reads the whole file once, so that what is wrong with it is found before anything is sent.
 *
 * @returns also its rows, starting with the header; the total of rows below the header; and how many of these are
 * answered
 * @throws {Error} for a file that has no column of a lookup, no rows, broken quotation marks, or is not UTF-8
 */
async function openRoster(path: string, service: Service) {
  const start = await buffer(createReadStream(path, { end: BEGINNING_BYTES - 1 }));
  // A workbook, for example, is not UTF-8. The checks below would give a misleading reason for it.
  new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
  const { skipped, ...beginning } = beginningOf(start, headerRowOf);
  const columns = rosterColumns(firstRows(start.subarray(skipped), beginning.separator));
  return withQuotes(beginning, async (format) => {
    const rows = () => {
      const bytes = Readable.toWeb(createReadStream(path, { start: skipped }));
      return csvRows(bytes.pipeThrough(new TextDecoderStream('utf-8', { fatal: true })), format);
    };
    let total = -1;
    for await (const _ of rows()) total += 1;
    // With --sync, an empty roster would remove every license that is watched.
    if (total < 1) throw new BadRequestError('The roster has no rows below the names of its columns.');
    return { path, service, ...columns, format, rows, total, answered: 0 };
  });
}

/** The rows below the header in chunks of one request each, without the first `skip` rows. */
async function* chunksOf(roster: SentRoster, skip: number) {
  let chunk: NumberedRow[] = [];
  let characters = 0;
  const rows: AsyncIterable<NumberedRow> = Readable.from(roster.rows()).drop(1 + skip);
  for await (const row of rows) {
    const { length } = JSON.stringify(row.cells);
    if (chunk.length === MAX_ITEMS || (chunk.length > 0 && characters + length > MAX_REQUEST_CHARACTERS)) {
      yield chunk;
      [chunk, characters] = [[], 0];
    }
    chunk.push(row);
    characters += length;
  }
  yield chunk;
}

/**
 * Sends the rows in chunks, and yields what `send` returns for each row, in order. A chunk that the service refuses as
 * too large is sent in two halves.
 *
 * @param skip the number of rows that are answered already
 * @param concurrency the number of requests at a time
 */
export async function* answersTo<Answer>(
  roster: SentRoster,
  send: (rows: readonly NumberedRow[]) => Promise<readonly Answer[]>,
  { skip = 0, concurrency = 1 } = {},
): AsyncGenerator<readonly Answer[], void, undefined> {
  async function sendAll(rows: readonly NumberedRow[]): Promise<readonly Answer[]> {
    try {
      const answers = await send(rows);
      if (answers.length !== rows.length) throw new Error('The service did not answer every row.');
      return answers;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 413 || rows.length < 2) throw error;
      const half = Math.ceil(rows.length / 2);
      return [...(await sendAll(rows.slice(0, half))), ...(await sendAll(rows.slice(half)))];
    }
  }
  roster.answered = skip;
  const chunks = Readable.from(chunksOf(roster, skip));
  const answered: AsyncIterable<readonly Answer[]> = chunks.map(sendAll, { concurrency });
  for await (const answers of answered) {
    yield answers;
    roster.answered += answers.length;
    showProgress(`${grouped(roster.answered)} of ${grouped(roster.total)} rows`, 'rows', process.stderr);
  }
}

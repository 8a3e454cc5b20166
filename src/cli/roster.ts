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

/** What a command works with. */
export interface RosterWork {
  readonly roster: RosterFile;
  readonly service: Service;
  /** How many rows are answered. */
  answered: number;
}

/**
 * The action of a command that sends a roster to a service. Nothing is sent when the URL or the file can't be used.
 * Ctrl-C stops it after what is answered is kept.
 */
export function rosterAction(action: (work: RosterWork, options: Options) => Promise<Outcome>): Action {
  return async ([path = ''], options) => {
    const work = { service: openService(options, true), roster: await openRoster(path), answered: 0 };
    try {
      return await action(work, options);
    } catch (error) {
      const [answered, total] = [work.answered, work.roster.total].map(grouped);
      if (work.answered === 0 || answered === total) throw error;
      const state = `Not finished: ${answered} of ${total} rows are answered. The same command finishes it.`;
      throw new Error(`${errorWords(error)}\n${state}`);
    }
  };
}

/** A roster file of any size. */
export type RosterFile = Awaited<ReturnType<typeof openRoster>>;

/**
 * Reads the whole file once, so that what is wrong with it is found before anything is sent.
 *
 * @returns also how many rows it has below the header, and its rows, the header row first
 * @throws {Error} for a file that has no column of a lookup, no rows, broken quotation marks, or is not UTF-8
 */
async function openRoster(path: string) {
  const start = await buffer(createReadStream(path, { end: BEGINNING_BYTES - 1 }));
  // What is not UTF-8, such as a workbook, is none of the mistakes that are looked for below.
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
    // With --sync, it would end all watching.
    if (total < 1) throw new BadRequestError('The roster has no rows below the names of its columns.');
    return { path, ...columns, format, total, rows };
  });
}

/** The rows below the header, but the first `skip`, in chunks for one request each. */
async function* chunksOf(roster: RosterFile, skip: number) {
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
 * What `send` makes of each row, in their order. What is too much for one request is halved.
 *
 * @param skip how many rows are answered already
 * @param concurrency how many requests are under way at a time
 */
export async function* answersTo<Answer>(
  work: RosterWork,
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
  const { roster } = work;
  work.answered = skip;
  const chunks = Readable.from(chunksOf(roster, skip));
  const answered: AsyncIterable<readonly Answer[]> = chunks.map(sendAll, { concurrency });
  for await (const answers of answered) {
    yield answers;
    work.answered += answers.length;
    showProgress(`${grouped(work.answered)} of ${grouped(roster.total)} rows`, 'rows', process.stderr);
  }
}

import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { BEGINNING_BYTES, beginningOf, csvRows, firstRows, type NumberedRow, withQuotes } from '../csv.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { headerRowOf, rosterColumns } from '../rosters/columns.ts';
import type { Table } from '../rosters/list.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { fileTrouble } from '../storage/errors.ts';
import { boardName } from './options.ts';
import { grouped, printError } from './output.ts';
import { type Display, startDisplay } from './progress.ts';
import {
  ask,
  openService,
  type Service,
  ServiceError,
  type ServiceOptions,
  type ServiceRequest,
  withServiceOptions,
} from './service-client.ts';

/** The service takes 1 MB. Quotation marks and letters beyond ASCII make a request larger than its characters. */
const MAX_REQUEST_CHARACTERS = 300_000;

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;

/** An outage that takes longer ends the command. */
const MAX_OUTAGE_MS = 10 * 60_000;

const UNFINISHED = 1;

/** A roster file of any size. */
export interface RosterFile extends Omit<Table, 'rows' | 'leftOut'> {
  readonly path: string;
  /** How many bytes stand before the header row. */
  readonly skipped: number;
  /** How many rows it has below the header. */
  readonly total: number;
}

/** What commands that send a roster have in common. */
export interface RosterOptions extends ServiceOptions {
  readonly board?: string;
}

/** Adds the roster's file, the service and its key. */
export function withRosterOptions(command: Command, rosterWords: string, name = '<roster>'): Command {
  return withServiceOptions(command.argument(name, rosterWords)).option(
    '--board <board>',
    'the board of every row that names none, by its code or its name',
    boardName,
  );
}

/** A running service, and how a command waits for it. */
interface WaitedFor extends Service {
  readonly signal: AbortSignal;
  /** Called before each wait, with its reason. */
  readonly onWait: (reason: string) => void;
}

/** What a command works with. */
export interface RosterWork {
  readonly roster: RosterFile;
  readonly service: WaitedFor;
  /** It is ended before anything is printed. */
  readonly display: Display;
  /** Shows how many rows are answered. */
  readonly onRows: (rows: number) => void;
}

/**
 * Sends a roster to a service. Ctrl-C stops it after what is answered is kept.
 *
 * @param work returns the exit code
 * @returns the exit code, also of what could not be finished
 * @throws {Error} before anything is sent, when the key, the URL or the file can't be used
 */
export async function runRoster(
  path: string,
  options: RosterOptions,
  work: (parts: RosterWork) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController();
  const asked = openService(options, { needsKey: true, signal: interrupted.signal });
  const roster = await openRoster(path);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const display = startDisplay(process.stderr);
  let answered = 0;
  const onRows = (rows: number) => {
    answered = rows;
    display.show(`${grouped(rows)} of ${grouped(roster.total)} rows`, rows / roster.total);
  };
  const onWait = (reason: string) => display.show(`waiting: ${reason}`, answered / roster.total);
  const service = Object.assign(asked, { signal: interrupted.signal, onWait });
  try {
    return await work({ roster, service, display, onRows });
  } catch (error) {
    display.end();
    const isInterrupted = interrupted.signal.aborted;
    if (!isInterrupted)
      printError(fileTrouble(error) ?? (error instanceof Error ? error.message : String(error)));
    const mayContinue = isInterrupted || (error instanceof ServiceError && error.isTransient);
    const next = mayContinue ? ' The same command finishes it.' : '';
    if (answered > 0 || mayContinue)
      printError(`Not finished: ${grouped(answered)} of ${grouped(roster.total)} rows are answered.${next}`);
    return UNFINISHED;
  }
}

/**
 * Reads the whole file once, so that what is wrong with it is found before anything is sent.
 *
 * @throws {BadRequestError} for a file that has no column of a lookup, broken quotation marks, or is not UTF-8
 */
async function openRoster(path: string): Promise<RosterFile> {
  const start = await buffer(createReadStream(path, { end: BEGINNING_BYTES - 1 }));
  const { skipped, ...beginning } = beginningOf(start, headerRowOf);
  const columns = rosterColumns(firstRows(start.subarray(skipped), beginning.separator));
  return withQuotes(beginning, async (format) => {
    let rows = 0;
    for await (const _ of rowsOf({ path, skipped, format })) rows += 1;
    return { path, skipped, ...columns, format, total: rows - 1 };
  });
}

/** The rows below the header, but the first `skip`, in chunks for one request each. */
export async function* chunksOf(
  roster: RosterFile,
  skip: number,
): AsyncGenerator<NumberedRow[], void, undefined> {
  let chunk: NumberedRow[] = [];
  let characters = 0;
  let read = 0;
  for await (const row of rowsOf(roster)) {
    read += 1;
    // The first row is the header.
    if (read <= skip + 1) continue;
    const length = row.cells.reduce((sum, cell) => sum + cell.length + 3, 0);
    if (chunk.length === MAX_ITEMS || (chunk.length > 0 && characters + length > MAX_REQUEST_CHARACTERS)) {
      yield chunk;
      [chunk, characters] = [[], 0];
    }
    chunk.push(row);
    characters += length;
  }
  if (chunk.length > 0) yield chunk;
}

/** The rows of a roster, its header row first. */
export function rowsOf({ path, skipped, format }: Pick<RosterFile, 'path' | 'skipped' | 'format'>) {
  return csvRows(textOf(path, skipped), format);
}

async function* textOf(path: string, start: number): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const bytes: AsyncIterable<Buffer> = createReadStream(path, { start });
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new BadRequestError('The file is not valid UTF-8.') : error;
  }
}

/** Rows that were answered together. */
interface Answered<Row> {
  readonly rows: readonly Row[];
  readonly text: string;
}

/**
 * Sends rows until they are answered: waits as long as a 429 or 503 says, tries again after a lost connection, and
 * halves what is too much for one request.
 *
 * @throws {Error} when the service refuses the rows, or is away for ten minutes
 */
export async function sendRows<Row>(
  service: WaitedFor,
  rows: readonly Row[],
  requestOf: (rows: readonly Row[]) => ServiceRequest,
): Promise<Answered<Row>[]> {
  let outageStartedAt: number | undefined;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return [{ rows, text: await ask(service, requestOf(rows)) }];
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { message, status, isTransient, retryAfterMs } = error;
      if (status === 413 && rows.length > 1) {
        const half = Math.ceil(rows.length / 2);
        const first = await sendRows(service, rows.slice(0, half), requestOf);
        return [...first, ...(await sendRows(service, rows.slice(half), requestOf))];
      }
      if (status !== 429) outageStartedAt ??= Date.now();
      const waitMs = retryAfterMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
      const leftMs = outageStartedAt && outageStartedAt + MAX_OUTAGE_MS - Date.now();
      if (!isTransient || (leftMs !== undefined && leftMs <= 0)) throw error;
      const deadline = leftMs === undefined ? '' : `, for ${Math.ceil(leftMs / 60_000)} more minutes`;
      service.onWait(`${message} Next try in ${Math.ceil(waitMs / 1000)} s${deadline}.`);
      await sleep(waitMs, undefined, { signal: service.signal });
    }
  }
}

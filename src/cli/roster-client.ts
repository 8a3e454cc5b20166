import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { csvRows } from '../csv.ts';
import { inspectFile } from '../dataset/source-file.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { HEADER_BYTES, type RosterTable, readHeader } from '../rosters/table.ts';
import { grouped, printError } from './output.ts';
import { type Display, startDisplay } from './progress.ts';

/** The service takes 1 MB. Quotation marks and letters beyond ASCII make a request larger than its characters. */
const MAX_REQUEST_CHARACTERS = 300_000;

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;

/** An outage that takes longer ends the command. It continues where it was when it is called again. */
const MAX_OUTAGE_MS = 10 * 60_000;
const REQUEST_TIMEOUT_MS = 30_000;

const UNFINISHED = 1;

/** A roster file of any size. */
export interface RosterFile extends Pick<RosterTable, 'columns' | 'format'> {
  readonly path: string;
  readonly sha256: string;
  /** How many rows it has below the header. */
  readonly total: number;
}

/** What commands that send a roster have in common. */
export interface RosterOptions {
  readonly url: string;
  readonly key?: string;
  readonly board?: string;
}

/** Adds the roster's file, the service and its key. */
export function withRosterOptions(command: Command, rosterWords: string): Command {
  return command
    .argument('<roster>', rosterWords)
    .addOption(new Option('--url <url>', 'the service').env('LICENSES_URL').default('http://127.0.0.1:8080'))
    .addOption(
      new Option('--key <key>', 'the API key; lists of processes show it, unlike the variable').env(
        'LICENSES_KEY',
      ),
    )
    .option('--board <name>', 'the board of every row that names none');
}

/** A running service, and how a command waits for it. */
export interface Service {
  readonly url: string;
  readonly key: string;
  /** Stops the work after what is answered is kept. */
  readonly signal: AbortSignal;
  /** Called before each wait, with its reason. */
  readonly onWait: (reason: string) => void;
}

/** What a command works with. */
export interface RosterWork {
  readonly roster: RosterFile;
  readonly service: Service;
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
  { url, key }: RosterOptions,
  work: (parts: RosterWork) => Promise<number>,
): Promise<number> {
  if (!key) throw new Error('Give the API key: set LICENSES_KEY, or send --key.');
  if (!/^https?:\/\//.test(url)) throw new Error('--url must be an http or https address.');
  const roster = await openRoster(path);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const display = startDisplay(process.stderr);
  let part = 0;
  const onRows = (rows: number) => {
    part = rows / roster.total;
    display.show(`${grouped(rows)} of ${grouped(roster.total)} rows`, part);
  };
  const onWait = (reason: string) => display.show(`waiting: ${reason}`, part);
  const service = { url: url.replace(/\/+$/, ''), key, signal: interrupted.signal, onWait };
  try {
    return await work({ roster, service, display, onRows });
  } catch (error) {
    display.end();
    if (!interrupted.signal.aborted) printError(error instanceof Error ? error.message : String(error));
    printError('Not finished. The same command continues where this one stopped.');
    return UNFINISHED;
  }
}

/**
 * Reads the whole file once, so that what is wrong with it is found before anything is sent.
 *
 * @throws {BadRequestError} for a file that has no column of a lookup, broken quotation marks, or is not UTF-8
 */
async function openRoster(path: string): Promise<RosterFile> {
  const start = await buffer(createReadStream(path, { end: HEADER_BYTES - 1 }));
  const { sha256 } = await inspectFile(path);
  const header = readHeader(start);
  let rows = 0;
  for await (const _ of rowsOf(path, header.format)) rows += 1;
  return { path, sha256, ...header, total: rows - 1 };
}

/** The rows below the header, but the first `skip`, in chunks for one request each. */
export async function* chunksOf(
  roster: RosterFile,
  skip: number,
): AsyncGenerator<string[][], void, undefined> {
  let chunk: string[][] = [];
  let characters = 0;
  let row = 0;
  for await (const cells of rowsOf(roster.path, roster.format)) {
    row += 1;
    // The first row is the header.
    if (row <= skip + 1) continue;
    const length = cells.reduce((sum, cell) => sum + cell.length + 3, 0);
    if (chunk.length === MAX_ITEMS || (chunk.length > 0 && characters + length > MAX_REQUEST_CHARACTERS)) {
      yield chunk;
      [chunk, characters] = [[], 0];
    }
    chunk.push(cells);
    characters += length;
  }
  if (chunk.length > 0) yield chunk;
}

function rowsOf(path: string, { delimiter }: RosterFile['format']) {
  return csvRows(textOf(path), delimiter);
}

async function* textOf(path: string): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const bytes: AsyncIterable<Buffer> = createReadStream(path);
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new BadRequestError('The file is not valid UTF-8.') : error;
  }
}

/** A request for some rows of a roster. */
interface RowsRequest {
  /** Below /api/v1. */
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
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
  service: Service,
  rows: readonly Row[],
  requestOf: (rows: readonly Row[]) => RowsRequest,
): Promise<Answered<Row>[]> {
  let outageStartedAt: number | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const { isAnswer, status, text, retryAfterMs } = await post(service, requestOf(rows));
    if (isAnswer) return [{ rows, text }];
    if (status === 413 && rows.length > 1) {
      const half = Math.ceil(rows.length / 2);
      const first = await sendRows(service, rows.slice(0, half), requestOf);
      return [...first, ...(await sendRows(service, rows.slice(half), requestOf))];
    }
    if (status !== 429) outageStartedAt ??= Date.now();
    const isOver = outageStartedAt !== undefined && Date.now() - outageStartedAt > MAX_OUTAGE_MS;
    if (isOver || (status !== undefined && status !== 429 && status < 500)) throw new Error(text);
    service.onWait(text);
    const waitMs = retryAfterMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
    await sleep(waitMs, undefined, { signal: service.signal });
  }
}

const errorBody = z.object({ detail: z.string() });

interface Posted {
  readonly isAnswer: boolean;
  /** `undefined` when the service could not be reached. */
  readonly status?: number;
  /** The answer, or what is wrong. */
  readonly text: string;
  readonly retryAfterMs?: number;
}

async function post(
  { url, key, signal }: Service,
  { path, contentType, body }: RowsRequest,
): Promise<Posted> {
  try {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': contentType, 'x-api-key': key },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    const { status, ok: isAnswer } = response;
    const text = await response.text();
    if (isAnswer) return { isAnswer, status, text };
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      isAnswer,
      status,
      text: detailOf(text) ?? `The service answered with ${status}.`,
      ...(Number.isFinite(retryAfter) && { retryAfterMs: retryAfter * 1000 }),
    };
  } catch (error) {
    signal.throwIfAborted();
    const reason =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { isAnswer: false, text: `The service at ${url} cannot be reached: ${reason}` };
  }
}

function detailOf(text: string): string | undefined {
  try {
    return errorBody.parse(JSON.parse(text)).detail;
  } catch {
    return undefined;
  }
}

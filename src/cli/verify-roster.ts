import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { csvRows, firstCsvRow, plainCsv } from '../csv.ts';
import { inspectFile } from '../dataset/source-file.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { HEADER_BYTES, type RosterTable, readHeader } from '../rosters/table.ts';

/** The service takes 1 MB. Quotation marks and letters beyond ASCII make a request larger than its characters. */
const MAX_REQUEST_CHARACTERS = 300_000;

/** While the service answers one chunk, others are read, sent and written. */
const IN_FLIGHT = 3;

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;

/** An outage that takes longer ends the command. It continues where it was when it is called again. */
const MAX_OUTAGE_MS = 10 * 60_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** A roster file of any size. */
export interface RosterFile extends Pick<RosterTable, 'columns' | 'format'> {
  readonly path: string;
  readonly sha256: string;
  /** How many rows it has below the header. */
  readonly total: number;
}

/**
 * Reads the whole file once, so that what is wrong with it is found before anything is sent.
 *
 * @throws {BadRequestError} for a file that has no column of a lookup, broken quotation marks, or is not UTF-8
 */
export async function openRoster(path: string): Promise<RosterFile> {
  const start = await buffer(createReadStream(path, { end: HEADER_BYTES - 1 }));
  const { sha256 } = await inspectFile(path);
  const header = readHeader(start);
  let rows = 0;
  for await (const _ of rowsOf(path, header.format)) rows += 1;
  return { path, sha256, ...header, total: rows - 1 };
}

/** Where a roster is verified, and how. */
interface Verification {
  readonly url: string;
  readonly key: string;
  readonly board?: string | undefined;
  readonly maxMatches?: string | undefined;
  readonly resultPath: string;
  /** Stops the work after what is answered is written. */
  readonly signal: AbortSignal;
  /** Called with the number of answered rows whenever some were written. */
  readonly onRows: (rows: number) => void;
  /** Called before each wait, with its reason. */
  readonly onWait: (reason: string) => void;
}

/** What is saved beside the result file while it grows. */
const progressFile = z.object({
  /** What was asked: the roster's hash and the options. Another question begins anew. */
  question: z.string(),
  /** How many rows of the roster are answered. */
  rows: z.int(),
  /** How many bytes of the result file hold their answers. What follows was not finished. */
  bytes: z.int(),
  /** The header row of the answers. */
  header: z.string(),
});

/**
 * Verifies a roster file of any size, and writes the result file in the order of the roster. After an interruption
 * the same call continues where the result file ends.
 *
 * @throws the signal's reason when it aborts
 */
export async function verifyFile(roster: RosterFile, verification: Verification): Promise<void> {
  const { board, maxMatches, resultPath, signal, onRows } = verification;
  const question = JSON.stringify([roster.sha256, board ?? null, maxMatches ?? null]);
  const progressPath = `${resultPath}.progress.json`;
  const progress = await readProgress(progressPath, resultPath, question);
  const file = await open(resultPath, 'a');
  try {
    await file.truncate(progress.bytes);
    const answers: Promise<Answer[]>[] = [];
    const writeNext = async () => {
      for (const { header, rows, count } of (await answers.shift()) ?? []) {
        if (progress.rows > 0 && header !== progress.header)
          throw new Error(
            'The service adds other columns now than in the rows above. Choose another --out file.',
          );
        const mark = roster.format.hasByteOrderMark ? '\ufeff' : '';
        const text = progress.rows === 0 ? mark + header + rows : rows;
        await file.appendFile(text);
        progress.rows += count;
        progress.bytes += Buffer.byteLength(text);
        progress.header = header;
        await writeFile(`${progressPath}.new`, JSON.stringify(progress));
        await rename(`${progressPath}.new`, progressPath);
        onRows(progress.rows);
      }
    };
    for await (const chunk of chunksOf(roster, progress.rows)) {
      signal.throwIfAborted();
      const answer = sendChunk(verification, roster, chunk);
      // An error is thrown when its turn comes.
      answer.catch(() => undefined);
      answers.push(answer);
      if (answers.length === IN_FLIGHT) await writeNext();
    }
    while (answers.length > 0) await writeNext();
    await rm(progressPath, { force: true });
  } finally {
    await file.close();
  }
}

/** The progress of an earlier call that was interrupted, or the beginning. */
async function readProgress(path: string, resultPath: string, question: string) {
  try {
    const saved = progressFile.parse(JSON.parse(await readFile(path, 'utf8')));
    const { size } = await stat(resultPath);
    if (saved.question === question && saved.bytes <= size) return saved;
  } catch {
    // There is none.
  }
  return { question, rows: 0, bytes: 0, header: '' };
}

/** The rows below the header, but the first `skip`, in chunks for one request each. */
async function* chunksOf(roster: RosterFile, skip: number): AsyncGenerator<string[][], void, undefined> {
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

/** The answer to `count` rows: its header row, and its other rows, as CSV. */
interface Answer {
  readonly header: string;
  readonly rows: string;
  readonly count: number;
}

/**
 * Sends rows until they are answered: waits as long as a 429 or 503 says, and tries again after a lost connection.
 *
 * @throws {Error} when the service refuses the rows, or is away for ten minutes
 */
async function sendChunk(
  verification: Verification,
  roster: RosterFile,
  chunk: readonly string[][],
): Promise<Answer[]> {
  const { signal, onWait } = verification;
  let outageStartedAt: number | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const { status, text, retryAfterMs } = await post(verification, roster, chunk);
    if (status === 200) return [answerOf(text, roster, chunk.length)];
    if (status === 413 && chunk.length > 1) {
      const half = Math.ceil(chunk.length / 2);
      const first = await sendChunk(verification, roster, chunk.slice(0, half));
      return [...first, ...(await sendChunk(verification, roster, chunk.slice(half)))];
    }
    if (status !== 429) outageStartedAt ??= Date.now();
    const isOver = outageStartedAt !== undefined && Date.now() - outageStartedAt > MAX_OUTAGE_MS;
    if (isOver || (status !== undefined && status !== 429 && status < 500)) throw new Error(text);
    onWait(text);
    await sleep(retryAfterMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt), undefined, { signal });
  }
}

const errorBody = z.object({ detail: z.string() });

interface Posted {
  /** `undefined` when the service could not be reached. */
  readonly status?: number;
  /** The answer's CSV, or what is wrong. */
  readonly text: string;
  readonly retryAfterMs?: number;
}

async function post(
  { url, key, board, maxMatches, signal }: Verification,
  { columns, format }: RosterFile,
  chunk: readonly string[][],
): Promise<Posted> {
  const query = new URLSearchParams({
    ...(board !== undefined && { board }),
    ...(maxMatches !== undefined && { max_matches: maxMatches }),
  });
  try {
    const response = await fetch(`${url}/api/v1/lookup/batch?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', 'x-api-key': key },
      body: plainCsv([columns, ...chunk], format),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    const { status } = response;
    const text = await response.text();
    if (response.ok) return { status, text };
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      status,
      text: detailOf(text) ?? `The service answered with ${status}.`,
      ...(Number.isFinite(retryAfter) && { retryAfterMs: retryAfter * 1000 }),
    };
  } catch (error) {
    signal.throwIfAborted();
    const reason =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { text: `The service at ${url} cannot be reached: ${reason}` };
  }
}

function detailOf(text: string): string | undefined {
  try {
    return errorBody.parse(JSON.parse(text)).detail;
  } catch {
    return undefined;
  }
}

/** @throws {Error} for an answer that is not one of this service */
function answerOf(text: string, { format }: RosterFile, count: number): Answer {
  const bytes = Buffer.from(text);
  const { cells, bytes: headerBytes } = firstCsvRow(bytes, format.delimiter);
  if (!cells.includes('result_outcome'))
    throw new Error('The answer is not one of this service. Is the URL right?');
  return { header: bytes.toString('utf8', 0, headerBytes), rows: bytes.toString('utf8', headerBytes), count };
}

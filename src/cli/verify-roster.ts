import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { csvRows } from '../csv.ts';
import { inspectFile } from '../dataset/source-file.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { addTo, countsByName } from '../licenses/counts.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { HEADER_BYTES, type RosterTable, readHeader } from '../rosters/table.ts';
import { type AnsweredChunk, type Chunk, RefusedError, type Service, sendChunk } from './send-roster.ts';

/** The service takes 1 MB. Quotation marks and letters beyond ASCII make a request larger than its characters. */
const MAX_REQUEST_CHARACTERS = 300_000;

/** While the service answers one chunk, others are read, sent and written. */
const IN_FLIGHT = 3;

/** A roster file of any size. */
export interface RosterFile extends Pick<RosterTable, 'columns' | 'format'> {
  readonly path: string;
  readonly sha256: string;
}

/**
 * Reads the header row of a roster file.
 *
 * @throws {BadRequestError} for a file that has no column of a lookup
 */
export async function openRoster(path: string): Promise<RosterFile> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const { sha256 } = await inspectFile(path);
    return { path, sha256, ...readHeader(buffer.subarray(0, bytesRead)) };
  } finally {
    await file.close();
  }
}

/**
 * Reads the whole file once, so that what is wrong with it is found before anything is sent.
 *
 * @returns how many rows it has below the header
 * @throws {BadRequestError} for broken quotation marks, or a file that is not UTF-8
 */
export async function countRows(roster: RosterFile): Promise<number> {
  let rows = -1;
  for await (const _ of rowsOf(roster)) rows += 1;
  return rows;
}

const savedProgress = z.object({
  /** What was asked: the roster's hash and the options. Another question begins anew. */
  question: z.string(),
  /** How many rows of the roster are answered. */
  rows: z.int(),
  /** How many bytes of the result file hold their answers. What follows was not finished. */
  bytes: z.int(),
  /** The header row of the answers. */
  header: z.string(),
  outcomes: countsByName,
  /** The run dates of the datasets that answered. */
  dates: z.array(z.string()),
});

type SavedProgress = z.output<typeof savedProgress>;

/** What a roster file became. */
export type Verified = Pick<SavedProgress, 'rows' | 'outcomes' | 'dates'>;

interface VerifyOptions {
  readonly service: Service;
  readonly resultPath: string;
  /** Stops the work after what is answered is written. */
  readonly signal: AbortSignal;
  /** Called with the number of answered rows whenever some were written. */
  readonly onRows: (rows: number) => void;
  /** Called before each wait, with its reason. */
  readonly onWait: (reason: string) => void;
}

/**
 * Verifies a roster file of any size, and writes the result file in the order of the roster. After an interruption
 * the same call continues where the result file ends. The progress is saved beside the result file while it grows.
 *
 * @throws the signal's reason when it aborts
 */
export async function verifyFile(roster: RosterFile, options: VerifyOptions): Promise<Verified> {
  const { service, resultPath, signal, onRows, onWait } = options;
  const { board, maxMatches } = service;
  const question = JSON.stringify([roster.sha256, board ?? null, maxMatches ?? null]);
  const progressPath = `${resultPath}.progress.json`;
  const saved = await readProgress(progressPath, question);
  const file = await open(resultPath, saved === undefined ? 'w' : 'r+');
  try {
    await file.truncate(saved?.bytes ?? 0);
    let progress = saved ?? { question, rows: 0, bytes: 0, header: '', outcomes: {}, dates: [] };
    const answers: Promise<AnsweredChunk[]>[] = [];
    const writeNext = async () => {
      for (const answer of (await answers.shift()) ?? []) {
        progress = await append(file, progress, answer, roster);
        await writeFile(`${progressPath}.new`, JSON.stringify(progress));
        await rename(`${progressPath}.new`, progressPath);
        onRows(progress.rows);
      }
    };
    for await (const chunk of chunksOf(roster, progress.rows)) {
      signal.throwIfAborted();
      const answer = sendChunk(service, roster, chunk, signal, onWait);
      // An error is thrown when its turn comes.
      answer.catch(() => undefined);
      answers.push(answer);
      if (answers.length === IN_FLIGHT) await writeNext();
    }
    while (answers.length > 0) await writeNext();
    await rm(progressPath, { force: true });
    return progress;
  } finally {
    await file.close();
  }
}

/** The progress of an earlier call that was interrupted; `undefined` without one, or for another question. */
async function readProgress(path: string, question: string): Promise<SavedProgress | undefined> {
  try {
    const saved = savedProgress.parse(JSON.parse(await readFile(path, 'utf8')));
    return saved.question === question ? saved : undefined;
  } catch {
    return undefined;
  }
}

async function append(
  file: FileHandle,
  { question, rows, bytes, header, outcomes, dates }: SavedProgress,
  answer: AnsweredChunk,
  { format }: RosterFile,
): Promise<SavedProgress> {
  if (rows > 0 && answer.header !== header) {
    throw new RefusedError(
      'The service adds other columns now than in the rows above. Choose another --out file.',
    );
  }
  const mark = format.hasByteOrderMark ? '\ufeff' : '';
  const text = Buffer.from(rows === 0 ? mark + answer.header + answer.rows : answer.rows);
  await file.write(text, 0, text.length, bytes);
  const counted = new Map(Object.entries(outcomes));
  for (const [outcome, count] of answer.outcomes) addTo(counted, outcome, count);
  return {
    question,
    rows: rows + answer.count,
    bytes: bytes + text.length,
    header: answer.header,
    outcomes: Object.fromEntries(counted),
    dates: [...new Set([...dates, answer.date])],
  };
}

/**
 * The rows below the header in chunks for one request each.
 *
 * @param skip how many rows were answered before
 */
async function* chunksOf(roster: RosterFile, skip: number): AsyncGenerator<Chunk, void, undefined> {
  let chunk: string[][] = [];
  let characters = 0;
  let row = 0;
  for await (const cells of rowsOf(roster)) {
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

function rowsOf({ path, format }: RosterFile): AsyncGenerator<string[], void, undefined> {
  return csvRows(textOf(path), format.delimiter);
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

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { csvRows } from '../../csv.ts';
import { BadRequestError } from '../../licenses/bad-request.ts';
import { MAX_ITEMS } from '../../rosters/roster.ts';
import { HEADER_BYTES, type RosterTable, readHeader } from '../../rosters/table.ts';

/** The service takes 1 MB. Quotation marks and letters beyond ASCII make a request larger than its characters. */
const MAX_REQUEST_CHARACTERS = 300_000;

/** Rows that are sent in one request. */
export type Chunk = readonly (readonly string[])[];

/** A roster file of any size. */
export interface RosterFile extends Pick<RosterTable, 'columns' | 'format'> {
  readonly path: string;
  /** SHA-256 of its bytes. */
  readonly hash: string;
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
    return { path, hash: await hashOf(path), ...readHeader(buffer.subarray(0, bytesRead)) };
  } finally {
    await file.close();
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
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

/**
 * The rows below the header in chunks for one request each.
 *
 * @param skip how many rows were answered before
 */
export async function* chunksOf(roster: RosterFile, skip: number): AsyncGenerator<Chunk, void, undefined> {
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

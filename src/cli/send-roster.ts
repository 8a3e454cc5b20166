import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { csvRows, firstCsvRow, plainCsv } from '../csv.ts';
import { addTo } from '../licenses/counts.ts';
import type { RosterTable } from '../rosters/table.ts';

/** Rows that are sent in one request. */
export type Chunk = RosterTable['rows'];

/** How the roster is written. */
type Roster = Pick<RosterTable, 'columns' | 'format'>;

/** Where rosters are verified, and how. */
export interface Service {
  readonly url: string;
  readonly key: string;
  readonly board?: string | undefined;
  readonly maxMatches?: string | undefined;
}

/** The answer to a chunk. */
export interface AnsweredChunk {
  /** The header row of the answer, and its other rows, as CSV. */
  readonly header: string;
  readonly rows: string;
  readonly count: number;
  /** How many rows ended in each way, and under `clear` how many of the found have no cautions. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** The run date of the dataset that answered, `YYYY-MM-DD`. */
  readonly date: string;
}

/** The service refused the roster. The message is its own. */
export class RefusedError extends Error {}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;

/** An outage that takes longer ends the command. It continues where it was when it is called again. */
const MAX_OUTAGE_MS = 10 * 60_000;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Sends rows until they are answered: waits as long as a 429 or 503 says, and tries again after a lost connection.
 *
 * @param onWait is called before each wait, with its reason
 * @throws {RefusedError} when the service refuses the rows, or is away for ten minutes
 */
export async function sendChunk(
  service: Service,
  roster: Roster,
  chunk: Chunk,
  signal: AbortSignal,
  onWait: (reason: string) => void,
): Promise<AnsweredChunk[]> {
  let outageStartedAt: number | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await post(service, roster, chunk, signal);
    if (answer.status === 200) return [await answeredChunk(answer.text, roster, chunk.length)];
    if (answer.status === 413 && chunk.length > 1) {
      const half = Math.ceil(chunk.length / 2);
      const first = await sendChunk(service, roster, chunk.slice(0, half), signal, onWait);
      return [...first, ...(await sendChunk(service, roster, chunk.slice(half), signal, onWait))];
    }
    if (answer.status !== undefined && answer.status !== 429 && answer.status < 500) {
      throw new RefusedError(answer.text);
    }
    if (answer.status !== 429) outageStartedAt ??= Date.now();
    if (outageStartedAt !== undefined && Date.now() - outageStartedAt > MAX_OUTAGE_MS) {
      throw new RefusedError(answer.text);
    }
    const waitMs = answer.retryAfterMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
    onWait(answer.text);
    await sleep(waitMs, undefined, { signal });
  }
}

interface Posted {
  /** `undefined` when the service could not be reached. */
  readonly status: number | undefined;
  /** The answer's CSV, or what is wrong. */
  readonly text: string;
  readonly retryAfterMs?: number;
}

async function post(
  { url, key, board, maxMatches }: Service,
  { columns, format }: Roster,
  chunk: Chunk,
  signal: AbortSignal,
): Promise<Posted> {
  const query = new URLSearchParams({
    ...(board === undefined ? {} : { board }),
    ...(maxMatches === undefined ? {} : { max_matches: maxMatches }),
  });
  try {
    const response = await fetch(`${url}/api/v1/lookup/batch?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', 'x-api-key': key },
      body: plainCsv([columns, ...chunk], format),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    const text = await response.text();
    if (response.ok) return { status: response.status, text };
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      status: response.status,
      text: detailOf(text) ?? `The service answered with ${response.status}.`,
      ...(Number.isFinite(retryAfter) && { retryAfterMs: retryAfter * 1000 }),
    };
  } catch (error) {
    signal.throwIfAborted();
    const reason =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { status: undefined, text: `The service at ${url} cannot be reached: ${reason}` };
  }
}

const errorBody = z.object({ detail: z.string() });

function detailOf(text: string): string | undefined {
  try {
    return errorBody.parse(JSON.parse(text)).detail;
  } catch {
    return undefined;
  }
}

/** @throws {RefusedError} for an answer that is not one of this service */
async function answeredChunk(text: string, { format }: Roster, count: number): Promise<AnsweredChunk> {
  const bytes = Buffer.from(text);
  const { cells: columns, bytes: headerBytes } = firstCsvRow(bytes, format.delimiter);
  const columnAt = (name: string) => columns.indexOf(`result_${name}`);
  const [outcomeAt, cautionsAt, dateAt] = [
    columnAt('outcome'),
    columnAt('cautions'),
    columnAt('last_scraped'),
  ];
  const outcomes = new Map<string, number>();
  let [rows, date] = [-1, ''];
  for await (const cells of csvRows(Readable.from([bytes]), format.delimiter)) {
    rows += 1;
    if (rows === 0) continue;
    addTo(outcomes, cells[outcomeAt] ?? '');
    if (cells[outcomeAt] === 'found' && cells[cautionsAt] === '') addTo(outcomes, 'clear');
    date = cells[dateAt]?.slice(0, 10) ?? date;
  }
  if (rows !== count || date === '') {
    throw new RefusedError(`The service answered ${Math.max(0, rows)} rows of ${count}. Is the URL right?`);
  }
  return {
    header: bytes.toString('utf8', 0, headerBytes),
    rows: bytes.toString('utf8', headerBytes),
    ...{ count, outcomes, date },
  };
}

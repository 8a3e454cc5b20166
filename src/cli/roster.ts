import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { BEGINNING_BYTES, beginningOf, csvRows, firstRows, type NumberedRow, withQuotes } from '../csv.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { headerRowOf, rosterColumns } from '../rosters/columns.ts';
import type { Table } from '../rosters/list.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';
import { fileTrouble } from '../storage/file-trouble.ts';
import { grouped, type Outcome } from './output.ts';
import { type Display, interruption, startDisplay } from './progress.ts';
import { openService, type Service, ServiceError, type ServiceOptions } from './service.ts';

/** The service takes 1 MB. Quotation marks and letters beyond ASCII make a request larger than its characters. */
const MAX_REQUEST_CHARACTERS = 300_000;

/** A roster file of any size. */
export interface RosterFile extends Omit<Table, 'rows' | 'leftOut' | 'above'> {
  readonly path: string;
  /** How many rows it has below the header. */
  readonly total: number;
  /** Its rows, the header row first. */
  readonly rows: () => ReturnType<typeof csvRows>;
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
 * The action of a command that sends a roster to a service. Nothing is sent when the key, the URL or the file can't be
 * used. Ctrl-C stops it after what is answered is kept.
 */
export function rosterAction<Options extends ServiceOptions>(
  action: (work: RosterWork, options: Options) => Promise<Outcome>,
) {
  return async ([path = '']: readonly string[], options: Options): Promise<Outcome> => {
    const { signal } = interruption();
    const display = startDisplay(process.stderr);
    const onWait = (reason: string) => {
      display.end();
      display.show(`waiting: ${reason}`);
    };
    const waiting = { signal, onWait };
    const service = openService(options, { needsKey: true, waiting });
    const roster = await openRoster(path);
    let answered = 0;
    const onRows = (rows: number) => {
      answered = rows;
      display.show(`${grouped(rows)} of ${grouped(roster.total)} rows`);
    };
    try {
      return await action({ roster, service, display, onRows }, options);
    } catch (error) {
      const mayContinue = signal.aborted || (error instanceof ServiceError && error.isTransient);
      if ((answered === 0 || answered === roster.total) && !mayContinue) throw error;
      const words = fileTrouble(error) ?? (error instanceof Error ? error.message : String(error));
      const reason = signal.aborted ? '' : `${words}\n`;
      const rows = `${grouped(answered)} of ${grouped(roster.total)} rows are answered`;
      const next = mayContinue ? ' The same command finishes it.' : '';
      throw new Error(`${reason}Not finished: ${rows}.${next}`);
    } finally {
      display.end();
    }
  };
}

const NOT_UTF8 = 'The file is not valid UTF-8. In your spreadsheet program, save the list as "CSV UTF-8".';

/**
 * Reads the whole file once, so that what is wrong with it is found before anything is sent.
 *
 * @throws {BadRequestError} for a file that has no column of a lookup, no rows, broken quotation marks, or is not UTF-8
 */
async function openRoster(path: string): Promise<RosterFile> {
  const start = await buffer(createReadStream(path, { end: BEGINNING_BYTES - 1 }));
  // As a workbook. The last line may be cut off.
  if (!isUtf8(start.subarray(0, start.lastIndexOf('\n') + 1))) throw new BadRequestError(NOT_UTF8);
  const { skipped, ...beginning } = beginningOf(start, headerRowOf);
  const columns = rosterColumns(firstRows(start.subarray(skipped), beginning.separator));
  return withQuotes(beginning, async (format) => {
    const rows = () => csvRows(textOf(path, skipped), format);
    let total = -1;
    for await (const _ of rows()) total += 1;
    // With --sync, it would end all watching.
    if (total < 1) throw new BadRequestError('The roster has no rows below the names of its columns.');
    return { path, ...columns, format, total, rows };
  });
}

async function* textOf(path: string, start: number): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const bytes: AsyncIterable<Buffer> = createReadStream(path, { start });
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new BadRequestError(NOT_UTF8) : error;
  }
}

/** The rows below the header, but the first `skip`, in chunks for one request each. */
export async function* chunksOf(
  roster: RosterFile,
  skip = 0,
): AsyncGenerator<readonly NumberedRow[], void, undefined> {
  let chunk: NumberedRow[] = [];
  let characters = 0;
  // The first row is the header.
  let left = skip + 1;
  for await (const row of roster.rows()) {
    left -= 1;
    if (left >= 0) continue;
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

/** Sends rows, and halves what is too much for one request. @returns what `send` made of each row, in their order */
export async function sendRows<Row, Answer>(
  rows: readonly Row[],
  send: (rows: readonly Row[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  if (rows.length === 0) return [];
  try {
    const answers = await send(rows);
    if (answers.length !== rows.length) throw new Error('The service did not answer every row.');
    return answers;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 413 || rows.length < 2) throw error;
    const half = Math.ceil(rows.length / 2);
    return [...(await sendRows(rows.slice(0, half), send)), ...(await sendRows(rows.slice(half), send))];
  }
}

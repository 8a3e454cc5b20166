import { setTimeout as sleep } from 'node:timers/promises';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';
import { REJECTED_ROWS, type RejectedRow } from '../../src/publications/rejected-rows.ts';
import { isTransient } from '../../src/storage/client.ts';
import { SearchUnavailableError } from '../../src/storage/errors.ts';
import type { Store } from '../../src/storage/store.ts';

/** Rows kept whole for each publication; beyond that they are counted only. */
export const MAX_ROWS_KEPT = 20_000;
/** A row of the State has about 311 characters. One that is far longer must not fill memory, request and disk. */
const MAX_RAW_LENGTH = 100_000;
/** OpenSearch refuses a term of more than 32,766 bytes. */
const MAX_REASON_LENGTH = 1000;
const ROWS_A_REQUEST = 500;
const MAX_TRIES = 10;
const FIRST_WAIT_MS = 100;

/** Keeps the rows that a publication could not take: file, line, reason and the row as it stands. */
export interface RejectedRows {
  /** How many there are, kept or not. */
  count(): number;
  add(file: DatasetFile, row: Pick<CsvRow, 'line' | 'raw'>, reason: string): void;
  /** Writes what has not been written yet. */
  flush(): Promise<void>;
}

function clipped(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).toWellFormed();
}

export function rejectedRows(store: Store, publication: string, signal: AbortSignal): RejectedRows {
  let count = 0;
  let pending: (readonly [id: string, row: RejectedRow])[] = [];

  function add(file: DatasetFile, { line, raw }: Pick<CsvRow, 'line' | 'raw'>, reason: string): void {
    count += 1;
    if (count > MAX_ROWS_KEPT) return;
    const at = new Date().toISOString();
    const kept = { reason: clipped(reason, MAX_REASON_LENGTH), raw: clipped(raw, MAX_RAW_LENGTH) };
    pending.push([`${publication}:${count}`, { publication, at, file, line, ...kept }]);
  }

  async function flush(): Promise<void> {
    while (pending.length > 0) {
      const rows = pending.slice(0, ROWS_A_REQUEST);
      await write(rows);
      pending = pending.slice(rows.length);
    }
  }

  /** Rows have fixed ids, so writing them again, after a lost response or in a second attempt, changes nothing. */
  async function write(rows: typeof pending): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await REJECTED_ROWS.putAll(store, rows);
        return;
      } catch (error) {
        const isWorthIt = isTransient(error) || error instanceof SearchUnavailableError;
        if (!isWorthIt || tries === MAX_TRIES) throw error;
        await sleep(FIRST_WAIT_MS * 2 ** tries * (0.5 + Math.random()), undefined, { signal });
      }
    }
  }

  return { count: () => count, add, flush };
}

import { z } from 'zod';
import { writeSpreadsheet } from '../csv.ts';
import type { DatasetFile } from '../dataset/columns.ts';
import type { CsvRow } from '../dataset/csv.ts';
import { DAY_MS } from '../licenses/dates.ts';
import { numberKey } from '../licenses/fold.ts';
import { collection } from '../storage/collection.ts';
import { isTransient, SearchUnavailableError } from '../storage/errors.ts';
import { retried } from '../storage/retry.ts';
import type { Store } from '../storage/store.ts';
import { readLiveEvents } from './ledger.ts';
import { licensesIndices, type PublicationMetadata } from './metadata.ts';

const rejectedRow = z.object({
  publication: z.string(),
  /** ISO 8601. */
  at: z.string(),
  file: z.enum(['individual', 'business']),
  line: z.int(),
  reason: z.string(),
  /** The row as it stood. */
  raw: z.string(),
});

type RejectedRow = z.output<typeof rejectedRow>;

/** The rows that publications rejected and kept. */
export const REJECTED_ROWS = collection('rejectedRows', rejectedRow);

/** Rows kept whole for each publication; beyond that they are counted only. */
const MAX_ROWS_KEPT = 20_000;
/** A row of the State has about 311 characters. One that is far longer must not fill memory, request and disk. */
const MAX_RAW_LENGTH = 100_000;
/** OpenSearch refuses a term of more than 32,766 bytes. */
const MAX_REASON_LENGTH = 1000;
const ROWS_A_REQUEST = 500;
const RETRIES = {
  tries: 10,
  firstWaitMs: 200,
  isWorthIt: (error: unknown) => isTransient(error) || error instanceof SearchUnavailableError,
};

/** Keeps the rows that a publication could not take, and counts those of a check. */
export function rejectedRows(
  store: Store,
  publication: string,
  { signal, isCheck }: { readonly signal: AbortSignal; readonly isCheck: boolean },
) {
  let count = 0;
  let pending: (readonly [id: string, row: RejectedRow])[] = [];

  return {
    /** How many there are, kept or not. */
    count: () => count,
    /** @returns whether the row is kept */
    add: (file: DatasetFile, { line, raw }: Pick<CsvRow, 'line' | 'raw'>, reason: string): boolean => {
      count += 1;
      if (count > MAX_ROWS_KEPT) return false;
      const at = new Date().toISOString();
      const clipped = {
        reason: reason.slice(0, MAX_REASON_LENGTH).toWellFormed(),
        raw: raw.slice(0, MAX_RAW_LENGTH).toWellFormed(),
      };
      pending.push([`${publication}:${count}`, { publication, at, file, line, ...clipped }]);
      return true;
    },
    /** Writes what has not been written yet. The ids are fixed: writing it again, as after a lost response, changes nothing. */
    flush: async (): Promise<void> => {
      while (pending.length > 0) {
        const rows = pending.slice(0, ROWS_A_REQUEST);
        const write = () => REJECTED_ROWS.putAll(store, rows);
        if (!isCheck) await retried(write, { ...RETRIES, signal });
        pending = pending.slice(rows.length);
      }
    },
  };
}

const ROWS_A_PAGE = 1000;

/** The rows that a publication rejected and kept, by file and line, in pages. */
export async function* readRejectedRows(store: Store, publication: string) {
  await store.client.indices.refresh({ index: store.names.rejectedRows });
  const filter = [{ term: { publication } }, { exists: { field: 'file' } }, { exists: { field: 'line' } }];
  yield* REJECTED_ROWS.pages(store, {
    size: ROWS_A_PAGE,
    query: { bool: { filter } },
    sort: [{ file: 'desc' }, { line: 'asc' }, { _seq_no: 'asc' }],
  });
}

/** Writes the rows that a publication rejected to a CSV file. Spreadsheets run none of the cells. */
export async function writeRejects(store: Store, publication: string, path: string) {
  const header = ['FILE', 'LINE', 'REASON', 'ROW'];
  const cells = ({ file, line, reason, raw }: RejectedRow) => [[file, line, reason, raw]];
  const rows = await writeSpreadsheet(path, header, readRejectedRows(store, publication), cells);
  return { file: path, rows };
}

const MAX_NUMBER_LENGTH = 40;

/** Two rows of the State have no more. In a longer row, numbers behind it are not looked for. */
const MAX_CELLS = 400;

/** The keys of what may be a license number in a row that may not be well formed. @param isNumber by default with a digit */
export function numbersInRow(raw: string, isNumber = (cell: string) => /\d/.test(cell)): string[] {
  return raw
    .split(/[",\r\n]+/, MAX_CELLS)
    .filter((cell) => cell.length <= MAX_NUMBER_LENGTH && isNumber(cell))
    .map(numberKey);
}

/** The keys of the numbers in the rows that a publication rejected and kept. @param isNumber as `numbersInRow` has it */
export async function rejectedNumbers(
  store: Store,
  { publication, counts }: PublicationMetadata,
  isNumber?: (cell: string) => boolean,
): Promise<ReadonlySet<string>> {
  const numbers = new Set<string>();
  if ((counts?.rejected ?? 0) === 0) return numbers;
  for await (const page of readRejectedRows(store, publication)) {
    for (const { raw } of page) for (const number of numbersInRow(raw, isNumber)) numbers.add(number);
  }
  return numbers;
}

/** How long the rows of a publication that did not go live are kept, and of how many of the latest publications. */
const KEPT_DAYS = 30;
const KEPT_PUBLICATIONS = 10;

/** More than KEEP_PUBLICATIONS may be: those with an index are among the latest. */
const MAX_PUBLICATIONS = 200;

/**
 * Deletes the rejected rows of publications whose index is gone: they may name places that the State withholds by now.
 * An operator looks at the rows of one that was refused or failed for some days: of the latest ten they are kept for 30.
 */
export async function deleteRejectedRows(store: Store): Promise<void> {
  await store.client.indices.refresh({ index: store.names.rejectedRows });
  // Before the indices: a publication has its index before it rejects a row.
  const { documents } = await REJECTED_ROWS.search(store, {
    query: { exists: { field: 'line' } },
    collapse: { field: 'publication' },
    sort: [{ publication: 'desc' }],
    size: MAX_PUBLICATIONS,
  });
  const withIndex = new Set((await licensesIndices(store)).map(({ metadata }) => metadata.publication));
  const onceLive = new Set((await readLiveEvents(store)).map(({ publication }) => publication));
  const since = new Date(Date.now() - KEPT_DAYS * DAY_MS).toISOString();
  const isKept = ({ publication, at }: RejectedRow, place: number) =>
    withIndex.has(publication) || (place < KEPT_PUBLICATIONS && at >= since && !onceLive.has(publication));
  const gone = documents.filter((row, place) => !isKept(row, place)).map(({ publication }) => publication);
  if (gone.length > 0) await REJECTED_ROWS.removeWhere(store, { terms: { publication: gone } });
}

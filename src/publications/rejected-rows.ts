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
  /** The row's original text. */
  raw: z.string(),
});

type RejectedRow = z.output<typeof rejectedRow>;

/** The stored rejected rows of publications. */
export const REJECTED_ROWS = collection('rejectedRows', rejectedRow);

/** The number of rows stored for each publication. Further rows are only counted. */
const MAX_ROWS_KEPT = 20_000;
/** A row of the State's files has about 311 characters. A much longer one must not fill memory, request and disk. */
const MAX_RAW_LENGTH = 100_000;
/** OpenSearch refuses a term of more than 32,766 bytes. */
const MAX_REASON_LENGTH = 1000;
const ROWS_A_REQUEST = 500;
const RETRIES = {
  tries: 10,
  firstWaitMs: 200,
  isWorthIt: (error: unknown) => isTransient(error) || error instanceof SearchUnavailableError,
};

/** Stores the rejected rows of a publication. For a check, they are only counted. */
export function rejectedRows(
  store: Store,
  publication: string,
  { signal, isCheck }: { readonly signal: AbortSignal; readonly isCheck: boolean },
) {
  let count = 0;
  let pending: (readonly [id: string, row: RejectedRow])[] = [];

  return {
    /** The number of rejected rows, stored or not. */
    count: () => count,
    /** @returns whether the row is stored */
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
    /** Writes the pending rows. The ids are fixed, so writing a row again after a lost response changes nothing. */
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

/** Yields the stored rejected rows of a publication by file and line, in pages. */
export async function* readRejectedRows(store: Store, publication: string) {
  await store.client.indices.refresh({ index: store.names.rejectedRows });
  const filter = [{ term: { publication } }, { exists: { field: 'file' } }, { exists: { field: 'line' } }];
  yield* REJECTED_ROWS.pages(store, {
    size: ROWS_A_PAGE,
    query: { bool: { filter } },
    sort: [{ file: 'desc' }, { line: 'asc' }, { _seq_no: 'asc' }],
  });
}

/**
 * Writes the rejected rows of a publication to a CSV file. Cells are written so that spreadsheets do not run them as
 * formulas.
 */
export async function writeRejects(store: Store, publication: string, path: string) {
  const header = ['FILE', 'LINE', 'REASON', 'ROW'];
  const cells = ({ file, line, reason, raw }: RejectedRow) => [[file, line, reason, raw]];
  const rows = await writeSpreadsheet(path, header, readRejectedRows(store, publication), cells);
  return { file: path, rows };
}

const MAX_NUMBER_LENGTH = 40;

/** Two rows of the State's files have no more cells than this. In a longer row, numbers in later cells are ignored. */
const MAX_CELLS = 400;

/**
 * Returns the number keys of all cells that may be a license number, in a row that may be malformed.
 *
 * @param isNumber decides which cells may be a number; by default those with a digit
 */
export function numbersInRow(raw: string, isNumber = (cell: string) => /\d/.test(cell)): string[] {
  return raw
    .split(/[",\r\n]+/, MAX_CELLS)
    .filter((cell) => cell.length <= MAX_NUMBER_LENGTH && isNumber(cell))
    .map(numberKey);
}

/** Returns the number keys in the stored rejected rows of a publication. @param isNumber as in `numbersInRow` */
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

/** How long, and for how many of the latest publications, the rows of a publication that did not go live are kept. */
const KEPT_DAYS = 30;
const KEPT_PUBLICATIONS = 10;

/** Larger than the maximum of KEEP_PUBLICATIONS, so every publication with an index is among the latest ones read. */
const MAX_PUBLICATIONS = 200;

/**
 * Deletes the rejected rows of publications whose index is gone, because the rows may contain places that the State now
 * withholds. Operators may need the rows of a refused or failed publication for some days, so for the latest ten
 * publications these are kept for 30 days.
 */
export async function deleteRejectedRows(store: Store): Promise<void> {
  await store.client.indices.refresh({ index: store.names.rejectedRows });
  // The rows must be read before the indices, because a publication creates its index before it rejects a row.
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

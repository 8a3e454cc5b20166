import { open } from 'node:fs/promises';
import { z } from 'zod';
import { type CsvFormat, spreadsheetCsv } from '../csv.ts';
import { collection, type Sort } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import type { PublicationSummary } from './history.ts';
import type { LicensesIndex } from './metadata.ts';

const PAGE = 1000;

const FORMAT: CsvFormat = { delimiter: ',', newline: '\n' };

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

export type RejectedRow = z.output<typeof rejectedRow>;

/** The rows that publications rejected and kept. */
export const REJECTED_ROWS = collection('rejectedRows', rejectedRow);

/** The rows that a publication rejected and kept, by file and line, in pages. */
export async function* readRejectedRows(
  store: Store,
  publication: string,
): AsyncGenerator<readonly RejectedRow[], void, undefined> {
  await store.client.indices.refresh({ index: store.names.rejectedRows });
  let after: Sort | undefined;
  for (;;) {
    const { documents, last } = await REJECTED_ROWS.search(store, {
      size: PAGE,
      query: {
        bool: {
          filter: [{ term: { publication } }, { exists: { field: 'file' } }, { exists: { field: 'line' } }],
        },
      },
      sort: [{ file: 'desc' }, { line: 'asc' }, { _seq_no: 'asc' }],
      ...(after === undefined ? {} : { search_after: after }),
    });
    if (last === undefined) return;
    yield documents;
    after = last;
  }
}

/**
 * Writes the rows that a publication rejected to a CSV file: file, line, reason and the row as it stood.
 * Spreadsheets run none of the cells.
 */
export async function writeRejects(
  store: Store,
  publication: string,
  path: string,
): Promise<{ file: string; rows: number }> {
  const file = await open(path, 'w', 0o600);
  let rows = 0;
  try {
    await file.write(spreadsheetCsv([['FILE', 'LINE', 'REASON', 'ROW']], FORMAT));
    for await (const page of readRejectedRows(store, publication)) {
      const cells = page.map(({ file: name, line, reason, raw }) => [name, line, reason, raw]);
      await file.write(spreadsheetCsv(cells, FORMAT));
      rows += page.length;
    }
  } finally {
    await file.close();
  }
  return { file: path, rows };
}

/** How long the rows of a publication that did not go live are kept, and of how many such publications. */
const KEPT_DAYS = 30;
const KEPT_PUBLICATIONS = 10;
const MS_A_DAY = 86_400_000;

/**
 * Deletes the rejected rows of publications whose index is gone. An operator looks at the rows of one that was refused
 * or failed for some days: those of the latest ten are kept for 30 days.
 *
 * @param publications all, the earliest first
 * @param indices those that are kept
 */
export async function deleteRejectedRows(
  { client, names }: Store,
  publications: readonly PublicationSummary[],
  indices: readonly LicensesIndex[],
): Promise<void> {
  const withIndex = new Set(indices.map(({ metadata }) => metadata.publication));
  const [gone, notLive] = [new Set<string>(), [] as string[]];
  const earliest = new Date(Date.now() - KEPT_DAYS * MS_A_DAY).toISOString();
  for (const { publication, state, at } of publications) {
    if (withIndex.has(publication)) continue;
    if (ONCE_LIVE.has(state) || at < earliest) gone.add(publication);
    else notLive.push(publication);
  }
  for (const publication of notLive.slice(0, -KEPT_PUBLICATIONS)) gone.add(publication);
  if (gone.size === 0) return;
  await client.deleteByQuery({
    index: names.rejectedRows,
    conflicts: 'proceed',
    refresh: true,
    body: { query: { terms: { publication: [...gone] } } },
  });
}

const ONCE_LIVE: ReadonlySet<string> = new Set(['live', 'superseded', 'rolled_back']);

import { open } from 'node:fs/promises';
import { z } from 'zod';
import { type CsvFormat, spreadsheetCsv } from '../csv.ts';
import { search } from '../storage/checked-search.ts';
import type { Store } from '../storage/store.ts';

const PAGE = 1000;

const FORMAT: CsvFormat = { delimiter: ',', newline: '\n' };

const rowsResponse = z.object({
  hits: z.object({
    hits: z.array(
      z.object({
        _source: z.object({ file: z.string(), line: z.int(), reason: z.string(), raw: z.string() }),
        sort: z.array(z.union([z.string(), z.number()])),
      }),
    ),
  }),
});

type RejectedRow = z.output<typeof rowsResponse>['hits']['hits'][number]['_source'];

/** The rows that a publication rejected and kept, by file and line, in pages. */
export async function* readRejectedRows(
  store: Store,
  publication: string,
): AsyncGenerator<RejectedRow[], void, undefined> {
  const index = store.names.rejectedRows;
  await store.client.indices.refresh({ index });
  let after: (string | number)[] | undefined;
  for (;;) {
    const response = await search(store.client, rowsResponse, {
      index,
      body: {
        size: PAGE,
        query: { term: { publication } },
        sort: [{ file: 'desc' }, { line: 'asc' }, { _seq_no: 'asc' }],
        ...(after === undefined ? {} : { search_after: after }),
      },
    });
    const { hits } = response.hits;
    if (hits.length === 0) return;
    yield hits.map((hit) => hit._source);
    after = hits.at(-1)?.sort;
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

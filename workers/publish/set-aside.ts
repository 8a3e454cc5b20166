import type { Client } from '@opensearch-project/opensearch';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';
import { setAsideIndex } from '../../src/publications/index-name.ts';

/** Rows kept whole for each publication; beyond that they are counted only. */
const MOST_ROWS_KEPT = 20_000;
const ROWS_A_REQUEST = 500;

/** Keeps the rows that a publication could not take: file, line, reason and the row as it stands. */
export interface SetAsideRows {
  /** How many there are, kept or not. */
  count(): number;
  add(file: DatasetFile, row: Pick<CsvRow, 'line' | 'raw'>, reason: string): void;
  /** Writes what has not been written yet. */
  flush(): Promise<void>;
}

export function setAsideRows(client: Client, prefix: string, publication: string): SetAsideRows {
  let count = 0;
  let pending: object[] = [];

  function add(file: DatasetFile, row: Pick<CsvRow, 'line' | 'raw'>, reason: string): void {
    count += 1;
    if (count > MOST_ROWS_KEPT) return;
    pending.push({ publication, file, line: row.line, reason, raw: row.raw });
  }

  async function flush(): Promise<void> {
    while (pending.length > 0) {
      const rows = pending.slice(0, ROWS_A_REQUEST);
      await client.bulk({
        index: setAsideIndex(prefix),
        body: rows.flatMap((row) => [{ index: {} }, row]),
      });
      pending = pending.slice(rows.length);
    }
  }

  return { count: () => count, add, flush };
}

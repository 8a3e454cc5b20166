import { open } from 'node:fs/promises';
import { spreadsheetCsv } from '../csv.ts';
import type { Store } from '../storage/store.ts';
import type { StoredChange } from './change.ts';
import { type FeedState, feedsOf } from './feed.ts';
import { readSegments } from './segments.ts';
import { changesIn } from './stored-changes.ts';

const COLUMNS = ['at', 'kind', 'cause', 'board', 'license_number', 'full_name', 'field', 'before', 'after'];

const FORMAT = { delimiter: ',', newline: '\n' } as const;

const OWNER_ALONE = 0o600;

/**
 * Writes the changes of a publication to a CSV file, a line for each field. Spreadsheets run none of the cells.
 *
 * @param state the feed of the live publication
 * @returns how many licenses changed
 */
export async function writeChangesFile(
  store: Store,
  state: FeedState,
  publication: string,
  path: string,
): Promise<{ file: string; changes: number }> {
  const file = await open(path, 'w', OWNER_ALONE);
  let changes = 0;
  try {
    await file.write(spreadsheetCsv([COLUMNS], FORMAT));
    for (const feed of feedsOf(state)) {
      const segments = await readSegments(store, feed);
      const epochs = segments.filter((each) => each.publication === publication).map(({ epoch }) => epoch);
      for await (const page of changesIn(store, feed.feed, epochs)) {
        await file.write(spreadsheetCsv(page.flatMap(fieldRows), FORMAT));
        changes += page.length;
      }
    }
  } finally {
    await file.close();
  }
  return { file: path, changes };
}

function fieldRows({ at, kind, cause, board, license_number, full_name, fields }: StoredChange): string[][] {
  const license = [at, kind, cause, board, license_number, full_name];
  return Object.entries(fields).map(([name, { before, after }]) => [
    ...license,
    name,
    before ?? '',
    after ?? '',
  ]);
}

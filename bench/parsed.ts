import { type BulkOperation, parseFile } from '../workers/publish/parse.ts';
import { openSource } from '../workers/publish/sources.ts';
import type { DayFiles } from './published.ts';

/** What the service's own parser makes of a day's files, batch by batch. */
export async function* parsed(
  files: DayFiles,
  date: string,
): AsyncGenerator<readonly BulkOperation[], void, undefined> {
  for (const name of ['individual', 'business'] as const) {
    const source = await openSource(name, { path: files[name] });
    for await (const { operations } of parseFile(source, date, undefined)) yield operations;
  }
}

import { type BulkOperation, parseFile } from '../workers/publish/parse.ts';
import { openSource } from '../workers/publish/read.ts';
import type { DayFiles } from './published.ts';

const ignore = () => undefined;
const LISTENER = {
  onBytes: ignore,
  onRows: ignore,
  onDocuments: ignore,
  onRejected: ignore,
  onUnknownLabels: ignore,
  onWindows1252: ignore,
  onCutOff: ignore,
};

/** What the service's own parser makes of a day's files, batch by batch. */
export async function* parsed(
  files: DayFiles,
  date: string,
): AsyncGenerator<readonly BulkOperation[], void, undefined> {
  for (const name of ['individual', 'business'] as const) {
    yield* parseFile(await openSource(name, { path: files[name] }), date, LISTENER);
  }
}

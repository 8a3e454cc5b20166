import type { TestEnvironment } from '../../scripts/environment.ts';
import { newId } from '../../src/publications/metadata.ts';
import { licensesIndexName } from '../../src/storage/index-names.ts';
import { LOADING_SETTINGS } from '../../workers/publish/build.ts';
import type { DayFiles } from '../published.ts';

/** The run date of the files. */
export const DATE = '2026-11-20';

/** One ready-made bulk body in the file of all. */
export interface BodyPart {
  readonly start: number;
  readonly end: number;
  readonly documents: number;
}

/** What is measured, and with what. */
export interface Bench {
  readonly environment: TestEnvironment;
  readonly files: DayFiles;
  readonly rows: number;
  /** Ready-made bulk bodies, one after the other. */
  readonly bodies: { readonly path: string; readonly parts: readonly BodyPart[] };
}

/** Creates an index as a publication does, or one with the default mapping, whose name no template has. */
export async function createIndex(
  { environment: { client, config } }: Bench,
  kind: 'licenses' | 'default mapping',
): Promise<string> {
  const run = newId();
  if (kind === 'default mapping') {
    const index = `${config.INDEX_PREFIX}default-${run}`;
    await client.indices.create({
      index,
      body: { settings: { 'index.number_of_shards': 1, 'index.number_of_replicas': 0 } },
    });
    return index;
  }
  const index = licensesIndexName(config.INDEX_PREFIX, { date: DATE, run });
  await client.indices.create({ index, body: { settings: LOADING_SETTINGS } });
  return index;
}

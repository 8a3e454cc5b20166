import { SERVICE_VERSION } from '../../src/config.ts';
import { type PublicationMetadata, publicationMetadata } from '../../src/publications/metadata.ts';
import { newRunId } from '../../src/publications/run-id.ts';
import { isDiskFull } from '../../src/storage/client.ts';
import { licensesIndexName } from '../../src/storage/index-names.ts';
import { type Digests, emptyDigests } from './digests.ts';
import { LOADING_SETTINGS } from './durable.ts';
import { guardLicenses } from './guards.ts';
import { loadFiles } from './load-files.ts';
import { baselineOf, type Prepared } from './prepare.ts';
import type { SourceFile } from './read.ts';
import type { PublishRun } from './run.ts';
import type { Tally } from './tally.ts';

const DISK_IS_FULL =
  'OpenSearch refuses to create an index, as it does when less than 10 % of its disk is free.';

/** An index with every license of the files, not yet verified. */
export interface Built {
  readonly index: string;
  readonly metadata: PublicationMetadata;
  readonly tally: Tally;
  readonly digests: Digests;
}

/**
 * Creates the index, loads both files into it, and runs the guards on the loaded licenses.
 *
 * @throws {RefusedError} when it must not go live
 */
export async function build(run: PublishRun, { sources, date, isSampleData }: Prepared): Promise<Built> {
  const { store, config, job } = run;
  const metadata: PublicationMetadata = {
    publication: job.publication,
    epoch: run.epoch,
    date,
    sample: isSampleData,
    started_at: run.startedAt.toISOString(),
    service_version: SERVICE_VERSION,
  };
  const index = licensesIndexName(store.prefix, { date, run: newRunId() });
  run.building = index;
  await createIndex(run, index, metadata);
  await run.record({ event: 'loading', index, date, sample: isSampleData });
  run.enter('loading');
  const digests = await emptyDigests(run, sources);
  const tally = await loadFiles({ index, date, sources, digests }, run);
  run.tally = tally;
  run.enforce(guardLicenses(tally, baselineOf(run), config));
  return {
    index,
    metadata: {
      ...metadata,
      counts: tally.counts,
      boards: Object.fromEntries(tally.boards),
      sources: {
        individual: describeSource(sources.individual, tally.rowsOf.individual),
        business: describeSource(sources.business, tally.rowsOf.business),
      },
    },
    tally,
    digests,
  };
}

async function createIndex({ store, config }: PublishRun, index: string, metadata: PublicationMetadata) {
  const settings = { ...LOADING_SETTINGS, 'index.number_of_shards': config.INDEX_SHARDS };
  try {
    await store.client.indices.create({
      index,
      body: { settings, mappings: { _meta: publicationMetadata.parse(metadata) } },
    });
  } catch (error) {
    throw isDiskFull(error) ? new Error(DISK_IS_FULL, { cause: error }) : error;
  }
}

function describeSource({ name, sha256, bytes }: SourceFile, rows: number) {
  return { name, sha256, bytes, rows };
}

import { SERVICE_VERSION } from '../../src/config.ts';
import { type PublicationMetadata, publicationMetadata } from '../../src/publications/metadata.ts';
import { newRunId } from '../../src/publications/run-id.ts';
import { isDiskFull } from '../../src/storage/client.ts';
import { licensesIndexName } from '../../src/storage/index-names.ts';
import { type Digests, emptyDigests } from './digests.ts';
import { LOADING_SETTINGS } from './durable.ts';
import { type Baseline, guardLicenses } from './guards.ts';
import { loadFiles } from './load-files.ts';
import { baselineOf, type Prepared, type Sources } from './prepare.ts';
import type { SourceFile } from './read.ts';
import type { PublishRun } from './run.ts';
import { disciplineCounts, type Tally } from './tally.ts';

const DISK_IS_FULL =
  'OpenSearch refuses to create an index, as it does when less than 10 % of its disk is free.';

/** An index with every license of the files, not yet verified. */
export interface Built {
  readonly index: string;
  readonly metadata: PublicationMetadata;
  readonly tally: Tally;
  /** What is unusual about the files, a sentence each. */
  readonly notes: readonly string[];
  readonly digests: Digests;
}

/**
 * Creates the index, loads both files into it, and runs the guards on the loaded licenses.
 *
 * @param epoch the run's: the index may go live only while it is the latest
 * @throws {RefusedError} when it must not go live
 */
export async function build(
  run: PublishRun,
  { sources, date, isSampleData }: Prepared,
  epoch: number,
): Promise<Built> {
  const { store, config, job } = run;
  const metadata: PublicationMetadata = {
    publication: job.publication,
    epoch,
    date,
    sample: isSampleData,
    started_at: run.startedAt.toISOString(),
    service_version: SERVICE_VERSION,
  };
  const index = licensesIndexName(store.prefix, { date, run: newRunId() });
  run.building = index;
  await createIndex(run, index, metadata);
  await run.record({ event: 'loading', epoch, index, date, sample: isSampleData });
  run.enter('loading');
  const digests = emptyDigests(run, sources);
  const tally = await loadFiles({ index, date, sources, digests }, run);
  run.tally = tally;
  run.enforce(guardLicenses(tally, baselineOf(run), config));
  return {
    index,
    metadata: {
      ...metadata,
      counts: tally.counts,
      boards: Object.fromEntries(tally.boards),
      discipline: disciplineCounts(tally),
      sources: {
        individual: describeSource(sources.individual, tally),
        business: describeSource(sources.business, tally),
      },
    },
    tally,
    notes: notesOf(sources, tally, baselineOf(run)),
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

function describeSource({ file, name, sha256, bytes, header }: SourceFile, tally: Tally) {
  return {
    name,
    sha256,
    bytes,
    rows: tally.rowsOf[file],
    encoding: encodingOf(tally.windows1252Lines[file]),
    columns: header.named.map((column) => column.name),
  };
}

function encodingOf(windows1252Lines: number): string {
  if (windows1252Lines === 0) return 'UTF-8';
  return `UTF-8 with ${windows1252Lines} ${windows1252Lines === 1 ? 'line' : 'lines'} in Windows-1252`;
}

function notesOf(sources: Sources, { discipline, windows1252Lines }: Tally, baseline: Baseline): string[] {
  const encodings = [sources.individual, sources.business]
    .filter(({ file }) => windows1252Lines[file] > 0)
    .map(({ file, name }) => `${name}: ${encodingOf(windows1252Lines[file])}.`);
  const missing = discipline.missingColumns.map((column) => `The column ${column} is missing.`);
  const isUnknown = baseline !== undefined && baseline.discipline === undefined;
  return [...encodings, ...missing, ...(isUnknown ? [DISCIPLINE_NOT_COMPARED] : [])];
}

const DISCIPLINE_NOT_COMPARED =
  'The live publication does not say how many licenses tell of discipline, so the guards did not compare them.';

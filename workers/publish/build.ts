import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { SERVICE_VERSION } from '../../src/config.ts';
import { type PublicationMetadata, publicationMetadata } from '../../src/publications/metadata.ts';
import { numbersInRow, rejectedRows } from '../../src/publications/rejected-rows.ts';
import { isDenied, isDiskFull } from '../../src/storage/errors.ts';
import { indexTemplate } from '../../src/storage/templates.ts';
import { type BulkOperation, batched } from './batch.ts';
import { guardLicenses, tooManyDuplicates } from './guards.ts';
import { megabytes, sum } from './judgement.ts';
import { load } from './load.ts';
import { parseFile } from './parse.ts';
import type { Prepared } from './prepare.ts';
import { type PublishRun, RefusedError } from './run.ts';
import { FILES, type SourceFile, type Sources } from './sources.ts';
import { Tally } from './tally.ts';

/** An index with every license of the files that has not been verified yet. */
export type Built = Awaited<ReturnType<typeof build>>;

/**
 * Creates the index, loads both files into it, and runs the guards on the loaded licenses.
 *
 * @param index the index to create
 * @param epoch the run's epoch; the index may go live only while this is the latest epoch
 * @throws {RefusedError} when a guard refuses the loaded licenses
 */
export async function build(run: PublishRun, prepared: Prepared, index: string, epoch: number) {
  const { config, job, baseline } = run;
  const { sources, date, isSampleData: sample, goneColumns } = prepared;
  const begun = {
    ...{ publication: job.publication, epoch, date, sample, service_version: SERVICE_VERSION },
    started_at: run.startedAt.toISOString(),
  };
  await requireDisk(run, sources);
  await createIndex(run, index, begun);
  await run.record({ event: 'loading', epoch, index, date, sample });
  run.enter('loading');
  const tally = await loadFiles(run, prepared, index);
  const summary = tally.summary();
  Object.assign(run.loaded, summary);
  run.enforce(guardLicenses({ ...tally, ...summary }, baseline, config, goneColumns));
  run.notes.push(...tally.missingColumns.map((column) => `The column ${column} is missing.`));
  const { counts, boards, discipline } = summary;
  const files = {
    individual: describeSource(sources.individual, tally),
    business: describeSource(sources.business, tally),
  };
  const metadata: PublicationMetadata = { ...begun, counts, boards, discipline, sources: files };
  return { ...prepared, index, metadata, tally };
}

/** Settings that make loading cheap. `makeDurable` reverts all of them. */
export const LOADING_SETTINGS = {
  'index.refresh_interval': '-1',
  'index.auto_expand_replicas': 'false',
  'index.number_of_replicas': 0,
  'index.translog.durability': 'async',
  'index.translog.flush_threshold_size': '1gb',
} as const;

const DISK_IS_FULL =
  'OpenSearch refuses to create an index, as it does when less than 10 % of its disk is free.';

/** The share of its disk that OpenSearch keeps free. */
const KEPT_FREE = 0.1;
/** While segments are merged, an index takes up twice its size. */
const WHILE_MERGED = 2;

/** The bytes left on each disk. Unassigned shards have a line without a disk. */
const disksLeft = z.array(
  z
    .object({ 'disk.avail': z.coerce.number(), 'disk.total': z.coerce.number() })
    .transform((disk) => Math.max(0, disk['disk.avail'] - KEPT_FREE * disk['disk.total'])),
);
const indexLines = z.array(z.object({ 'pri.store.size': z.coerce.number() }));
const IN_BYTES = { format: 'json', bytes: 'b' } as const;

/**
 * Compares the free disk space with the size of the live publication or, if nothing is live, of the files. If this user
 * may not see the disk space, nothing is compared.
 *
 * @throws {Error} when there is too little disk space
 */
async function requireDisk({ store, live }: PublishRun, { individual, business }: Sources): Promise<void> {
  const { cat } = store.client;
  const disks = await cat
    .allocation({ ...IN_BYTES, h: ['disk.avail', 'disk.total'] })
    .catch((error: unknown): undefined => {
      if (!isDenied(error)) throw error;
    });
  if (disks === undefined) return;
  const free = sum(disksLeft.parse(disks.body));
  const indices = live && (await cat.indices({ ...IN_BYTES, index: live.index, h: ['pri.store.size'] })).body;
  const [built] = indexLines.parse(indices ?? []);
  const size = built?.['pri.store.size'] ?? individual.bytes + business.bytes;
  if (free >= WHILE_MERGED * size) return;
  throw new Error(
    `OpenSearch has ${megabytes(free)} of disk left for a publication, which takes about ${megabytes(WHILE_MERGED * size)}. Free space there, or delete old publications: licenses prune.`,
  );
}

async function createIndex({ store, config }: PublishRun, index: string, metadata: PublicationMetadata) {
  const settings = { ...LOADING_SETTINGS, 'index.number_of_shards': config.INDEX_SHARDS };
  const body = { settings, mappings: { _meta: publicationMetadata.parse(metadata) } };
  await store.client.indices.create({ index, body }).catch((error: unknown) => {
    throw isDiskFull(error) ? new Error(DISK_IS_FULL, { cause: error }) : error;
  });
}

/** With fewer duplicates, the files are read to their end, so that the other guards report as well. */
const MANY_DUPLICATES = 10_000;

const GREEN_WITHIN = '600s';

/**
 * Makes a verified index, which is on disk, ready for lookups: replicas are added and writes are blocked.
 *
 * @throws {Error} when not all shards are available within ten minutes
 */
export async function makeDurable(client: Client, index: string): Promise<void> {
  const { template } = await indexTemplate('licenses');
  await client.indices.putSettings({
    index,
    body: {
      'index.refresh_interval': null,
      'index.auto_expand_replicas': template.settings['index.auto_expand_replicas'] ?? 'false',
      'index.translog.durability': 'request',
      'index.translog.flush_threshold_size': null,
      'index.blocks.write': true,
    },
  });
  await client.cluster.health(
    { index, wait_for_status: 'green', timeout: GREEN_WITHIN },
    { requestTimeout: 610_000 },
  );
}

/**
 * The maximum number of rejected numbers in memory. A license whose number is in a later rejected row counts as removed
 * by the State's data.
 */
const MAX_REJECTED_NUMBERS = 1_000_000;

/** Loads every license of both files, one file after the other. @returns the tally of the loaded licenses */
async function loadFiles(run: PublishRun, { sources, date }: Prepared, index: string): Promise<Tally> {
  const { store, config, job, signal, advance, giveUpAfterMs } = run;
  const files = FILES.map((file) => sources[file]);
  const tally = new Tally();
  tally.missingColumns = files.flatMap(({ file, header }) =>
    header.missing.map((column) => `${file}.${column}`),
  );
  const rejected = rejectedRows(store, job.publication, run);
  const total = sum(files.map(({ bytes }) => bytes));
  let read = 0;

  async function* operations(): AsyncGenerator<readonly BulkOperation[], void, undefined> {
    for (const source of files) {
      const { file, runDate = date } = source;
      const licenses = parseFile(source, runDate, {
        tally,
        onBytes: (bytes) => {
          read += bytes;
        },
        onRejected: (row, reason) => {
          const isKept = rejected.add(file, row, reason);
          if (isKept && tally.rejectedNumbers.size < MAX_REJECTED_NUMBERS)
            for (const number of numbersInRow(row.raw)) tally.rejectedNumbers.add(number);
        },
      });
      for await (const batch of licenses) {
        yield batch;
        await rejected.flush();
      }
    }
  }

  await load(store.client, index, batched(operations()), {
    ...{ signal, giveUpAfterMs },
    onLoaded: () => advance(read, total),
    onRefused: (document) => {
      const { file, row, id, reason } = document;
      tally.noteRefused(document);
      rejected.add(file, row, `${id}: ${reason}`);
      const duplicates = tooManyDuplicates(tally.duplicates, config);
      if (tally.duplicates <= MANY_DUPLICATES || !run.refuses(duplicates)) return;
      Object.assign(run.loaded, tally.summary());
      throw new RefusedError([duplicates]);
    },
  });
  await rejected.flush();
  tally.counts.rejected = rejected.count();
  return tally;
}

function describeSource({ file, name, sha256, bytes, header }: SourceFile, { rowsOf }: Tally) {
  return { name, sha256, bytes, rows: rowsOf[file], columns: header.named.map((column) => column.name) };
}

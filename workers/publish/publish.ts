import type { Client } from '@opensearch-project/opensearch';
import type { Config } from '../../src/config.ts';
import { HeaderError } from '../../src/dataset/header.ts';
import { isGeneratedSample } from '../../src/dataset/source-file.ts';
import { FlipRefusedError, flip, indicesUnderAlias } from '../../src/publications/alias.ts';
import { licensesIndexName } from '../../src/publications/index-name.ts';
import { prepareIndices } from '../../src/publications/indices.ts';
import type { PublishJob, PublishProgress, PublishResult } from '../../src/publications/job.ts';
import { appendEvent, type LedgerEvent, takeEpoch } from '../../src/publications/ledger.ts';
import { type PublicationMetadata, readMetadata, writeMetadata } from '../../src/publications/metadata.ts';
import { deleteIndex, prune } from '../../src/publications/prune.ts';
import { newRunId } from '../../src/publications/run-id.ts';
import { isTransient } from '../../src/search/client.ts';
import { SERVICE_VERSION } from '../../src/version.ts';
import { LOADING_SETTINGS, makeDurable } from './durable.ts';
import { loadDocuments } from './load.ts';
import { type ParseListener, parseFile } from './parse.ts';
import { openSource, type SourceFile } from './read.ts';
import { RefusedError } from './refused.ts';
import { setAsideRows } from './set-aside.ts';
import { noteRefused, noteSent, type SentDocuments, verifyIndex } from './verify.ts';

interface PublishContext {
  readonly client: Client;
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PublishProgress) => void;
}

interface Sources {
  readonly individual: SourceFile;
  readonly business: SourceFile;
}

/**
 * One publication from the two files to the flipped alias: read, parse, load, verify, make durable, flip,
 * prune. It is all or nothing: whatever goes wrong before the flip leaves the live publication as it was, and
 * the index built so far is deleted (by the next run where this one was killed).
 *
 * @returns that it is live, or that the files are refused and why
 * @throws for what another try may mend (OpenSearch away), and `VerificationError`
 */
export async function publish(job: PublishJob, context: PublishContext): Promise<PublishResult> {
  const { client, config } = context;
  const prefix = config.INDEX_PREFIX;
  const startedAt = new Date();
  await prepareIndices(client, prefix);
  const epoch = await takeEpoch(client, prefix, job.publication);
  const record = (event: Omit<LedgerEvent, 'at' | 'publication' | 'epoch'>) =>
    appendEvent(client, prefix, { publication: job.publication, epoch, ...event });

  let index: string | undefined;
  try {
    await record({ event: 'reading', service_version: SERVICE_VERSION });
    await prune(client, prefix, config.KEEP_PUBLICATIONS);
    const sources = await openSources(job);
    const metadata: PublicationMetadata = {
      publication: job.publication,
      epoch,
      date: publicationDate(sources, job.date),
      sample: (await isGeneratedSample(sources.individual)) || (await isGeneratedSample(sources.business)),
      started_at: startedAt.toISOString(),
      service_version: SERVICE_VERSION,
    };

    index = licensesIndexName(prefix, { date: metadata.date, run: newRunId() });
    await client.indices.create({
      index,
      body: { settings: LOADING_SETTINGS, mappings: { _meta: metadata } },
    });
    await record({ event: 'loading', index, date: metadata.date, sample: metadata.sample });
    const loaded = await load(index, sources, metadata, context);

    await record({ event: 'verifying', index, counts: loaded.counts, unknown_labels: loaded.unknownLabels });
    context.onProgress({ ...loaded.progress, step: 'verifying' });
    await verifyIndex(client, index, loaded.sent);

    context.onProgress({ ...loaded.progress, step: 'making durable' });
    await writeMetadata(client, index, {
      ...metadata,
      verified_at: new Date().toISOString(),
      counts: loaded.counts,
      sources: { individual: loaded.sources.individual, business: loaded.sources.business },
    });
    await makeDurable(client, index);

    context.onProgress({ ...loaded.progress, step: 'going live' });
    const live = index;
    const before = await flip(client, prefix, live, epoch);
    index = undefined;
    await record({
      event: 'live',
      index: live,
      date: metadata.date,
      sample: metadata.sample,
      counts: loaded.counts,
      sources: { individual: sources.individual.name, business: sources.business.name },
      sha256: { individual: sources.individual.sha256, business: sources.business.sha256 },
    });
    if (before !== undefined) {
      const { publication } = await readMetadata(client, before);
      await appendEvent(client, prefix, { publication, event: 'superseded', index: before });
    }

    const pruned = await prune(client, prefix, config.KEEP_PUBLICATIONS);
    const seconds = (Date.now() - startedAt.getTime()) / 1000;
    return {
      state: 'live',
      publication: job.publication,
      index: live,
      date: metadata.date,
      ...loaded.counts,
      seconds: Math.round(seconds * 10) / 10,
      rows_per_second: Math.round(loaded.counts.rows / seconds),
      unknown_labels: loaded.unknownLabels,
      pruned,
    };
  } catch (error) {
    if (index !== undefined) await discard(client, prefix, index);
    const reasons = refusal(error);
    if (reasons === undefined) throw error;
    await record({ event: 'refused', reasons });
    return { state: 'refused', publication: job.publication, reasons: [...reasons] };
  }
}

/**
 * Deletes a build that came to nothing. Not where the alias has it, as after a flip whose answer was lost; and
 * where OpenSearch is away, the next run's prune does it.
 */
async function discard(client: Client, prefix: string, index: string): Promise<void> {
  try {
    const live = await indicesUnderAlias(client, prefix);
    if (!live.includes(index)) await deleteIndex(client, index);
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
}

function refusal(error: unknown): string[] | undefined {
  if (error instanceof RefusedError) return [...error.reasons];
  if (error instanceof HeaderError || error instanceof FlipRefusedError) return [error.message];
  return undefined;
}

async function openSources(job: PublishJob): Promise<Sources> {
  const individual = await openSource('individual', job.individual.path);
  const business = await openSource('business', job.business.path);
  const changed = [
    ...(individual.sha256 === job.individual.sha256 ? [] : [individual.name]),
    ...(business.sha256 === job.business.sha256 ? [] : [business.name]),
  ];
  if (changed.length > 0) {
    throw new RefusedError([`${changed.join(' and ')} changed after the publication was asked for.`]);
  }
  return { individual, business };
}

/** The date that both files name; `--date` serves only where they name none. */
function publicationDate({ individual, business }: Sources, given: string | undefined): string {
  const dates = new Set([individual.runDate, business.runDate].filter((date) => date !== undefined));
  const [date, another] = dates;
  if (date !== undefined && another !== undefined) {
    throw new RefusedError([`The files' dates differ: ${individual.runDate} and ${business.runDate}.`]);
  }
  if (date === undefined && given === undefined) {
    throw new RefusedError(['Neither file has a QUERY_RUN_DATE; give the date with --date YYYY-MM-DD.']);
  }
  if (date !== undefined && given !== undefined && given !== date) {
    throw new RefusedError([`--date says ${given}, but the files say ${date}.`]);
  }
  return date ?? given ?? '';
}

/** Reads both files, one after the other, and loads every licence of them. */
async function load(index: string, sources: Sources, metadata: PublicationMetadata, context: PublishContext) {
  const { client, config, signal } = context;
  const files = [sources.individual, sources.business];
  const counts = { rows: 0, licenses: 0, endorsements: 0, set_aside: 0 };
  const rowsOf = { individual: 0, business: 0 };
  const unknownLabels: Record<string, number> = {};
  const sent: SentDocuments = { counts: new Map(), samples: new Map() };
  const setAside = setAsideRows(client, config.INDEX_PREFIX, metadata.publication);
  const progress: PublishProgress = {
    step: 'loading',
    bytes: 0,
    total_bytes: sources.individual.bytes + sources.business.bytes,
    rows: 0,
    documents: 0,
  };

  const listener: ParseListener = {
    onBytes: (bytes) => {
      progress.bytes += bytes;
    },
    onRows: (rows) => {
      counts.rows += rows;
    },
    onDocuments: (licenses, endorsements) => {
      counts.licenses += licenses;
      counts.endorsements += endorsements;
    },
    onSetAside: (file, row, reason) => setAside.add(file, row, reason),
    onUnknownLabel: (label) => {
      unknownLabels[label] = (unknownLabels[label] ?? 0) + 1;
    },
  };

  async function* documents() {
    for (const file of files) {
      const before = counts.rows;
      for await (const batch of parseFile(file, metadata.date, listener)) {
        for (const document of batch) noteSent(sent, document);
        yield batch;
        await setAside.flush();
      }
      rowsOf[file.file] = counts.rows - before;
    }
  }

  await loadDocuments(client, index, documents(), {
    signal,
    onLoaded: (loaded) => {
      progress.documents += loaded;
      progress.rows = counts.rows;
      context.onProgress(progress);
    },
    onRefused: ({ document, reason }) => {
      noteRefused(sent, document);
      if (document.sourceRow.endsWith(':0')) counts.licenses -= 1;
      else counts.endorsements -= 1;
      setAside.add(document.file, document.row, `${document.id}: ${reason}`);
    },
  });
  await setAside.flush();
  counts.set_aside = setAside.count();

  const describe = (file: SourceFile) => ({
    name: file.name,
    sha256: file.sha256,
    bytes: file.bytes,
    rows: rowsOf[file.file],
  });
  return {
    counts,
    unknownLabels,
    sent,
    progress,
    sources: { individual: describe(sources.individual), business: describe(sources.business) },
  };
}

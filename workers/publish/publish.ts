import type { Client } from '@opensearch-project/opensearch';
import { type Config, SERVICE_VERSION } from '../../src/config.ts';
import { isAddress } from '../../src/dataset/download.ts';
import { HeaderError } from '../../src/dataset/header.ts';
import { BrokenSourceError, isGeneratedSample } from '../../src/dataset/source-file.ts';
import {
  FlipRefusedError,
  flip,
  indicesUnderAlias,
  liveLicensesIndex,
} from '../../src/publications/alias.ts';
import { summarize } from '../../src/publications/history.ts';
import type { PublishJob, PublishProgress, PublishResult } from '../../src/publications/job.ts';
import {
  appendEvent,
  latestEpoch,
  type NewLedgerEvent,
  readEvents,
  takeEpoch,
} from '../../src/publications/ledger.ts';
import {
  type LicensesIndex,
  type PublicationMetadata,
  readMetadata,
  writeMetadata,
} from '../../src/publications/metadata.ts';
import { deleteIndex, prune } from '../../src/publications/prune.ts';
import { liveEvent, reconcileLedger } from '../../src/publications/reconcile.ts';
import { newRunId } from '../../src/publications/run-id.ts';
import { isTransient } from '../../src/storage/client.ts';
import { licensesIndexName } from '../../src/storage/index-names.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { askCanary } from './canary.ts';
import { LOADING_SETTINGS, makeDurable } from './durable.ts';
import { fetchSource } from './fetch.ts';
import { guardFiles, guardLicenses } from './guards.ts';
import { loadFiles } from './load-files.ts';
import { openSource, type SourceFile } from './read.ts';
import { RefusedError } from './refused.ts';
import type { Tally } from './tally.ts';
import { verifyIndex } from './verify.ts';

interface PublishContext {
  readonly client: Client;
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PublishProgress) => void;
  /** How long documents that OpenSearch does not take are sent again; five minutes when left out. */
  readonly giveUpAfterMs?: number | undefined;
}

interface Sources {
  readonly individual: SourceFile;
  readonly business: SourceFile;
}

/**
 * One publication from the two files to the flipped alias: fetch, read, load, guard, verify, make durable,
 * flip, ask the canary, prune. It is all or nothing: whatever goes wrong before the flip leaves the live publication as it was,
 * and the index built so far is deleted (by the next run where this one was killed).
 *
 * @returns that it is live, that the same files are live already, or that the files are refused and why
 * @throws for what another try may mend: OpenSearch away, or documents that it lost (`VerificationError`)
 */
export async function publish(job: PublishJob, context: PublishContext): Promise<PublishResult> {
  const { client, config } = context;
  const prefix = config.INDEX_PREFIX;
  const startedAt = new Date();
  await prepareIndices(client, prefix);
  await reconcileLedger(client, prefix);
  const before = await liveLicensesIndex(client, prefix);
  if (before?.metadata.publication === job.publication) {
    return liveResult(before, startedAt, await prune(client, prefix, config.KEEP_PUBLICATIONS));
  }

  const epoch = await takeEpoch(client, prefix, job.publication);
  const record = (event: Omit<NewLedgerEvent, 'publication' | 'epoch'>) =>
    appendEvent(client, prefix, { ...event, publication: job.publication, epoch });
  const { progress, enter, seconds } = progressOf(context);
  const overridden: string[] = [];
  const enforce = (reasons: readonly string[]) => {
    if (reasons.length > 0 && job.force === undefined) throw new RefusedError(reasons);
    overridden.push(...reasons);
  };

  let index: string | undefined;
  let tally: Tally | undefined;
  try {
    await record({ event: 'reading', service_version: SERVICE_VERSION, forced: job.force });
    await prune(client, prefix, config.KEEP_PUBLICATIONS);
    const sources = await openSources(job, context, progress, enter);
    if (before !== undefined && job.force === undefined && hasSameFiles(before, sources)) {
      const { publication: live, date } = before.metadata;
      const reasons = [`Publication ${live} has the same files and is live.`];
      await record({ event: 'skipped', date, same_as: live, reasons });
      return { state: 'skipped', publication: job.publication, live, date };
    }

    const date = publicationDate(sources, job.date);
    const yesterday = before?.metadata.sample ? undefined : before?.metadata;
    enforce(guardFiles(candidateFiles(sources, date), yesterday, await rolledBack(context, before), config));

    const metadata: PublicationMetadata = {
      publication: job.publication,
      epoch,
      date,
      sample: (await isGeneratedSample(sources.individual)) || (await isGeneratedSample(sources.business)),
      started_at: startedAt.toISOString(),
      service_version: SERVICE_VERSION,
    };
    index = licensesIndexName(prefix, { date, run: newRunId() });
    await client.indices.create({
      index,
      body: {
        settings: { ...LOADING_SETTINGS, 'index.number_of_shards': config.INDEX_SHARDS },
        mappings: { _meta: metadata },
      },
    });
    await record({ event: 'loading', index, date, sample: metadata.sample });
    enter('loading');
    tally = await loadFiles({ index, publication: job.publication, date, sources }, context, progress);
    enforce(guardLicenses(tally, yesterday, config));

    await record({
      event: 'verifying',
      index,
      counts: tally.counts,
      unknown_labels: tally.unknownLabels,
    });
    context.signal.throwIfAborted();
    enter('verifying');
    await verifyIndex(client, index, tally);

    enter('making durable');
    const verified: PublicationMetadata = {
      ...metadata,
      verified_at: new Date().toISOString(),
      counts: tally.counts,
      boards: Object.fromEntries(tally.boards),
      sources: {
        individual: describeSource(sources.individual, tally.rowsOf.individual),
        business: describeSource(sources.business, tally.rowsOf.business),
      },
    };
    await writeMetadata(client, index, verified);
    await makeDurable(client, index);

    context.signal.throwIfAborted();
    enter('going live');
    const live: LicensesIndex = { index, metadata: verified };
    const replaced = await flip(client, prefix, index, epoch);
    index = undefined;
    await record({
      ...liveEvent(live.index, verified),
      ...told(tally),
      seconds: seconds(),
      ...(job.force === undefined ? {} : { forced: job.force, reasons: overridden }),
    });
    if (replaced !== undefined) {
      const { publication } = await readMetadata(client, replaced);
      await appendEvent(client, prefix, { publication, event: 'superseded', index: replaced });
    }

    const canary = await askCanary(client, prefix, date, tally.samples);
    const { differences } = canary;
    if (differences.length > 0) await record({ event: 'canary_failed', differences });

    const pruned = await prune(client, prefix, config.KEEP_PUBLICATIONS);
    return { ...liveResult(live, startedAt, pruned), unknown_labels: tally.unknownLabels, canary };
  } catch (error) {
    if (index !== undefined) await discard(client, prefix, index);
    const reasons = refusal(error) ?? (await overtaken(context, job, epoch));
    if (reasons === undefined) throw error;
    await record({ event: 'refused', reasons, ...(tally && told(tally)), seconds: seconds() });
    return { state: 'refused', publication: job.publication, reasons: [...reasons] };
  }
}

function liveResult(
  { index, metadata }: LicensesIndex,
  startedAt: Date,
  pruned: string[],
): Extract<PublishResult, { state: 'live' }> {
  const counts = metadata.counts ?? { rows: 0, licenses: 0, endorsements: 0, set_aside: 0 };
  const seconds = (Date.now() - startedAt.getTime()) / 1000;
  return {
    state: 'live',
    publication: metadata.publication,
    index,
    date: metadata.date,
    ...counts,
    seconds: Math.round(seconds * 10) / 10,
    rows_per_second: Math.round(counts.rows / seconds),
    unknown_labels: {},
    pruned,
  };
}

/** A run's progress, told at every change of step, and how long each step took. */
function progressOf({ onProgress }: PublishContext) {
  const progress: PublishProgress = { step: 'reading', bytes: 0, total_bytes: 0, rows: 0, documents: 0 };
  const took: Record<string, number> = {};
  let since = Date.now();
  let told: PublishProgress['step'] | undefined;

  function enter(step: PublishProgress['step']): void {
    const now = Date.now();
    took[progress.step] = (took[progress.step] ?? 0) + (now - since) / 1000;
    since = now;
    if (step === told) return;
    told = step;
    progress.step = step;
    onProgress(progress);
  }
  function seconds(): Record<string, number> {
    enter(progress.step);
    return Object.fromEntries(Object.entries(took).map(([step, each]) => [step, Math.round(each * 10) / 10]));
  }
  return { progress, enter, seconds };
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
  if (error instanceof HeaderError) return [`columns: ${error.message}`];
  if (error instanceof BrokenSourceError) return [`truncated: ${error.message}`];
  if (error instanceof FlipRefusedError) return [`overtaken: ${error.message}`];
  return undefined;
}

/**
 * That another publication or rollback has begun since this one did. Its prune may have deleted this one's index;
 * whatever went wrong then, another try would put back what was gone on from.
 */
async function overtaken(
  { client, config }: PublishContext,
  { publication }: PublishJob,
  epoch: number,
): Promise<string[] | undefined> {
  try {
    const latest = await latestEpoch(client, config.INDEX_PREFIX);
    if (latest === undefined || latest.epoch === epoch || latest.holder === publication) return undefined;
    return [`overtaken: A later publication or rollback has begun (epoch ${latest.epoch}).`];
  } catch {
    // OpenSearch is away; what went wrong stands.
    return undefined;
  }
}

/** What the ledger is told of the files' licenses, live or refused. */
function told({ counts, boards, statuses, unknownLabels }: Tally) {
  return {
    counts,
    boards: Object.fromEntries(boards),
    statuses: Object.fromEntries(statuses),
    unknown_labels: unknownLabels,
  };
}

/** Fetches both files where they are addresses, then hashes them and maps their headers. */
async function openSources(
  job: PublishJob,
  context: PublishContext,
  progress: PublishProgress,
  enter: (step: PublishProgress['step']) => void,
): Promise<Sources> {
  const sourcesAt = [job.individual.location, job.business.location];
  if (sourcesAt.some(isAddress)) enter('downloading');
  const individual = await fetchSource(job.individual.location, context, progress);
  const business = await fetchSource(job.business.location, context, progress);
  enter('reading');
  const sources = {
    individual: await openSource('individual', individual),
    business: await openSource('business', business),
  };
  const changed = (['individual', 'business'] as const).filter(
    (file) => job[file].sha256 !== undefined && job[file].sha256 !== sources[file].sha256,
  );
  if (changed.length > 0) {
    const names = changed.map((file) => sources[file].name).join(' and ');
    throw new RefusedError([`changed: ${names} changed after the publication was asked for.`]);
  }
  return sources;
}

function hasSameFiles({ metadata }: LicensesIndex, { individual, business }: Sources): boolean {
  const { sources } = metadata;
  return sources?.individual.sha256 === individual.sha256 && sources.business.sha256 === business.sha256;
}

function candidateFiles({ individual, business }: Sources, date: string) {
  return {
    date,
    runDates: { individual: individual.runDate, business: business.runDate },
    sha256: { individual: individual.sha256, business: business.sha256 },
  };
}

function describeSource({ name, sha256, bytes }: SourceFile, rows: number) {
  return { name, sha256, bytes, rows };
}

async function rolledBack({ client, config }: PublishContext, live: LicensesIndex | undefined) {
  const events = await readEvents(client, config.INDEX_PREFIX);
  return summarize(events, live?.metadata.publication).filter(({ state }) => state === 'rolled_back');
}

/**
 * The files' date: of two that differ the earlier, so that no answer is called more current than it is.
 * `--date` serves only where they name none.
 */
function publicationDate({ individual, business }: Sources, given: string | undefined): string {
  const [earlier] = [individual.runDate, business.runDate].filter((date) => date !== undefined).toSorted();
  if (earlier === undefined && given === undefined) {
    throw new RefusedError([
      'no_date: Neither file has a QUERY_RUN_DATE; give the date with --date YYYY-MM-DD.',
    ]);
  }
  if (earlier !== undefined && given !== undefined && given !== earlier) {
    throw new RefusedError([`no_date: --date says ${given}, but the files say ${earlier}.`]);
  }
  return earlier ?? given ?? '';
}

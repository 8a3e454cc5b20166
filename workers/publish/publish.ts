import { HeaderError } from '../../src/dataset/header.ts';
import { BrokenSourceError } from '../../src/dataset/source-file.ts';
import {
  currentEpoch,
  deleteUnlessLive,
  FlipRefusedError,
  fencedBy,
  readEpoch,
  takeEpochAfter,
} from '../../src/publications/fence.ts';
import { lastLivePublication, type PublishResult, reconcileLedger } from '../../src/publications/history.ts';
import type { PublishJob } from '../../src/publications/job.ts';
import { liveIndex, newId, readableLiveIndex, writeMetadata } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { isTransient } from '../../src/storage/errors.ts';
import { licensesIndexName, type Store } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { type Built, build, makeDurable } from './build.ts';
import { licensesStored } from './canary.ts';
import { compare } from './compare.ts';
import { afterGoingLive, finishGoingLive, goLive, type WentLive } from './go-live.ts';
import { type Prepared, prepare } from './prepare.ts';
import { RefusedError, refusal } from './refusal.ts';
import { type PublishContext, type PublishRun, publishRun } from './run.ts';
import { tallySummary } from './tally.ts';
import { verifyIndex } from './verify.ts';

/**
 * Publishes two files: prepare, build, verify, go live. It is all or nothing. Whatever fails before going live leaves
 * the live publication as it was. The index built so far is deleted; if this process was killed, the next run does it.
 *
 * @returns that it is live, that the same files are live already, or that the files are refused and why
 * @throws what another try may solve: OpenSearch is away, or has lost documents (`VerificationError`)
 */
export async function publish(job: PublishJob, context: PublishContext): Promise<PublishResult> {
  const { store } = context;
  const startedAt = new Date();
  await prepareIndices(store);
  await reconcileLedger(store);
  // In this order: what goes live afterwards has fenced this run, or does so when the run takes its epoch.
  const began = await currentEpoch(store);
  const replaces = await liveIndex(store);
  const live = await readableLiveIndex(store);
  if (live?.metadata.publication === job.publication)
    return finishGoingLive(context, live, await licensesStored(store, live));

  const lastLive = live === undefined ? await lastLivePublication(store) : undefined;
  const run = publishRun(job, context, { startedAt, began, replaces, live, lastLive });
  let wentLive: WentLive;
  try {
    const prepared = await prepare(run);
    if ('state' in prepared) return prepared;
    wentLive = await buildAndGoLive(run, prepared, await takeEpochOf(run));
  } catch (error) {
    return refuse(run, error);
  }
  return afterGoingLive(run, wentLive);
}

/**
 * Takes the epoch of a run, once nothing speaks against its files: a run that is refused before fences nobody.
 *
 * @throws {FlipRefusedError} when another publication or rollback has begun, or has gone live, since the run began
 */
async function takeEpochOf({ store, config, job, began, replaces }: PublishRun): Promise<number> {
  for (;;) {
    const read = await readEpoch(store);
    if (read.epoch !== began) throw new FlipRefusedError(fencedBy(read.epoch));
    const uses = replaces === undefined ? [] : [replaces];
    const epoch = await takeEpochAfter(store, read, job.publication, uses);
    if (epoch === undefined) continue;
    if ((await liveIndex(store)) !== replaces) {
      throw new FlipRefusedError('Another publication went live since this one began.');
    }
    // What an earlier attempt left has an earlier epoch only now.
    await prune(store, config.KEEP_PUBLICATIONS);
    return epoch;
  }
}

/** Builds the index, verifies it and switches the alias to it. An index that does not go live is deleted. */
async function buildAndGoLive(run: PublishRun, prepared: Prepared, epoch: number): Promise<WentLive> {
  const index = licensesIndexName(run.store.prefix, prepared.date, newId());
  try {
    const built = await build(run, prepared, { index, epoch });
    return await goLive(run, await verify(run, built));
  } catch (error) {
    await discard(run.store, index);
    throw error;
  }
}

/**
 * Compares the index with what was sent and with the live publication, and makes it durable.
 *
 * @throws {VerificationError} when it is not what was sent
 * @throws {RefusedError} when too many licenses changed
 */
async function verify(run: PublishRun, built: Built): Promise<Built> {
  const { store } = run;
  const { index, tally, notes } = built;
  // Once it is live this process may be killed, and then this event is all that tells of it.
  await run.record({
    event: 'verifying',
    index,
    ...tallySummary(tally),
    notes: [...notes],
    seconds: run.seconds(),
    ...(run.overridden.length > 0 && { reasons: [...run.overridden] }),
  });
  run.signal.throwIfAborted();
  run.enter('verifying');
  await verifyIndex(store.client, index, tally);

  const { feed, changes } = await compare(run, built);
  run.enter('making durable');
  const metadata = { ...built.metadata, verified_at: new Date().toISOString(), feed, changes };
  await writeMetadata(store.client, index, metadata);
  await makeDurable(store.client, index);
  return { ...built, metadata };
}

/**
 * Deletes an index, unless the alias has it, as after a switch whose response was lost. Where OpenSearch is away,
 * the prune of the next run deletes it.
 */
async function discard(store: Store, index: string): Promise<void> {
  try {
    await deleteUnlessLive(store, index);
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
}

/**
 * Ends a run whose files are refused, and records why.
 *
 * @throws the error itself, if another try may succeed
 */
async function refuse(run: PublishRun, error: unknown): Promise<PublishResult> {
  const reasons = reasonsOf(error) ?? (await fenced(run));
  if (reasons === undefined) throw error;
  const details = error instanceof RefusedError ? error.details : {};
  await run.record({ ...details, event: 'refused', reasons, seconds: run.seconds() });
  return { state: 'refused', publication: run.job.publication, reasons };
}

function reasonsOf(error: unknown): string[] | undefined {
  if (error instanceof RefusedError) return [...error.reasons];
  if (error instanceof HeaderError) return [refusal('columns', error.message)];
  if (error instanceof BrokenSourceError) return [refusal('truncated', error.message)];
  if (error instanceof FlipRefusedError) return [refusal('fenced', error.message)];
  return undefined;
}

/**
 * That another publication or rollback has begun since this run did. Its prune may have deleted this run's index,
 * so the error may be a consequence, and another try must not replace what is live by then.
 */
async function fenced({ store, job, began }: PublishRun): Promise<string[] | undefined> {
  try {
    const latest = await readEpoch(store);
    if (latest.epoch === began || latest.holder === job.publication) return undefined;
    return [refusal('fenced', fencedBy(latest.epoch))];
  } catch {
    // OpenSearch is away; the first error stands.
    return undefined;
  }
}

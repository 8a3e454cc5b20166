import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteOldUsage } from '../../src/access/usage.ts';
import { writeDigest } from '../../src/changes/digest.ts';
import { HeaderError } from '../../src/dataset/header.ts';
import { BrokenSourceError } from '../../src/dataset/source-file.ts';
import {
  deleteUnlessLive,
  FlipRefusedError,
  fencedBy,
  flip,
  readEpoch,
  releaseEpoch,
  takeEpochAfter,
} from '../../src/publications/fence.ts';
import {
  liveEvent,
  type PublishResult,
  publicationResult,
  publishResult,
  reconcileLedger,
} from '../../src/publications/history.ts';
import type { PublishJob } from '../../src/publications/job.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { storeLicenseTypes } from '../../src/publications/license-types.ts';
import { liveFeed, writeFeed } from '../../src/publications/live-feed.ts';
import { type LicensesIndex, liveIndex, newId } from '../../src/publications/metadata.ts';
import { deleteIndices, prune } from '../../src/publications/prune.ts';
import { licensesIndexName, openStore, type Store } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { followRenumbered } from '../../src/subscriptions/subscription.ts';
import { type Built, build, makeDurable } from './build.ts';
import { askCanary, isFoundThroughAlias } from './canary.ts';
import { compare } from './compare.ts';
import { judge } from './judgement.ts';
import { type Prepared, prepare } from './prepare.ts';
import { beginRun, type PublishContext, type PublishRun, RefusedError, reasonsOf, refused } from './run.ts';
import { downloadsOf } from './sources.ts';
import { verifyIndex } from './verify.ts';

/**
 * Publishes two files: prepare, build, verify, compare, go live. It is all or nothing: a failure before going live
 * leaves the live publication as it was. The index built so far is deleted; if this process was killed, the next run
 * deletes it. A check ends before it would go live. It takes no epoch, and leaves nothing in the ledger or the feed of
 * changes.
 *
 * @returns a result: live, skipped because the same files are already live, or refused with the reasons
 * @throws an error that a retry may solve: OpenSearch is down or has lost documents (`VerificationError`)
 */
export async function publish(job: PublishJob, context: PublishContext): Promise<PublishResult> {
  const { store } = context;
  await prepareIndices(store);
  await reconcileLedger(store);
  const run = await beginRun(job, context);
  if (run.live?.metadata.publication === job.publication) return finishGoingLive(run, run.live);

  let built: Built;
  try {
    const prepared = await prepare(run);
    if ('state' in prepared) return prepared;
    const epoch = run.isCheck ? run.began : await takeEpochOf(run);
    // Only now do the remains of an earlier attempt have an earlier epoch. Publications that were live stay until this
    // one is live.
    await deleteIndices(store, Number.POSITIVE_INFINITY);
    built = await buildAndGoLive(run, prepared, epoch);
  } catch (error) {
    return refuse(run, error);
  }
  const { loaded, isCheck } = run;
  const { publication, force: forced } = job;
  const { seconds, reasons, ...found } = run.found();
  if (isCheck)
    return publishResult.parse({ ...loaded, ...found, reasons, state: 'would_go_live', publication });
  // If anything fails from here on, the next attempt finishes it.
  await run.record({ ...liveEvent(built.index, built.metadata), forced, seconds, reasons });
  await reconcileLedger(store);
  return finishGoingLive(run, built);
}

/**
 * Takes the epoch of a run, after its files have passed all checks. A run that is refused earlier does not stop any
 * other run.
 *
 * @throws {FlipRefusedError} when another publication or rollback has begun, or has gone live, since the run began
 */
async function takeEpochOf({ store, job, began, replaces }: PublishRun): Promise<number> {
  for (;;) {
    const read = await readEpoch(store);
    if (read.epoch !== began) throw new FlipRefusedError(fencedBy(read.epoch));
    const uses = replaces === undefined ? [] : [replaces];
    const epoch = await takeEpochAfter(store, read, job.publication, uses);
    if (epoch === undefined) continue;
    if ((await liveIndex(store)) !== replaces) {
      throw new FlipRefusedError('Another publication went live since this one began.');
    }
    return epoch;
  }
}

/** A request of a load may take longer than one of a lookup. */
export const REQUEST_TIMEOUT_MS = 120_000;

/**
 * Runs a check in a separate folder, because a worker may be downloading the same files.
 *
 * @param look called with the checked index
 */
export async function checkFiles(
  job: PublishJob,
  { config, ...context }: Omit<PublishContext, 'store' | 'look'>,
  look: (store: Store, index: string) => Promise<void> = async () => undefined,
): Promise<PublishResult> {
  const store = openStore(config, REQUEST_TIMEOUT_MS);
  const STATE_DIR = join(downloadsOf(config), job.publication);
  try {
    return await publish(job, { ...context, look, store, config: { ...config, STATE_DIR } });
  } finally {
    await rm(STATE_DIR, { recursive: true, force: true });
    await store.client.close();
  }
}

/**
 * Builds the index, verifies it against the sent documents, compares it with the live publication, tests it with
 * lookups, and switches the alias to it. An index that does not go live is deleted.
 *
 * @throws {VerificationError} when the index differs from the sent documents
 * @throws {RefusedError} when a guard refuses the publication
 * @throws {FlipRefusedError} when a later publication or rollback has begun
 */
async function buildAndGoLive(run: PublishRun, prepared: Prepared, epoch: number): Promise<Built> {
  const { store, job, signal, look } = run;
  const { client, prefix } = store;
  const index = licensesIndexName(prefix, prepared.date, look ? job.publication : newId());
  let isLive = false;
  try {
    const built = await build(run, prepared, index, epoch);
    const { tally } = built;
    await run.record({ event: 'verifying', index, ...run.loaded, ...run.found() });
    signal.throwIfAborted();
    run.enter('verifying');
    await verifyIndex(client, index, tally, run.advance);
    tally.digest.remove(tally.refused);
    await writeDigest(store, index, tally.digest);
    await storeLicenseTypes(store, index);
    const wrong = await askCanary(store, index, tally);
    run.enforce([judge('canary', wrong.length, 0, { sentence: wrong.join('; ') })]);
    const changes = await compare(run, built);
    if (look !== undefined) {
      await look(store, index);
      return built;
    }
    run.enter('making durable');
    // This process may be killed right after going live. Then only this event has these details.
    await run.record({ event: 'verifying', index, ...run.found() });
    const verified = { ...built.metadata, verified_at: new Date().toISOString() };
    await makeDurable(client, index);
    const metadata = await writeFeed(store, { index, metadata: verified }, changes, epoch);
    signal.throwIfAborted();
    run.enter('going live');
    await flip(store, { to: index, epoch });
    isLive = true;
    return { ...built, metadata };
  } finally {
    // If the response to the switch was lost, the alias already has this index, and it is not deleted. If it can't be
    // deleted, the next run does that.
    if (!isLive) await deleteUnlessLive(store, index).catch(() => undefined);
  }
}

/**
 * Ends a run whose files are refused, and records why.
 *
 * @throws the error itself, if another try may succeed; the signal's reason when it is aborted
 */
async function refuse(run: PublishRun, error: unknown): Promise<PublishResult> {
  const judgements = (refusalOf(error) ?? (await fenced(run)))?.judgements;
  // A publication that has begun aborts the check, and may have deleted its index.
  if (run.isCheck) run.signal.throwIfAborted();
  if (judgements === undefined) throw error;
  run.judged.push(...judgements);
  const { notes, ...found } = { ...run.found(), reasons: reasonsOf(judgements) };
  await run.record({ ...run.loaded, event: 'refused', ...found });
  const state = run.isCheck ? 'would_be_refused' : 'refused';
  return publishResult.parse({ ...run.loaded, ...found, notes, state, publication: run.job.publication });
}

/** Converts an error into a refusal; `undefined` if a retry may succeed. */
function refusalOf(error: unknown): RefusedError | undefined {
  if (error instanceof RefusedError) return error;
  if (error instanceof HeaderError) return refused('columns', error.message);
  if (error instanceof BrokenSourceError) return refused('truncated', error.message);
  if (error instanceof FlipRefusedError) return refused('fenced', error.message);
  return undefined;
}

/**
 * Returns a refusal if another publication or rollback has begun since this run did. Its prune may have deleted this
 * run's index and so caused the error. A retry must not replace what is live by then.
 */
async function fenced({ store, job, began }: PublishRun): Promise<RefusedError | undefined> {
  // OpenSearch may be down; then the original error counts.
  const latest = await readEpoch(store).catch(() => undefined);
  const isFenced = latest !== undefined && latest.epoch !== began && latest.holder !== job.publication;
  return isFenced ? refused('fenced', fencedBy(latest.epoch)) : undefined;
}

/**
 * Finishes a publication after the alias was switched and the ledger updated: tests a lookup, erases withdrawn places,
 * and prunes.
 */
async function finishGoingLive(run: PublishRun, { index, metadata }: LicensesIndex): Promise<PublishResult> {
  const { store, config } = run;
  const { publication, epoch } = metadata;
  const isFound = await isFoundThroughAlias(store);
  await releaseEpoch(store, epoch, index);
  run.enter('cleaning up');
  // This also covers a rollback in between.
  await followRenumbered(store, (await liveFeed(store)).state);
  await prune(store, config.KEEP_PUBLICATIONS, run.advance);
  await deleteOldUsage(store);
  const result = publicationResult(await readEvents(store, publication));
  if (result === undefined) throw new Error(`The ledger does not say how publication ${publication} ended.`);
  return result.state === 'live' ? { ...result, is_found: isFound } : result;
}

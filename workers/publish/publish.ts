import { liveIndex, readableLiveIndex } from '../../src/publications/alias.ts';
import {
  currentEpoch,
  FlipRefusedError,
  fencedBy,
  readEpoch,
  takeEpochAfter,
} from '../../src/publications/fence.ts';
import { lastLivePublication } from '../../src/publications/history.ts';
import type { PublishJob } from '../../src/publications/job.ts';
import { writeMetadata } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { reconcileLedger } from '../../src/publications/reconcile.ts';
import type { PublishResult } from '../../src/publications/result.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { type Built, build } from './build.ts';
import { compare } from './compare.ts';
import { makeDurable } from './durable.ts';
import { endWithoutGoingLive } from './end-without-going-live.ts';
import { afterGoingLive, finishGoingLive, goLive, type WentLive } from './go-live.ts';
import { prepare } from './prepare.ts';
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
  if (live?.metadata.publication === job.publication) return finishGoingLive(context, live);

  const lastLive = live === undefined ? await lastLivePublication(store) : undefined;
  const run = publishRun(job, context, { startedAt, began, replaces, live, lastLive });
  let wentLive: WentLive;
  try {
    const prepared = await prepare(run);
    if ('state' in prepared) return prepared;
    const built = await build(run, prepared, await takeEpochOf(run));
    wentLive = await goLive(run, await verify(run, built));
  } catch (error) {
    return endWithoutGoingLive(run, error);
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
  const verified = { ...built.metadata, verified_at: new Date().toISOString(), feed, changes };
  await writeMetadata(store.client, index, verified);
  await makeDurable(store.client, index);
  return { ...built, metadata: verified };
}

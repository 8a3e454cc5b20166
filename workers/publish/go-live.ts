import { flip, releaseEpoch } from '../../src/publications/fence.ts';
import { liveEvent, type PublishResult, publicationResult } from '../../src/publications/history.ts';
import { appendEvent, readEvents } from '../../src/publications/ledger.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import type { Built } from './build.ts';
import { askCanary, type KnownLicense, licensesSent } from './canary.ts';
import type { PublishContext, PublishRun } from './run.ts';

/** A publication that is live. */
export interface WentLive extends Built {
  /** The index that was live before. */
  readonly replaced: string | undefined;
}

/**
 * Switches the alias to the index.
 *
 * @throws {FlipRefusedError} when a later publication or rollback has begun
 */
export async function goLive(run: PublishRun, built: Built): Promise<WentLive> {
  run.signal.throwIfAborted();
  run.enter('going live');
  const replaced = await flip(run.store, built.index, built.metadata.epoch);
  return { ...built, replaced };
}

/** Records a publication that is live, and finishes it. What fails is done by the next attempt. */
export async function afterGoingLive(
  run: PublishRun,
  { index, metadata, tally, replaced }: WentLive,
): Promise<PublishResult> {
  const { store, job, live } = run;
  await run.record({
    ...liveEvent(index, metadata),
    seconds: run.seconds(),
    ...(job.force !== undefined && { forced: job.force, reasons: [...run.overridden] }),
  });
  if (live !== undefined && live.index === replaced) {
    const { publication } = live.metadata;
    await appendEvent(store, { publication, event: 'superseded', index: replaced });
  }
  return finishGoingLive(run, { index, metadata }, licensesSent(tally.samples));
}

/**
 * Does what is left once the alias has switched and the ledger says so: asks the canary and prunes.
 *
 * @param licenses some that lookups must find
 */
export async function finishGoingLive(
  { store, config }: PublishContext,
  { metadata }: LicensesIndex,
  licenses: readonly KnownLicense[],
): Promise<PublishResult> {
  const { publication, epoch, date } = metadata;
  const differences = await askCanary(store, date, licenses);
  if (differences.length > 0)
    await appendEvent(store, { publication, epoch, event: 'canary_failed', differences });
  await releaseEpoch(store, epoch);
  await prune(store, config.KEEP_PUBLICATIONS);
  const result = publicationResult(await readEvents(store, publication));
  if (result === undefined) throw new Error(`The ledger does not say how publication ${publication} ended.`);
  return result;
}

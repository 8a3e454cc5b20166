import { flip, releaseEpoch } from '../../src/publications/fence.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { appendEvent } from '../../src/publications/ledger.ts';
import type { LicensesIndex, PublicationMetadata } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { liveEvent } from '../../src/publications/reconcile.ts';
import { liveResult, type PublishResult, publicationResult } from '../../src/publications/result.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Built } from './build.ts';
import { askCanary, type KnownLicense, licensesSent, licensesStored } from './canary.ts';
import type { PublishContext, PublishRun } from './run.ts';
import { tallySummary } from './tally.ts';

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
  run.building = undefined;
  return { ...built, replaced };
}

/** Records a publication that is live, asks the canary and prunes. What fails is done by the next attempt. */
export async function afterGoingLive(
  run: PublishRun,
  { index, metadata, tally, notes, replaced }: WentLive,
): Promise<PublishResult> {
  const { store, config, job, live } = run;
  const event = {
    ...liveEvent(index, metadata),
    ...tallySummary(tally),
    notes: [...notes],
    seconds: run.seconds(),
    ...(job.force === undefined ? {} : { forced: job.force, reasons: [...run.overridden] }),
  };
  await run.record(event);
  if (live !== undefined && live.index === replaced) {
    const { publication } = live.metadata;
    await appendEvent(store, { publication, event: 'superseded', index: replaced });
  }

  const differences = await checkAnswers(store, metadata, licensesSent(tally.samples));
  await releaseEpoch(store, metadata.epoch);
  await prune(store, config.KEEP_PUBLICATIONS);
  return liveResult(event, differences);
}

/** Does what is left of a publication whose process was killed after the alias had switched to it. */
export async function finishGoingLive(
  { store, config }: PublishContext,
  live: LicensesIndex,
): Promise<PublishResult> {
  const { index, metadata } = live;
  const differences = await checkAnswers(store, metadata, await licensesStored(store, live));
  await releaseEpoch(store, metadata.epoch);
  await prune(store, config.KEEP_PUBLICATIONS);
  const { events } = await publicationDetails(store, metadata.publication);
  return publicationResult(events) ?? liveResult(liveEvent(index, metadata), differences);
}

/** Asks the canary and records what it found. */
async function checkAnswers(
  store: Store,
  { publication, epoch, date }: PublicationMetadata,
  licenses: readonly KnownLicense[],
): Promise<string[]> {
  const differences = await askCanary(store, date, licenses);
  if (differences.length > 0)
    await appendEvent(store, { publication, epoch, event: 'canary_failed', differences });
  return differences;
}

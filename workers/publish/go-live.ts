import { flip } from '../../src/publications/alias.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { appendEvent } from '../../src/publications/ledger.ts';
import {
  type LicensesIndex,
  licensesIndices,
  type PublicationMetadata,
} from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { liveEvent } from '../../src/publications/reconcile.ts';
import { liveResult, type PublishResult, publicationResult } from '../../src/publications/result.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Built } from './build.ts';
import { askCanary, type KnownLicense, licensesSent, licensesStored } from './canary.ts';
import type { PublishContext, PublishRun } from './run.ts';
import { tallySummary } from './tally.ts';

/**
 * Switches the alias to the index, records it, asks the canary and prunes.
 *
 * @throws {FlipRefusedError} when a later publication or rollback has begun
 */
export async function goLive(
  run: PublishRun,
  { index, metadata, tally, notes }: Built,
): Promise<PublishResult> {
  const { store, config, job } = run;
  run.signal.throwIfAborted();
  run.enter('going live');
  const replaced = await flip(store, index, run.epoch);
  run.building = undefined;
  const event = {
    ...liveEvent(index, metadata),
    ...tallySummary(tally),
    notes: [...notes],
    seconds: run.seconds(),
    ...(job.force === undefined ? {} : { forced: job.force, reasons: [...run.overridden] }),
  };
  await run.record(event);
  if (replaced !== undefined) {
    const before = (await licensesIndices(store)).find(({ index: each }) => each === replaced);
    const publication = before?.metadata.publication;
    if (publication !== undefined)
      await appendEvent(store, { publication, event: 'superseded', index: replaced });
  }

  const differences = await checkAnswers(store, metadata, licensesSent(tally.samples));
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

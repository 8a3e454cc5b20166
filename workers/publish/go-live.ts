import { flip } from '../../src/publications/alias.ts';
import { appendEvent } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { liveEvent } from '../../src/publications/reconcile.ts';
import { liveResult, type PublishResult } from '../../src/publications/result.ts';
import type { Built } from './build.ts';
import { askCanary } from './canary.ts';
import type { PublishRun } from './run.ts';
import { tallySummary } from './tally.ts';

/**
 * Switches the alias to the index, records it, asks the canary and prunes.
 *
 * @throws {FlipRefusedError} when a later publication or rollback has begun
 */
export async function goLive(run: PublishRun, { index, metadata, tally }: Built): Promise<PublishResult> {
  const { store, config, job } = run;
  run.signal.throwIfAborted();
  run.enter('going live');
  const replaced = await flip(store, index, run.epoch);
  run.building = undefined;
  const event = {
    ...liveEvent(index, metadata),
    ...tallySummary(tally),
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

  const differences = await askCanary(store, metadata.date, tally.samples);
  if (differences.length > 0) await run.record({ event: 'canary_failed', differences });

  await prune(store, config.KEEP_PUBLICATIONS);
  return liveResult(event, differences);
}

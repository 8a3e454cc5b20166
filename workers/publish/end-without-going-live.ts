import { HeaderError } from '../../src/dataset/header.ts';
import { BrokenSourceError } from '../../src/dataset/unpack.ts';
import { deleteUnlessLive, FlipRefusedError, fencedBy, readEpoch } from '../../src/publications/fence.ts';
import type { PublishResult } from '../../src/publications/result.ts';
import { isTransient } from '../../src/storage/client.ts';
import type { Store } from '../../src/storage/store.ts';
import { RefusedError, refusal } from './refusal.ts';
import type { PublishRun } from './run.ts';
import { tallySummary } from './tally.ts';

/**
 * Ends a run that did not go live: deletes what it built, and records why the files are refused.
 *
 * @throws the error itself, if another try may succeed
 */
export async function endWithoutGoingLive(run: PublishRun, error: unknown): Promise<PublishResult> {
  const { store, job, building, tally } = run;
  if (building !== undefined) await discard(store, building);
  const reasons = reasonsOf(error) ?? (await fenced(run));
  if (reasons === undefined) throw error;
  await run.record({ event: 'refused', reasons, ...(tally && tallySummary(tally)), seconds: run.seconds() });
  return { state: 'refused', publication: job.publication, reasons };
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

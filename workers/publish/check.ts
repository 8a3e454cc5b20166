import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../src/config.ts';
import { deleteUnlessLive } from '../../src/publications/fence.ts';
import type { CheckResult, PublishResult } from '../../src/publications/history.ts';
import type { PublishJob, PublishProgress } from '../../src/publications/job.ts';
import { checkBuild } from '../../src/publications/metadata.ts';
import { deleteIndices } from '../../src/publications/prune.ts';
import { deleteRejectedRows } from '../../src/publications/rejected-rows.ts';
import { licensesIndexName, openStore, type Store } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { prepare } from './prepare.ts';
import { buildAndCompare, REQUEST_TIMEOUT_MS, refusalOf } from './publish.ts';
import { beginRun } from './run.ts';
import { tallySummary } from './tally.ts';

interface CheckContext {
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PublishProgress) => void;
}

/**
 * Does all that a publication does but going live, with an index that it deletes again. It takes no epoch, and neither
 * the ledger nor the feed of changes has it.
 *
 * @param look gets the index while it is there
 * @throws what another try may solve, or the signal's reason
 */
export async function checkFiles(
  job: PublishJob,
  { config, signal, onProgress }: CheckContext,
  look: (store: Store, index: string) => Promise<void> = async () => undefined,
): Promise<CheckResult | PublishResult> {
  const store = openStore(config, REQUEST_TIMEOUT_MS);
  // A worker may be downloading the same files into the folder that both have.
  const directory = join(config.STATE_DIR, job.publication);
  const context = { store, signal, onProgress, config: { ...config, STATE_DIR: directory } };
  try {
    await prepareIndices(store);
    const run = await beginRun(job, context, true);
    await deleteIndices(store, Number.POSITIVE_INFINITY);
    let index: string | undefined;
    const { publication } = job;
    try {
      const prepared = await prepare(run);
      if ('state' in prepared) return prepared;
      index = licensesIndexName(store.prefix, prepared.date, checkBuild());
      const { tally } = await buildAndCompare(run, prepared, { index, epoch: run.began });
      await look(store, index);
      const { values } = tallySummary(tally);
      const found = { reasons: [...run.overridden], notes: run.notes, checks: run.checks, values };
      return { state: 'would_go_live', publication, ...found };
    } catch (error) {
      const refusal = refusalOf(error);
      signal.throwIfAborted();
      if (refusal === undefined) throw error;
      const { reasons, checks, details } = refusal;
      const found = { reasons, notes: run.notes, checks: [...run.checks, ...checks] };
      return { state: 'would_be_refused', publication, ...found, values: details.values ?? {} };
    } finally {
      if (index !== undefined) await deleteUnlessLive(store, index);
      await deleteRejectedRows(store);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
    await store.client.close();
  }
}

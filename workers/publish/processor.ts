import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import { type SandboxedJob, UnrecoverableError, WaitingError } from 'bullmq';
import { pino } from 'pino';
import { z } from 'zod';
import { type Config, readConfig } from '../../src/config.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { type PublishProgress, publicationOf } from '../../src/publications/job.ts';
import { isTransient, refusal, responseStatus } from '../../src/storage/errors.ts';
import { fileTrouble } from '../../src/storage/file-trouble.ts';
import { openStore, type Store, storedIndices } from '../../src/storage/store.ts';
import { nameUncaughtErrors } from '../../src/telemetry/process.ts';
import { publish, REQUEST_TIMEOUT_MS } from './publish.ts';

const PROGRESS_EVERY_MS = 500;

// After its worker is killed, this process must not continue to load while another one retries.
process.once('disconnect', () => process.exit(1));
nameUncaughtErrors(pino({ level: readConfig().LOG_LEVEL, name: 'publication' }));

/**
 * Processes one publish job. BullMQ runs this file in a separate process, so that a busy load can't keep the worker
 * from renewing its lock.
 *
 * @param signal aborted when the worker stops; the job then goes back to the queue for the next worker
 */
export default async function processPublishJob(
  job: SandboxedJob,
  token: string | undefined,
  signal: AbortSignal,
): Promise<PublishResult> {
  const config = readConfig();
  const store = openStore(config, REQUEST_TIMEOUT_MS);
  try {
    await untilAvailable(store, signal);
    return await publish(publicationOf(job), { store, config, signal, onProgress: reportProgress(job) });
  } catch (error) {
    if (!signal.aborted) throw inWords(error, config);
    await job.moveToWait(token);
    throw new WaitingError();
  } finally {
    await store.client.close();
  }
}

/** Converts an error into the one that ends the attempt. Problems that an operator must fix first are not retried. */
function inWords(error: unknown, config: Config): unknown {
  const refused = refusal(error, config);
  if (refused !== undefined) return new UnrecoverableError(refused);
  const trouble = fileTrouble(error);
  return trouble === undefined ? error : new Error(trouble);
}

/** Reports each new step at once, and other progress twice a second. */
function reportProgress(job: SandboxedJob): (progress: PublishProgress) => void {
  let last = { step: '', at: 0 };
  return (progress) => {
    const now = Date.now();
    if (progress.step === last.step && now - last.at < PROGRESS_EVERY_MS) return;
    last = { step: progress.step, at: now };
    job.updateProgress({ ...progress }).catch(() => undefined);
  };
}

const MAX_WAIT_MS = 300_000;
const BETWEEN_TRIES_MS = 1000;
const NOT_IN_TIME = 408;

/**
 * Waits up to five minutes while OpenSearch is down, starting, or blocking writes because its disk is full. Retries of
 * a publication follow within seconds, so a restart of OpenSearch would otherwise use them all up.
 *
 * @throws the signal's reason
 */
async function untilAvailable({ client, prefix }: Store, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + MAX_WAIT_MS;
  const indices = Object.values(storedIndices(prefix));
  while (!(await takeWrites(client, indices)) && Date.now() < deadline) {
    await sleep(BETWEEN_TRIES_MS, undefined, { signal });
  }
}

/** OpenSearch sets this block on every index of a node whose disk is nearly full, and removes it by itself. */
const DISK_BLOCK = 'index.blocks.read_only_allow_delete';

const settingsResponse = z.record(
  z.string(),
  z.object({ settings: z.object({ [DISK_BLOCK]: z.string().optional() }) }),
);

/** Whether the indices accept writes. After a restart, OpenSearch responds before it has found every index again. */
async function takeWrites(client: Client, index: string[]): Promise<boolean> {
  try {
    await client.cluster.health({ index, wait_for_status: 'yellow', timeout: '5s' });
    const { body } = await client.indices.getSettings({ index, name: DISK_BLOCK, flat_settings: true });
    return Object.values(settingsResponse.parse(body)).every(
      ({ settings }) => settings[DISK_BLOCK] !== 'true',
    );
  } catch (error) {
    return !isTransient(error) && responseStatus(error) !== NOT_IN_TIME;
  }
}

import { type SandboxedJob, UnrecoverableError, WaitingError } from 'bullmq';
import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import { type PublishProgress, publicationOf } from '../../src/publications/job.ts';
import type { PublishResult } from '../../src/publications/result.ts';
import { refusal } from '../../src/storage/client.ts';
import { openStore } from '../../src/storage/store.ts';
import { nameUncaughtErrors } from '../../src/telemetry/process.ts';
import { untilAvailable } from './available.ts';
import { publish } from './publish.ts';

const REQUEST_TIMEOUT_MS = 120_000;
const PROGRESS_EVERY_MS = 500;

// Once its worker is killed, this process must not go on loading while another one retries.
process.once('disconnect', () => process.exit(1));
nameUncaughtErrors(pino({ level: readConfig().LOG_LEVEL, name: 'publication' }));

/**
 * BullMQ runs this file in a process of its own, so that a busy load can't keep the worker from renewing its lock.
 *
 * @param signal aborted when the worker stops: the job then goes back to the queue, for the next worker
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
    const refused = refusal(error, config);
    if (!signal.aborted) throw refused === undefined ? error : new UnrecoverableError(refused);
    job.log(`${new Date().toISOString()} handed back: the worker stops`);
    await job.moveToWait(token);
    throw new WaitingError();
  } finally {
    await store.client.close();
  }
}

/** Reports each new step at once, in the job's log too, and other progress twice a second. */
function reportProgress(job: SandboxedJob): (progress: PublishProgress) => void {
  let last = { step: '', at: 0 };
  return (progress) => {
    const now = Date.now();
    if (progress.step !== last.step) {
      const done = `${progress.rows} rows, ${progress.documents} licenses`;
      job.log(`${new Date(now).toISOString()} ${progress.step} (${done})`);
    } else if (now - last.at < PROGRESS_EVERY_MS) return;
    last = { step: progress.step, at: now };
    job.updateProgress({ ...progress }).catch(() => undefined);
  };
}

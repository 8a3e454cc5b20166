import { type SandboxedJob, UnrecoverableError } from 'bullmq';
import { readConfig } from '../../src/config.ts';
import { type PublishProgress, type PublishResult, publishJob } from '../../src/publications/job.ts';
import { openSearchClient } from '../../src/search/client.ts';
import { publish } from './publish.ts';
import { VerificationError } from './verify.ts';

const REQUEST_TIMEOUT_MS = 120_000;
const PROGRESS_EVERY_MS = 500;

// A child whose worker was killed must not go on loading beside the retry.
process.once('disconnect', () => process.exit(1));

/** BullMQ runs this file in a process of its own, so that a busy load never costs the worker its lock. */
export default async function processPublishJob(job: SandboxedJob): Promise<PublishResult> {
  const config = readConfig();
  const client = openSearchClient(config, REQUEST_TIMEOUT_MS);
  const stop = new AbortController();
  try {
    return await publish(publishJob.parse(job.data), {
      client,
      config,
      signal: stop.signal,
      onProgress: reportProgress(job),
    });
  } catch (error) {
    if (error instanceof VerificationError) throw new UnrecoverableError(error.message);
    throw error;
  } finally {
    await client.close();
  }
}

/** Tells every change of step at once, and the rest twice a second. */
function reportProgress(job: SandboxedJob): (progress: PublishProgress) => void {
  let last = { step: '', at: 0 };
  return (progress) => {
    const now = Date.now();
    if (progress.step === last.step && now - last.at < PROGRESS_EVERY_MS) return;
    last = { step: progress.step, at: now };
    job.updateProgress({ ...progress }).catch(() => undefined);
  };
}

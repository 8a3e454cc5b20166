import { fileURLToPath } from 'node:url';
import { Worker } from 'bullmq';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { prepareIndices } from '../src/publications/indices.ts';
import { PUBLISH_QUEUE, publishJob, queueConnection, queuePrefix } from '../src/publications/job.ts';
import { appendEvent } from '../src/publications/ledger.ts';
import { openSearchClient } from '../src/search/client.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const LOCK_MS = 60_000;
const STALLED_CHECK_MS = 15_000;

/** How often a job whose worker was killed is taken up again. */
const MOST_STALLS = 3;

/** The load keeps a few batches in memory, never the file; a roomy young generation saves collecting them. */
const CHILD_MEMORY = ['--max-old-space-size=256', '--max-semi-space-size=32'];

/** The worker process: takes publish jobs one at a time and runs each in a child process. */
export async function work(): Promise<void> {
  const config = readConfig();
  const log = pino({ level: config.LOG_LEVEL, name: 'worker' });
  const client = openSearchClient(config, REQUEST_TIMEOUT_MS);
  await prepareIndices(client, config.INDEX_PREFIX);

  const processor = fileURLToPath(new URL('./publish/processor.ts', import.meta.url));
  const worker = new Worker(PUBLISH_QUEUE, processor, {
    connection: queueConnection(config),
    prefix: queuePrefix(config.INDEX_PREFIX),
    concurrency: 1,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MOST_STALLS,
    useWorkerThreads: false,
    workerForkOptions: { execArgv: CHILD_MEMORY },
  });

  worker.on('active', (job) => log.info({ publication: job.id, attempt: job.attemptsStarted }, 'publishing'));
  worker.on('completed', (job, result) => log.info({ publication: job.id, result }, 'publication ended'));
  worker.on('failed', (job, error) => {
    log.error({ publication: job?.id, error: error.message }, 'publication failed');
    if (job === undefined || job.finishedOn === undefined) return;
    const { publication } = publishJob.parse(job.data);
    appendEvent(client, config.INDEX_PREFIX, {
      publication,
      event: 'failed',
      reasons: [error.message],
    }).catch((failure: unknown) => log.error({ publication, error: String(failure) }, 'ledger not written'));
  });
  worker.on('stalled', (publication) => log.warn({ publication }, 'publication stalled; it starts again'));
  worker.on('error', (error) => log.error({ error: error.message }, 'worker error'));
  log.info({ queue: PUBLISH_QUEUE }, 'worker ready');

  async function stop(): Promise<void> {
    log.info('worker stopping');
    await worker.close();
    await client.close();
    process.exit(0);
  }
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

if (import.meta.main) await work();

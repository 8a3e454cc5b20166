import { fileURLToPath } from 'node:url';
import { Job, type JobJson, type JobProgress, type Queue, Worker } from 'bullmq';
import { type Logger, pino } from 'pino';
import { type Config, readConfig } from '../src/config.ts';
import { close, httpServer, listen } from '../src/http/connections.ts';
import { publishResult, reconcileLedger } from '../src/publications/history.ts';
import {
  PUBLISH_QUEUE,
  publicationOf,
  publishQueue,
  queueOptions,
  setUpQueue,
} from '../src/publications/job.ts';
import { appendEvent } from '../src/publications/ledger.ts';
import { addMissingLicenseTypes } from '../src/publications/license-types.ts';
import { SeveralLiveError } from '../src/publications/metadata.ts';
import { trouble } from '../src/storage/errors.ts';
import { openStore, type Store } from '../src/storage/store.ts';
import { BAD_DOCUMENT } from '../src/storage/stored.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { endInOrder, endUnstarted, UNCAUGHT } from '../src/telemetry/process.ts';
import { uncaughtErrors } from '../src/telemetry/registry.ts';
import { type WorkerMetrics, workerAdminApp, workerMetrics } from './admin.ts';
import { startWebhooks } from './webhooks/webhooks.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const LOCK_MS = 60_000;
const STALLED_CHECK_MS = 15_000;
const STOP_WITHIN_MS = 20_000;

const NOT_FOUND = 'lookups find nothing; licenses rollback makes the previous publication live';

/** How many times a job whose worker was killed is retried. */
const MAX_STALLS = 3;

/**
 * A load keeps only a few batches in memory, never the whole file. Its objects must not reach the old generation
 * (docs/decisions/018). Then few of them survive when the young generation is full, so a larger one saves no CPU.
 */
const CHILD_OPTIONS = [
  '--max-old-space-size=256',
  '--max-semi-space-size=16',
  '--no-allocation-site-pretenuring',
];

/**
 * Runs the worker process. It takes publish jobs, one at a time however many workers there are, and runs each in a
 * child process. When the worker is stopped, a running publication goes back to the queue.
 */
export async function work(): Promise<void> {
  const config = readConfig();
  const log = pino({ level: config.LOG_LEVEL, name: 'worker' });
  const store = openStore(config, REQUEST_TIMEOUT_MS, {
    onBadDocument: (bad) => log.error(bad, BAD_DOCUMENT),
  });
  await prepare(store, config, log);

  const queue = publishQueue(config);
  queue.on('error', (error) => log.error({ error: error.message }, 'queue error'));
  const metrics = workerMetrics();
  const { WEBHOOK_SECRET_KEY: secretKey } = config;
  const webhooks =
    secretKey === undefined ? undefined : startWebhooks(config, secretKey, store, log, metrics.delivery);
  const admin = httpServer(workerAdminApp({ config, store, queue, log, webhooks }, metrics), log);
  await listen(admin, config.ADMIN_HOST, config.WORKER_ADMIN_PORT);
  const next = await setUpQueue(queue, config);
  if (next !== undefined) log.info({ next }, 'publication scheduled');
  setUpAfterOutages(queue, config, log);

  const worker = publishWorker(config, store, log, metrics);
  worker.on('completed', () => webhooks?.reconcile());
  log.info({ queue: PUBLISH_QUEUE, admin: admin.address() }, 'worker ready');

  const stop = endInOrder(log, {
    async close() {
      log.info('worker stopping');
      worker.cancelAllJobs('the worker stops');
      await Promise.all([worker.close(), webhooks?.close()]);
      await close(admin);
      await queue.close();
      await store.client.close();
    },
    withinMs: STOP_WITHIN_MS,
    late: 'worker not stopped in order, as where Redis is away; it ends',
  });
  process.once('SIGTERM', stop);
}

/** Prepares what the worker needs in OpenSearch. If OpenSearch can't be used, it logs why and exits. */
async function prepare(store: Store, config: Config, log: Logger): Promise<void> {
  try {
    await prepareIndices(store);
    await reconcileLedger(store);
    await addMissingLicenseTypes(store);
  } catch (error) {
    if (error instanceof SeveralLiveError) return log.error(error.message);
    const words = trouble(error, config);
    if (words === undefined) throw error;
    log.fatal(words);
    process.exit(1);
  }
}

/**
 * A job that survives being lost by the queue. If Redis comes back empty, the job still runs to its end in its process:
 * a failed progress update must not make BullMQ believe that the process is idle and give it the next job.
 */
class LosableJob extends Job {
  override updateProgress(progress: JobProgress): Promise<void> {
    return super.updateProgress(progress).catch(() => undefined);
  }
}

class PublishWorker extends Worker {
  protected override createJob(json: JobJson, id: string): Job {
    return LosableJob.fromJSON(this, json, id);
  }
}

/** Takes publish jobs and runs each in a child process. Logs, counts and records how each one ended. */
function publishWorker(config: Config, store: Store, log: Logger, metrics: WorkerMetrics): Worker {
  const processor = fileURLToPath(new URL('./publish/processor.ts', import.meta.url));
  const worker = new PublishWorker(PUBLISH_QUEUE, processor, {
    ...queueOptions(config),
    concurrency: 1,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MAX_STALLS,
    useWorkerThreads: false,
    workerForkOptions: { execArgv: CHILD_OPTIONS },
  });

  worker.on('active', ({ id: publication, attemptsStarted: attempt }) =>
    log.info({ publication, attempt }, 'publishing'),
  );
  worker.on('completed', ({ id: publication }, returned) => {
    log.info({ publication, result: returned }, 'publication ended');
    const { data: result } = publishResult.safeParse(returned);
    if (result === undefined) return;
    metrics.ended(result.state);
    if (result.state !== 'live' || result.is_found === undefined) return;
    metrics.found(result.is_found);
    if (!result.is_found) log.error({ publication }, NOT_FOUND);
  });
  worker.on('failed', async (job, error) => {
    if (error.name === UNCAUGHT) uncaughtErrors.inc();
    log.error({ publication: job?.id, error: error.message }, 'publication failed');
    if (job === undefined || job.finishedOn === undefined) return;
    metrics.ended('failed');
    try {
      const { publication } = publicationOf(job);
      await appendEvent(store, { publication, event: 'failed', reasons: [error.message] });
    } catch (failure) {
      log.error({ publication: job.id, error: String(failure) }, 'ledger not written');
    }
  });
  worker.on('stalled', (publication) => log.warn({ publication }, 'publication stalled; it starts again'));
  worker.on('error', (error) => log.error({ error: error.message }, 'worker error'));
  return worker;
}

/** Sets up the queue again after each outage of Redis. */
function setUpAfterOutages(queue: Queue, config: Config, log: Logger): void {
  let isUnderWay = false;
  queue.on('ioredis:close', async () => {
    if (isUnderWay) return;
    isUnderWay = true;
    // This call waits until Redis is back.
    await setUpQueue(queue, config).catch((error: unknown) =>
      log.error({ error: String(error) }, 'queue not set up again'),
    );
    isUnderWay = false;
  });
}

if (import.meta.main) await work().catch(endUnstarted);

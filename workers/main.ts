import { fileURLToPath } from 'node:url';
import { type Job, type Queue, Worker } from 'bullmq';
import { type Logger, pino } from 'pino';
import { type Config, readConfig } from '../src/config.ts';
import { close, httpServer, listen } from '../src/http/server.ts';
import {
  PUBLISH_QUEUE,
  publicationOf,
  publishQueue,
  queueConnection,
  queuePrefix,
} from '../src/publications/job.ts';
import { appendEvent } from '../src/publications/ledger.ts';
import { reconcileLedger } from '../src/publications/reconcile.ts';
import { publishResult } from '../src/publications/result.ts';
import { schedulePublications } from '../src/publications/schedule.ts';
import { trouble } from '../src/storage/client.ts';
import { openStore, type Store } from '../src/storage/store.ts';
import { BAD_DOCUMENT } from '../src/storage/stored.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { endOnUncaughtError, endUnstarted, UNCAUGHT, uncaughtErrors } from '../src/telemetry/process.ts';
import { adminApp } from './admin.ts';
import { type WorkerMetrics, workerMetrics } from './metrics.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const LOCK_MS = 60_000;
const STALLED_CHECK_MS = 15_000;
const STOP_WITHIN_MS = 20_000;

const CANARY_FAILED =
  'answers of lookups differ from the files; licenses rollback makes the previous publication live';

/** How many times a job whose worker was killed is retried. */
const MAX_STALLS = 3;

/**
 * A load keeps a few batches in memory, never the file. A large young generation saves garbage collections; 64 MiB
 * instead of 32 would save 5 % of the CPU and take 70 MiB more.
 */
const CHILD_MEMORY = ['--max-old-space-size=256', '--max-semi-space-size=32'];

/**
 * The worker process: takes publish jobs, one at a time however many workers there are, and runs each in a child
 * process. When it is asked to stop, a publication under way goes back to the queue.
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
  const admin = httpServer(adminApp({ config, store, queue, log }, metrics), { log });
  await listen(admin, config.ADMIN_HOST, config.WORKER_ADMIN_PORT);
  const next = await setUpQueue(queue, config);
  if (next !== undefined) log.info({ next }, 'publication scheduled');
  setUpAfterOutages(queue, config, log);

  const worker = publishWorker(config, store, log, metrics);
  log.info({ queue: PUBLISH_QUEUE, admin: admin.address() }, 'worker ready');

  let exitCode = 0;
  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= stopNow();
    return stopped;
  }

  async function stopNow(): Promise<void> {
    log.info('worker stopping');
    setTimeout(() => {
      log.error('worker not stopped in order, as where Redis is away; it ends');
      process.exit(1);
    }, STOP_WITHIN_MS);
    worker.cancelAllJobs('the worker stops');
    await worker.close();
    await close(admin);
    await queue.close();
    await store.client.close();
    process.exit(exitCode);
  }
  endOnUncaughtError(log, () => {
    exitCode = 1;
    return stop();
  });
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

/** Prepares what the worker needs in OpenSearch. Where OpenSearch can't be used, it logs why and ends the process. */
async function prepare(store: Store, config: Config, log: Logger): Promise<void> {
  try {
    await prepareIndices(store);
    await reconcileLedger(store);
  } catch (error) {
    const words = trouble(error, config);
    if (words === undefined) throw error;
    log.fatal(words);
    process.exit(1);
  }
}

/** Takes publish jobs and runs each in a child process; logs, counts and records how it ended. */
function publishWorker(config: Config, store: Store, log: Logger, metrics: WorkerMetrics): Worker {
  const processor = fileURLToPath(new URL('./publish/processor.ts', import.meta.url));
  const worker = new Worker(PUBLISH_QUEUE, processor, {
    connection: queueConnection(config),
    prefix: queuePrefix(config.INDEX_PREFIX),
    concurrency: 1,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MAX_STALLS,
    useWorkerThreads: false,
    workerForkOptions: { execArgv: CHILD_MEMORY },
  });

  worker.on('active', (job) => {
    log.info({ publication: job.id, attempt: job.attemptsStarted }, 'publishing');
    outliveQueue(job);
  });
  worker.on('completed', (job, returned) => {
    log.info({ publication: job.id, result: returned }, 'publication ended');
    const { data: result } = publishResult.safeParse(returned);
    if (result === undefined) return;
    metrics.ended(result.state);
    const differences = result.state === 'live' ? result.canary_differences : [];
    if (differences.length > 0) log.error({ publication: job.id, differences }, CANARY_FAILED);
  });
  worker.on('failed', (job, error) => {
    if (error.name === UNCAUGHT) uncaughtErrors.inc();
    log.error({ publication: job?.id, error: error.message }, 'publication failed');
    if (job === undefined || job.finishedOn === undefined) return;
    metrics.ended('failed');
    const { publication } = publicationOf(job);
    appendEvent(store, {
      publication,
      event: 'failed',
      reasons: [error.message],
    }).catch((failure: unknown) => log.error({ publication, error: String(failure) }, 'ledger not written'));
  });
  worker.on('stalled', (publication) => log.warn({ publication }, 'publication stalled; it starts again'));
  worker.on('error', (error) => log.error({ error: error.message }, 'worker error'));
  return worker;
}

/**
 * A job that the queue has lost, as when Redis comes back empty, still runs to its end in its process. A failed
 * progress update must not make BullMQ believe that the process is idle and give it the next job.
 */
function outliveQueue(job: Job): void {
  const updateProgress = job.updateProgress.bind(job);
  const log = job.log.bind(job);
  job.updateProgress = (progress) => updateProgress(progress).catch(() => undefined);
  job.log = (row) => log(row).catch(() => 0);
}

/** @returns when the next publication is due, if one is */
async function setUpQueue(queue: Queue, config: Config): Promise<Date | undefined> {
  await queue.setGlobalConcurrency(1);
  return schedulePublications(queue, config);
}

/** Sets up the queue again after each outage: a Redis that comes back empty has lost the schedule and the concurrency limit. */
function setUpAfterOutages(queue: Queue, config: Config, log: Logger): void {
  let isUnderWay = false;
  queue.on('ioredis:close', async () => {
    if (isUnderWay) return;
    isUnderWay = true;
    try {
      // Waits until Redis is back.
      await setUpQueue(queue, config);
    } catch (error) {
      log.error({ error: String(error) }, 'queue not set up again');
    } finally {
      isUnderWay = false;
    }
  });
}

if (import.meta.main) {
  try {
    await work();
  } catch (error) {
    endUnstarted(error);
  }
}

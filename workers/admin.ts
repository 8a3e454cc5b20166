import type { Queue } from 'bullmq';
import type Koa from 'koa';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import type { Config } from '../src/config.ts';
import type { RequestState } from '../src/http/app.ts';
import { daysBetween, todayInOhio } from '../src/licenses/dates.ts';
import { currentEpoch } from '../src/publications/fence.ts';
import { type PublicationTimes, publicationTimes } from '../src/publications/ledger.ts';
import { liveIndex, SeveralLiveError } from '../src/publications/metadata.ts';
import { adminApp } from '../src/service-status/admin.ts';
import { withTimeout } from '../src/storage/batcher.ts';
import type { Store } from '../src/storage/store.ts';
import { BadDocumentError } from '../src/storage/stored.ts';
import { processMetrics } from '../src/telemetry/registry.ts';
import { DELIVERY_OUTCOMES } from './webhooks/delivery.ts';
import type { Backlog, Webhooks } from './webhooks/webhooks.ts';

const ANSWER_WITHIN_MS = 3000;

/** Probes and scrapes within this time share one reading. */
const READ_FOR_MS = 1000;

interface WorkerParts {
  readonly config: Config;
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Logger;
  readonly webhooks: Webhooks | undefined;
}

/** The app of the worker's admin port. The worker is ready while it reaches OpenSearch and Redis. */
export function workerAdminApp(
  { config, store, queue, log, webhooks }: WorkerParts,
  metrics: WorkerMetrics,
): Koa<RequestState> {
  const connected = shared(() =>
    Promise.all([isThere(currentEpoch(store)), isThere(queueJobs(queue)), problemOf(store)]),
  );
  const readings = shared(() =>
    Promise.all([
      unlessAway(publicationTimes(store)),
      unlessAway(queueJobs(queue)),
      webhooks && unlessAway(webhooks.backlog()),
    ]),
  );
  return adminApp({
    config,
    log,
    readiness: async () => {
      const [opensearch, redis, problem] = await connected();
      return { ready: opensearch && redis, opensearch, redis, problem };
    },
    metrics: async () => metrics.text(...(await readings())),
  });
}

/** Limits a reading to once per second. `read` must not fail. */
function shared<Result extends object>(read: () => Promise<Result>): () => Promise<Result> {
  const known = new LRUCache<'read', Result>({ max: 1, ttl: READ_FOR_MS, fetchMethod: read });
  return async () => (await known.fetch('read')) ?? read();
}

/** The number of jobs in the publish queue, by state. */
type JobCounts = Readonly<Record<string, number>>;

/**
 * Counts the jobs of the queue. It checks the connection first: while Redis is away, a command would wait until it is
 * back, and each probe would add one more.
 */
async function queueJobs(queue: Queue): Promise<JobCounts> {
  const client = await queue.getBackend().connection.client;
  if (client.status !== 'ready') throw new Error('Redis is away.');
  // A write shows whether Redis has become a replica, which can still be read.
  await client.set(`${queue.opts.prefix}:takes-writes`, '1', { EX: 60 });
  return queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
}

/** Returns the reading, or `undefined` if OpenSearch or Redis does not answer in time. */
function unlessAway<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  return withTimeout(reading, ANSWER_WITHIN_MS).catch(() => undefined);
}

/** A server that returns an invalid document counts as reachable. */
function isThere(reading: Promise<unknown>): Promise<boolean> {
  const isRead = reading.then(
    () => true,
    (error: unknown) => error instanceof BadDocumentError,
  );
  return unlessAway(isRead).then((answer) => answer === true);
}

/** What an operator must do about the alias before anything can be published; `undefined` if nothing. */
function problemOf(store: Store): Promise<string | undefined> {
  return liveIndex(store).then(
    () => undefined,
    (error: unknown) => (error instanceof SeveralLiveError ? error.message : undefined),
  );
}

export type WorkerMetrics = ReturnType<typeof workerMetrics>;

/** The metrics of one worker process; `data/metrics.json` says what each one counts. */
export function workerMetrics() {
  const { registry, metric, gauge, gaugeBy } = processMetrics();
  let times: PublicationTimes | undefined;
  let jobs: JobCounts | undefined;
  let backlog: Backlog | undefined;
  let isFound = true;
  const publications = new Counter(metric('licenses_publications_total', 'state'));
  // Prometheus only sees an increase in a series that already exists.
  for (const state of ['live', 'skipped', 'refused', 'failed']) publications.inc({ state }, 0);
  gaugeBy('state', 'licenses_queue_jobs', () => Object.entries(jobs ?? {}));
  gaugeBy('state', 'licenses_last_publication_timestamp_seconds', () =>
    Array.from(times?.lastEvents ?? [], ([state, at]) => [state, at / 1000] as const),
  );
  gauge('licenses_publication_age_days', () => times?.live && daysBetween(times.live.date, todayInOhio()));
  gauge('licenses_published_not_found', () => (isFound ? 0 : 1));
  gauge('licenses_withheld_columns', () => times?.live?.withheld);
  const deliveries = new Counter(metric('licenses_webhook_deliveries_total', 'outcome'));
  for (const outcome of DELIVERY_OUTCOMES) deliveries.inc({ outcome }, 0);
  gauge('licenses_webhook_undelivered_seconds', () => {
    const now = Date.now();
    return backlog && (now - (backlog.since ?? now)) / 1000;
  });
  gauge('licenses_webhooks_paused', () => backlog?.paused);

  return {
    /** Counts a webhook delivery that this worker finished. */
    delivery: (outcome: (typeof DELIVERY_OUTCOMES)[number]): void => deliveries.inc({ outcome }),
    /** Counts a publication that this worker finished: `live`, `skipped`, `refused` or `failed`. */
    ended: (state: string): void => publications.inc({ state }),
    /** Records whether a lookup found a license after a publication went live. */
    found: (isAnswered: boolean): void => {
      isFound = isAnswered;
    },
    /**
     * Returns the metrics as text. Metrics whose reading is missing are left out, as while OpenSearch or Redis is away.
     *
     * @param latest the current readings of the ledger, the queue and the webhooks
     */
    text: (...latest: readonly [PublicationTimes?, JobCounts?, Backlog?]): Promise<string> => {
      [times, jobs, backlog] = latest;
      return registry.metrics();
    },
    registry,
  };
}

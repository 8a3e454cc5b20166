import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type Koa from 'koa';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Config } from '../src/config.ts';
import type { RequestState } from '../src/http/app.ts';
import { daysBetween, todayInOhio } from '../src/licenses/dates.ts';
import { currentEpoch } from '../src/publications/fence.ts';
import { type PublicationTimes, publicationTimes } from '../src/publications/ledger.ts';
import { liveIndex, SeveralLiveError } from '../src/publications/metadata.ts';
import { adminApp } from '../src/service-status/admin.ts';
import type { Store } from '../src/storage/store.ts';
import { BadDocumentError } from '../src/storage/stored.ts';
import { badDocuments, uncaughtErrors } from '../src/telemetry/process.ts';
import { DELIVERY_OUTCOMES } from './webhooks/delivery.ts';
import type { Backlog, Webhooks } from './webhooks/webhooks.ts';

const ANSWER_WITHIN_MS = 3000;

/** Probes and scrapes of a second share what was read. */
const READ_FOR_MS = 1000;

interface WorkerParts {
  readonly config: Config;
  readonly store: Store;
  readonly queue: Queue;
  readonly log: Logger;
  readonly webhooks: Webhooks | undefined;
}

/** The worker's admin port: it is ready while it reaches OpenSearch and Redis. */
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
      return { ready: opensearch && redis, opensearch, redis, ...(problem !== undefined && { problem }) };
    },
    metrics: {
      metrics: async () => metrics.text(...(await readings())),
      contentType: metrics.contentType,
    },
  });
}

/** Reads at most once a second. `read` must not fail. */
function shared<Result extends object>(read: () => Promise<Result>): () => Promise<Result> {
  const known = new LRUCache<'read', Result>({ max: 1, ttl: READ_FOR_MS, fetchMethod: read });
  return async () => (await known.fetch('read')) ?? read();
}

/** Jobs of the publish queue by state. */
type JobCounts = Readonly<Record<string, number>>;

/** While Redis is away, a command would wait until it is back, and each probe would add one. */
async function queueJobs(queue: Queue): Promise<JobCounts> {
  const client = await queue.getBackend().connection.client;
  if (client.status !== 'ready') throw new Error('Redis is away.');
  // A Redis that has become a replica can still be read.
  await client.set(`${queue.opts.prefix}:takes-writes`, '1', { EX: 60 });
  return queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
}

/** What is read, or `undefined` where OpenSearch or Redis does not answer in time. */
function unlessAway<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  const tooLate = sleep(ANSWER_WITHIN_MS, undefined, { ref: false });
  return Promise.race([reading, tooLate]).catch(() => undefined);
}

/** A server that returns an invalid document counts as reachable. */
function isThere(reading: Promise<unknown>): Promise<boolean> {
  const isRead = reading.then(
    () => true,
    (error: unknown) => error instanceof BadDocumentError,
  );
  return unlessAway(isRead).then((answer) => answer === true);
}

/** What an operator must do about the alias before anything can be published, if anything. */
function problemOf(store: Store): Promise<string | undefined> {
  return liveIndex(store).then(
    () => undefined,
    (error: unknown) => (error instanceof SeveralLiveError ? error.message : undefined),
  );
}

export type WorkerMetrics = ReturnType<typeof workerMetrics>;

/** The metrics of one worker process, Node's own included. */
export function workerMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, ...labelNames: 'state'[]) =>
    new Gauge({ name, help, labelNames, registers });
  collectDefaultMetrics({ register: registry });
  registry.registerMetric(badDocuments);
  registry.registerMetric(uncaughtErrors);
  const publications = new Counter({
    name: 'licenses_publications_total',
    help: 'Publications that this worker ended, by state (live, skipped, refused, failed)',
    labelNames: ['state'],
    registers,
  });
  // An increase is seen only of a series that was there before.
  for (const state of ['live', 'skipped', 'refused', 'failed']) publications.inc({ state }, 0);
  const jobsByState = gauge(
    'licenses_queue_jobs',
    'Jobs of the publish queue by state; absent while Redis is away',
    'state',
  );
  const lastEnded = gauge(
    'licenses_last_publication_timestamp_seconds',
    'Unix time of the latest event of a publication in this state, as the ledger has it',
    'state',
  );
  const age = gauge(
    'licenses_publication_age_days',
    'Calendar days since the run date of the live publication; absent until something is published',
  );
  const notFound = gauge(
    'licenses_published_not_found',
    'Whether a lookup through the alias found no license, right after this worker made a publication live',
  );
  const withheld = gauge(
    'licenses_withheld_columns',
    'Places, by board and column, that the live publication no longer has and the one before had',
  );
  const deliveries = new Counter({
    name: 'licenses_webhook_deliveries_total',
    help: 'Deliveries to webhooks that this worker tried, by outcome (delivered, failed, gone), or had nothing to send for (nothing)',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of DELIVERY_OUTCOMES) deliveries.inc({ outcome }, 0);
  const undelivered = gauge(
    'licenses_webhook_undelivered_seconds',
    'How long the webhook that has waited longest for its account’s changes has waited or failed, 0 while none waits; absent without WEBHOOK_SECRET_KEY and while OpenSearch is away',
  );
  const paused = gauge(
    'licenses_webhooks_paused',
    'Webhooks to which nothing is sent until they are resumed',
  );

  return {
    /** Counts a delivery to a webhook that this worker ended. */
    delivery: (outcome: (typeof DELIVERY_OUTCOMES)[number]): void => deliveries.inc({ outcome }),
    /** Counts a publication that this worker ended: `live`, `skipped`, `refused` or `failed`. */
    ended: (state: string): void => publications.inc({ state }),
    /** Whether a lookup found a license once a publication was live. */
    found: (isFound: boolean): void => notFound.set(isFound ? 0 : 1),
    /**
     * The metrics as text.
     *
     * @param times of the ledger; its metrics are absent without them, as while OpenSearch is away
     * @param jobs the jobs of the queue; absent without them, as while Redis is away
     * @param backlog of the webhooks; absent without it
     */
    text: (
      times: PublicationTimes | undefined,
      jobs: JobCounts | undefined,
      backlog: Backlog | undefined,
    ): Promise<string> => {
      for (const each of [jobsByState, lastEnded]) each.reset();
      for (const each of [age, withheld, undelivered, paused]) each.remove();
      if (backlog !== undefined) {
        paused.set(backlog.paused);
        undelivered.set(backlog.since === undefined ? 0 : (Date.now() - backlog.since) / 1000);
      }
      for (const [state, count] of Object.entries(jobs ?? {})) jobsByState.set({ state }, count);
      for (const [state, at] of times?.lastEvents ?? []) lastEnded.set({ state }, at / 1000);
      if (times?.live !== undefined) {
        age.set(daysBetween(times.live.date, todayInOhio()));
        withheld.set(times.live.withheld);
      }
      return registry.metrics();
    },
    contentType: registry.contentType,
    registry,
  };
}

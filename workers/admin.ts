import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type Koa from 'koa';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from '../src/config.ts';
import { httpApp } from '../src/http/app.ts';
import { operatorHosts, type RequestState } from '../src/http/context.ts';
import { HEALTH_ROUTE, type Route, routerOf } from '../src/http/route.ts';
import { currentEpoch } from '../src/publications/fence.ts';
import { publicationTimes } from '../src/publications/times.ts';
import type { Store } from '../src/storage/store.ts';
import { BadDocumentError } from '../src/storage/stored.ts';
import type { JobCounts, WorkerMetrics } from './metrics.ts';

const ANSWER_WITHIN_MS = 3000;

/** Probes and scrapes of a second share what was read. */
const READ_FOR_MS = 1000;

/** The worker's `/healthz` (the process lives), `/readyz` (it reaches OpenSearch and Redis) and `/metrics`. */
export function adminApp(
  { config, store, queue, log }: { config: Config; store: Store; queue: Queue; log: Logger },
  metrics: WorkerMetrics,
): Koa<RequestState> {
  const readiness = shared(() => Promise.all([isThere(currentEpoch(store)), isThere(queueJobs(queue))]));
  const readings = shared(() =>
    Promise.all([unlessAway(publicationTimes(store)), unlessAway(queueJobs(queue))]),
  );
  const routes: Route[] = [
    HEALTH_ROUTE,
    {
      method: 'GET',
      path: '/readyz',
      handle: async (ctx) => {
        const [opensearch, redis] = await readiness();
        const isReady = opensearch && redis;
        ctx.status = isReady ? 200 : 503;
        ctx.body = { ready: isReady, opensearch, redis };
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async (ctx) => {
        ctx.body = await metrics.text(...(await readings()));
        ctx.type = metrics.contentType;
      },
    },
  ];
  const app = httpApp({ log });
  app.use(operatorHosts([config.ADMIN_HOST, ...config.ADMIN_ALLOWED_HOSTS]));
  app.use(routerOf(routes).routes());
  return app;
}

/** Reads at most once a second. `read` must not fail. */
function shared<Result extends object>(read: () => Promise<Result>): () => Promise<Result> {
  const known = new LRUCache<'read', Result>({ max: 1, ttl: READ_FOR_MS, fetchMethod: read });
  return async () => (await known.fetch('read')) ?? read();
}

/** While Redis is away, a command would wait until it is back, and each probe would add one. */
async function queueJobs(queue: Queue): Promise<JobCounts> {
  const client = await queue.getBackend().connection.client;
  if (client.status !== 'ready') throw new Error('Redis is away.');
  return queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
}

/** What is read, or `undefined` where OpenSearch or Redis does not answer in time. */
function unlessAway<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  const tooLate = sleep(ANSWER_WITHIN_MS, undefined, { ref: false });
  return Promise.race([reading, tooLate]).catch(() => undefined);
}

/** Who answers with a document that is not valid is there, too. */
function isThere(reading: Promise<unknown>): Promise<boolean> {
  const isRead = reading.then(
    () => true,
    (error: unknown) => error instanceof BadDocumentError,
  );
  return unlessAway(isRead).then((answer) => answer === true);
}

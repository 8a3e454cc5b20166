import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { httpApp } from '../src/http/app.ts';
import type { RequestState } from '../src/http/context.ts';
import { HEALTH_ROUTE } from '../src/http/health.ts';
import { type Route, routerOf } from '../src/http/route.ts';
import { publicationHistory } from '../src/publications/history.ts';
import type { Store } from '../src/storage/store.ts';
import type { WorkerMetrics } from './metrics.ts';

const ANSWER_WITHIN_MS = 3000;

/** The worker's `/healthz` (the process lives), `/readyz` (it reaches OpenSearch and Redis) and `/metrics`. */
export function adminApp(
  { store, queue, log }: { store: Store; queue: Queue; log: Logger },
  metrics: WorkerMetrics,
): Koa<RequestState> {
  const readHistory = () => unlessAway(publicationHistory(store));
  const readQueue = () => unlessAway(queue.getJobCounts('waiting', 'active', 'delayed', 'failed'));
  const routes: Route[] = [
    HEALTH_ROUTE,
    {
      method: 'GET',
      path: '/readyz',
      handle: async (ctx) => {
        const [history, jobs] = await Promise.all([readHistory(), readQueue()]);
        const isReady = history !== undefined && jobs !== undefined;
        ctx.status = isReady ? 200 : 503;
        ctx.body = { ready: isReady, opensearch: history !== undefined, redis: jobs !== undefined };
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async (ctx) => {
        const [history, jobs] = await Promise.all([readHistory(), readQueue()]);
        ctx.body = await metrics.text(history, jobs);
        ctx.type = metrics.contentType;
      },
    },
  ];
  const app = httpApp({ log });
  app.use(routerOf(routes).routes());
  return app;
}

/** What is read, or `undefined` where OpenSearch or Redis does not answer in time. */
function unlessAway<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  const tooLate = sleep(ANSWER_WITHIN_MS, undefined, { ref: false });
  return Promise.race([reading, tooLate]).catch(() => undefined);
}

import { Router } from '@koa/router';
import type { Client } from '@opensearch-project/opensearch';
import { liveIndex } from '../publications/alias.ts';

/** For the operator's machine alone: whether the process lives, and whether it can answer. */
export function adminRoutes(client: Client, indexPrefix: string): Router {
  const router = new Router();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const index = await liveIndex(client, indexPrefix).catch(() => undefined);
    ctx.status = index === undefined ? 503 : 200;
    ctx.body = { ready: index !== undefined, index: index ?? null };
  });
  return router;
}

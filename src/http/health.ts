import type { Route } from './route.ts';

/** `/healthz` of every process: that it answers is the answer. */
export const HEALTH_ROUTE: Route = {
  method: 'GET',
  path: '/healthz',
  handle: (ctx) => {
    ctx.body = { status: 'ok' };
  },
};

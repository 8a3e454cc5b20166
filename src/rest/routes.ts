import { METHODS } from 'node:http';
import { Router, type RouterMiddleware } from '@koa/router';
import { BOARDS } from '../licenses/boards.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookups.ts';
import { jsonBody } from './json-body.ts';
import { verifyAnswer } from './verify-answer.ts';
import { boardNamed, verifyRequest } from './verify-request.ts';

/** Where the REST API is mounted (specification 9.1). */
export const REST_PATH = '/api/v1';

/** When POST /lookup/verify took the place of POST /lookup/cached (RFC 9745: `@` and a Unix time). */
const CACHED_DEPRECATED = '@1767225600';

/** The four endpoints of specification 4. Every other method of HTTP is known, so that it gives 405. */
export function restRoutes(lookups: Lookups): Router {
  const router = new Router({ prefix: '/lookup', methods: METHODS });

  router.get('/boards', async (ctx) => {
    const { licenseTypes } = await lookups.livePublication();
    ctx.body = {
      boards: BOARDS.map(({ name }) => name),
      board_details: Object.fromEntries(
        BOARDS.map(({ name, code }) => [name, { code, license_types: licenseTypes.get(name) ?? [] }]),
      ),
    };
  });

  router.get('/boards/:board/types', async (ctx) => {
    const { name, code } = boardNamed(ctx.params.board ?? '');
    const { licenseTypes } = await lookups.livePublication();
    ctx.body = { board: name, code, license_types: licenseTypes.get(name) ?? [] };
  });

  const verify: RouterMiddleware = async (ctx) => {
    const { outcome, date } = await lookups.lookUp(verifyRequest(await jsonBody(ctx)));
    const answer = verifyAnswer(outcome, date, todayInOhio());
    ctx.status = answer.status;
    ctx.body = answer.body;
  };
  router.post('/verify', verify);
  router.post('/cached', deprecated, verify);

  return router;
}

/** Says that the address is deprecated, and by what, before the answer is known. */
const deprecated: RouterMiddleware = async (ctx, next) => {
  ctx.set('Deprecation', CACHED_DEPRECATED);
  ctx.set('Link', `<${REST_PATH}/lookup/verify>; rel="successor-version"`);
  await next();
};

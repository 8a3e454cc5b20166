import { bodyParser } from '@koa/bodyparser';
import createError from 'http-errors';
import type { Middleware } from 'koa';

const BODY_LIMIT = '16kb';

const parse = bodyParser({
  enableTypes: ['json'],
  jsonLimit: BODY_LIMIT,
  onError: (error) => {
    throw error instanceof SyntaxError ? createError(400) : error;
  },
});

/** Middleware that reads a JSON body of at most 16 KB: 415 for another type, 413 for more, 400 for no JSON. */
export function jsonBody(): Middleware {
  return async (ctx, next) => {
    if (ctx.request.is('json') === false) throw createError(415);
    await parse(ctx, next);
  };
}

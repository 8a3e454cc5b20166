import { bodyParser } from '@koa/bodyparser';
import createError, { isHttpError } from 'http-errors';
import type { Middleware } from 'koa';

const BODY_LIMIT = '16kb';

const parse = bodyParser({
  enableTypes: ['json'],
  jsonLimit: BODY_LIMIT,
  onError: (error) => {
    throw isHttpError(error) ? error : createError(isUnknownCompression(error) ? 415 : 400);
  },
});

/** Whether the body came in a Content-Encoding that can't be undone; any other plain error is the body's own. */
function isUnknownCompression(error: Error): boolean {
  return 'status' in error && error.status === 415;
}

/**
 * Middleware that reads a JSON body of at most 16 KB: 415 for another type or compression, 413 for more, 400 for
 * no JSON.
 */
export function jsonBody(): Middleware {
  return async (ctx, next) => {
    if (ctx.request.is('json') === false) throw createError(415);
    await parse(ctx, next);
  };
}

import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { failureOf } from '../failures.ts';

const REQUEST_ID = /^[\w.:-]{1,100}$/;

/** Gives each request an id, the client's where it sent a sensible one, and sends it back. */
export function requestId(): Middleware {
  return async (ctx, next) => {
    const given = ctx.get('x-request-id');
    ctx.state.requestId = REQUEST_ID.test(given) ? given : randomUUID();
    ctx.set('x-request-id', String(ctx.state.requestId));
    await next();
  };
}

/** Headers that every answer carries: nothing is cached, framed or guessed at. */
export function securityHeaders(): Middleware {
  return async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
    if (ctx.secure) ctx.set('Strict-Transport-Security', 'max-age=31536000');
    await next();
  };
}

/** Turns whatever is thrown, and every status without a body, into `{"detail": …}`. */
export function errorAnswers(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.status >= 400 && ctx.body === undefined) ctx.throw(ctx.status);
    } catch (error) {
      answerFailure(ctx, error, log);
    }
  };
}

function answerFailure(ctx: Context, error: unknown, log: Logger): void {
  const { status, detail, retryAfter } = failureOf(error);
  if (status >= 500) {
    const stack = error instanceof Error ? error.stack : String(error);
    log.error({ requestId: ctx.state.requestId, path: ctx.path, stack }, 'request failed');
  }
  ctx.status = status;
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  ctx.body = { detail };
}

/** One log line for each request: never a key, a name searched for or anything of a holder. */
export function requestLog(log: Logger): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    log.info(
      { requestId: ctx.state.requestId, method: ctx.method, path: ctx.path, status: ctx.status, ms },
      'request',
    );
  };
}

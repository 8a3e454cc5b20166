import type { Logger } from 'pino';
import type { Context, Middleware } from './context.ts';
import { HttpsRequiredError } from './errors.ts';

/**
 * The protocol by which the client's request came, as the nearest trusted proxy says; `undefined` where none does. A proxy appends to
 * X-Forwarded-Proto or replaces it, so the last entry is its own; a client can write all others.
 *
 * `ctx.ip` follows the same rule through Koa's `maxIpsCount`; `ctx.protocol` does not: it takes the first entry.
 */
export function clientProtocol({ app, req }: Context): string | undefined {
  const header = req.headers['x-forwarded-proto'];
  if (!app.proxy || header === undefined) return undefined;
  return [header].flat().join(',').split(',').at(-1)?.trim().toLowerCase() || undefined;
}

/**
 * Refuses what came to a trusted proxy by plain http (HTTPS-03): the key could be read on its way. If the proxy does
 * not say how the request came, the request is answered, and the log warns once.
 *
 * @throws {HttpsRequiredError}
 */
export function httpsOnly(log: Logger): Middleware {
  let hasWarned = false;
  return (ctx, next) => {
    const protocol = clientProtocol(ctx);
    if (protocol === 'http') throw new HttpsRequiredError();
    if (protocol === undefined && ctx.app.proxy && !hasWarned) {
      hasWarned = true;
      log.warn('a trusted proxy sends no X-Forwarded-Proto, so plain http can not be refused');
    }
    return next();
  };
}

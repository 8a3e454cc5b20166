import type { IncomingMessage } from 'node:http';
import createError from 'http-errors';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { Outcome } from '../telemetry/outcome.ts';
import { httpsRequired } from './errors.ts';

/** What is known of a request while it is answered. */
export interface RequestState {
  /** The client's X-Request-Id if it is valid, else a new one. */
  requestId: string;
  /** The path, for the log. */
  path: string;
  /** What is done once the response has ended. An error in it is logged, and ends nothing else. */
  onClose: (() => void)[];
  /** When the request arrived, in the milliseconds of `performance.now()`. */
  arrivedAt: number;
  /** The id of the active API key that came with it. */
  keyId?: string;
  /** Milliseconds from its arrival until its key was checked. */
  keyCheckedMs?: number;
  /** The template of its route, such as `/licenses/:board/:number`, where the path says what was searched. */
  route?: string;
  /** Whether the response is a file that is in memory once for all. */
  isFile?: boolean;
  /** How the request ended, if its status code does not say it. */
  outcome?: Outcome;
}

export type Context = Koa.ParameterizedContext<RequestState>;

export type Middleware = Koa.Middleware<RequestState>;

/** Does this once the response has ended; at once where the client has left already. */
export function whenClosed(ctx: Context, work: () => void): void {
  if (ctx.res.closed) work();
  else ctx.state.onClose.push(work);
}

/** Aborts when the client closes the connection before it has its answer, or has closed it already. */
export function clientGone(ctx: Context): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(createError(400, 'The client is gone.'));
  if (ctx.req.socket.destroyed) abort();
  else whenClosed(ctx, abort);
  return gone.signal;
}

/**
 * Refuses a request that names no host, several, or another one in its address: a proxy in front might have gone by the
 * other (RFC 9112, 3.2).
 *
 * @throws {BadRequestError}
 */
export function requireOneHost({ rawHeaders, headers, url = '' }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length !== 1) throw new BadRequestError('A request has exactly one Host header.');
  const [scheme] = /^https?:\/\//i.exec(url) ?? [];
  if (scheme === undefined) return;
  const asked = URL.parse(url)?.host;
  if (asked === undefined || asked !== URL.parse(`${scheme}${headers.host}`)?.host) {
    throw new BadRequestError('The address and the Host header of a request name the same host.');
  }
}

/**
 * The protocol by which the client's request came, as the nearest trusted proxy says; `undefined` where none does. A
 * proxy appends to X-Forwarded-Proto or replaces it, so the last entry is its own; a client can write all others.
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
 * @throws {ClientError} 403
 */
export function httpsOnly(log: Logger): Middleware {
  let hasWarned = false;
  return (ctx, next) => {
    const protocol = clientProtocol(ctx);
    if (protocol === 'http') throw httpsRequired();
    if (protocol === undefined && ctx.app.proxy && !hasWarned) {
      hasWarned = true;
      log.warn('a trusted proxy sends no X-Forwarded-Proto, so plain http can not be refused');
    }
    return next();
  };
}

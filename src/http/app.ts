import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Duplex, Stream } from 'node:stream';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { Outcome } from '../access/usage.ts';
import { memoize } from '../licenses/fold.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { responseStatus } from '../storage/errors.ts';
import { onceAMinute, stackOf } from '../telemetry/process.ts';
import { uncaughtErrors } from '../telemetry/registry.ts';
import { ClientError, errorResponse, REFUSED } from './errors.ts';
import { largeResponses } from './limits.ts';

/** The state of a request while it is answered. */
export interface RequestState {
  /** The client's X-Request-Id if it is valid, else a new one. */
  requestId: string;
  /** The client's trace (W3C Trace Context), for the log. */
  traceparent?: string | undefined;
  log: Logger;
  /** The arrival time, in milliseconds of `performance.now()`. */
  arrivedAt: number;
  /** The id of the active API key that the request carries. */
  keyId?: string;
  /** The name of the account that holds the key. */
  account?: string;
  /** The milliseconds from the arrival of the request until its key was checked. */
  keyCheckedMs?: number;
  /** The path for the log. If the path would show what was searched, the route's template: `/licenses/:board/:number`. */
  path: string;
  /** Whether the response is a file that all requests share in memory. */
  isFile?: boolean;
  /** Further fields for the body of an error. The body of a 401 is fixed and has none. */
  errorFacts?: (() => Record<string, unknown>) | undefined;
  /** The JSON body as it was sent. */
  sentJson?: string;
  /** A random token. A request with an Idempotency-Key that is repeated after an interruption keeps its token. */
  onceToken?: string;
  /** How the request ended, if the status code does not show it. */
  outcome?: Outcome;
}

export type Context = Koa.ParameterizedContext<RequestState>;

export type Middleware = Koa.Middleware<RequestState>;

/** Runs `work` when the response has ended, or now if the client is gone. An error in it affects nothing else. */
export function whenClosed(ctx: Context, work: () => void): void {
  const caught = () => {
    try {
      work();
    } catch (error) {
      // If it were thrown, the process would end, and with it all other requests.
      uncaughtErrors.inc();
      logFailure(ctx, error);
    }
  };
  if (ctx.res.closed) caught();
  else ctx.res.once('close', caught);
}

/** Aborts when the client closes the connection before it has its answer, or if it has already closed it. */
export function clientGone(ctx: Context): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(new ClientError(400, 'The client is gone.'));
  if (ctx.req.socket.destroyed) abort();
  else whenClosed(ctx, () => ctx.res.writableFinished || abort());
  return gone.signal;
}

const REQUEST_ID = /^[\w.:-]{1,100}$/;

/** The format of W3C Trace Context: version, trace, parent and flags. An id of only zeros is invalid. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The client's trace; `undefined` if it is not in the format of the standard. */
export function traceparentOf(given: unknown): string | undefined {
  return typeof given === 'string' && TRACEPARENT.test(given) ? given : undefined;
}

/**
 * The headers that libraries parse, and their maximum lengths. Some libraries take quadratic time to parse them, so a
 * longer header counts as absent.
 */
const PARSED_HEADERS = [
  ['accept', 1000],
  ['accept-encoding', 1000],
  // The form parser searches for boundaries of any length, although a valid one has at most 70 characters.
  ['content-type', 200],
  ['if-none-match', 1000],
] as const;

const SECURITY_HEADERS = new Map([
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
]);

/**
 * A Koa app without routes. Every response has a request id and the security headers. Every error and every unknown
 * path is answered with `{"detail": string}`. Every request is one line in the log.
 *
 * @param stopping is aborted when the process is about to end; then every response closes its connection
 * @param trustedProxies the number of proxies in front that append the client's address to X-Forwarded-For
 */
export function httpApp(log: Logger, stopping?: AbortSignal, trustedProxies = 0): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  const hold = largeResponses(log);
  const noteRefusal = refusalLog(log);
  app.on('error', (error: unknown) => log.warn({ error: String(error) }, 'response failed'));
  // This must be the first middleware: Koa answers errors thrown outside it with plain text.
  app.use(async (ctx, next) => {
    begin(ctx, log);
    try {
      for (const [name, characters] of PARSED_HEADERS)
        if ((ctx.req.headers[name]?.length ?? 0) > characters) delete ctx.req.headers[name];
      ctx.state.path = readPath(ctx);
      if (clientProtocol(ctx) === 'https') ctx.set('strict-transport-security', 'max-age=31536000');
      await next();
      if (ctx.status === 404 && ctx.body === undefined) throw REFUSED.nothingHere();
      const bytes = bodySize(ctx);
      if (bytes >= LARGE_BYTES) hold(ctx, ctx.state.isFile === true ? 0 : bytes, bytes);
    } catch (error) {
      answerError(ctx, error, noteRefusal);
    }
    if (stopping?.aborted === true) ctx.set('connection', 'close');
  });
  return app;
}

/** Smaller responses fit into the buffers of their connections, and the number of connections is limited. */
const LARGE_BYTES = 64 * 1024;

/** The number of bytes of the body in memory; 0 for a stream of unknown length. */
function bodySize(ctx: Context): number {
  const body: unknown = ctx.body;
  const isWritten = body instanceof Stream || Buffer.isBuffer(body) || typeof body === 'string';
  // Koa would serialize the body later; the size is needed now.
  if (!isWritten && body != null) ctx.body = JSON.stringify(body);
  return ctx.response.length ?? 0;
}

/**
 * The path of a request. Refuses a request without a host, with several, or with a different one in its address: a
 * proxy in front might have used the other host (RFC 9112, 3.2).
 *
 * @throws {BadRequestError} also for an invalid address
 */
function readPath(ctx: Context): string {
  const { rawHeaders, headers, url = '' } = ctx.req;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length !== 1) throw new BadRequestError('Send exactly one Host header.');
  const [scheme] = /^https?:\/\//i.exec(url) ?? [];
  const hostOf = (address: string) => URL.parse(address)?.host ?? '';
  if (scheme !== undefined && (hostOf(url) === '' || hostOf(url) !== hostOf(`${scheme}${headers.host}`)))
    throw new BadRequestError('The address and the Host header must name the same host.');
  try {
    return ctx.path;
  } catch {
    throw new BadRequestError('The address of this request cannot be read.');
  }
}

/** The last response of each connection. The answer to a broken request waits for it. */
export const lastResponses = new WeakMap<Duplex, ServerResponse>();

/** Sets the headers of every response, and logs the request when the response has ended. */
function begin(ctx: Context, log: Logger): void {
  ctx.state.arrivedAt = performance.now();
  lastResponses.set(ctx.req.socket, ctx.res);
  const { 'x-request-id': given = '', traceparent } = ctx.req.headers;
  ctx.state.requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
  ctx.state.traceparent = traceparentOf(traceparent);
  ctx.state.path = '(unreadable)';
  ctx.state.log = log;
  ctx.res.setHeaders(SECURITY_HEADERS);
  ctx.res.setHeader('x-request-id', ctx.state.requestId);
  // A large response has 11 listeners, ours and Koa's together. Node would warn of a leak at more than ten.
  ctx.res.setMaxListeners(20);
  whenClosed(ctx, () => logRequest(ctx));
}

/** Counts refused requests by reason, such as an OpenSearch outage. Logs at most one line per minute and reason. */
function refusalLog(log: Logger): (error: unknown) => void {
  const counterOf = memoize((error) =>
    onceAMinute((requests, last: object) =>
      log.error({ requests, error, ...last }, 'requests refused with 503'),
    ),
  );
  return (error) => {
    const example = String(error).slice(0, 300);
    const name = error instanceof Error ? error.constructor.name : typeof error;
    counterOf(name)({ openSearchStatus: responseStatus(error), example });
  };
}

/** Answers an error with `{"detail": string}`. Only unexpected errors are logged with their stack. */
function answerError(ctx: Context, error: unknown, noteRefusal: (error: unknown) => void): void {
  const { status, detail, retryAfter } = errorResponse(error);
  if (status === 503) noteRefusal(error);
  // 501: the operator has not configured the requested feature.
  else if (status >= 500 && status !== 501) logFailure(ctx, error);
  if (retryAfter !== undefined) ctx.set('retry-after', String(retryAfter));
  // These headers belong to the response that is not sent.
  for (const name of ['content-disposition', 'content-encoding']) ctx.remove(name);
  delete ctx.state.outcome;
  ctx.status = status;
  ctx.body = status === 401 ? { detail } : { detail, ...ctx.state.errorFacts?.() };
}

export function logFailure({ state: { log, requestId, path } }: Context, error: unknown): void {
  log.error(
    { requestId, path, openSearchStatus: responseStatus(error), stack: stackOf(error) },
    'request failed',
  );
}

/** Logs one line per request. It never contains a key, a searched name or data of a holder. */
function logRequest({ state, method, status }: Context): void {
  const { log, requestId, traceparent, path, arrivedAt } = state;
  const ms = Math.round((performance.now() - arrivedAt) * 10) / 10;
  log.info({ requestId, traceparent, method, path, status, ms }, 'request');
}

/**
 * The protocol of the client's request according to the nearest trusted proxy; `undefined` if it reports none. A proxy
 * appends to X-Forwarded-Proto or replaces it, so the last entry is the proxy's own; clients can forge all others.
 *
 * `ctx.ip` follows the same rule through Koa's `maxIpsCount`. `ctx.protocol` does not: it takes the first entry.
 */
export function clientProtocol({ app, req }: Context): string | undefined {
  const header = req.headers['x-forwarded-proto'];
  if (!app.proxy || header === undefined) return undefined;
  return [header].flat().join(',').split(',').at(-1)?.trim().toLowerCase() || undefined;
}

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import createError from 'http-errors';
import Koa from 'koa';
import type compose from 'koa-compose';
import type { Logger } from 'pino';
import { ConfigError } from '../config.ts';
import type { Context, RequestState } from './context.ts';
import { errorResponse } from './errors.ts';
import { clientProtocol } from './proxies.ts';

/** Clients that send more slowly than this, or stop half-way, are disconnected. */
const MAX_HEADERS_MS = 5000;
const MAX_REQUEST_MS = 10_000;
const CHECK_INTERVAL_MS = 1000;
/** A connection with a response in progress may be idle for at most this long. */
const MAX_STANDSTILL_MS = 10_000;
/** Longer than proxies keep an idle connection, so that they close it first. */
const MAX_IDLE_MS = 75_000;
const MAX_CONNECTIONS = 10_000;
const CLOSE_IDLE_INTERVAL_MS = 100;

const UNRESERVED = /^[\w.~-]$/;

const REQUEST_ID = /^[\w.:-]{1,100}$/;

/**
 * The headers that libraries parse, and how many characters are read of each. Some take quadratic time for them, so a
 * longer header counts as absent.
 */
const PARSED_HEADERS = [
  ['accept', 1000],
  ['accept-charset', 1000],
  ['accept-encoding', 1000],
  ['accept-language', 1000],
  // The parser of forms searches for a boundary, of at most 70 characters, as long as it is.
  ['content-type', 200],
  ['cookie', 1000],
  ['if-none-match', 1000],
  ['range', 1000],
] as const;

/** No caching, no framing, no guessing of media types. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

interface HttpAppOptions {
  readonly log: Logger;
  /** How many proxies in front of it append the client's address to X-Forwarded-For. */
  readonly trustedProxies?: number;
  /** Whether the process is about to end; then every response closes its connection. */
  readonly isStopping?: () => boolean;
}

/**
 * A Koa app without routes. Every response has a request id and the security headers; every error and every path
 * that nothing serves is answered with `{"detail": string}`; every request is one line in the log.
 */
export function httpApp({
  log,
  trustedProxies = 0,
  isStopping = () => false,
}: HttpAppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.on('error', (error: unknown) => log.warn({ error: String(error) }, 'response failed'));
  app.use((ctx, next) => {
    dropLongHeaders(ctx.req.headers);
    if (ctx.path.includes('%')) ctx.path = normalizedPath(ctx.path);
    ctx.state.arrivedAt = performance.now();
    ctx.state.requestId = requestId(ctx.req.headers['x-request-id']);
    ctx.set(SECURITY_HEADERS);
    ctx.set('x-request-id', ctx.state.requestId);
    if (clientProtocol(ctx) === 'https') ctx.set('strict-transport-security', 'max-age=31536000');
    ctx.res.once('close', () => logRequest(ctx, log));
    return next();
  });
  app.use(async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) throw createError(404);
    } catch (error) {
      answerError(ctx, error, log);
    }
    if (isStopping()) ctx.set('connection', 'close');
  });
  return app;
}

function dropLongHeaders(headers: IncomingHttpHeaders): void {
  for (const [name, characters] of PARSED_HEADERS) {
    if ((headers[name]?.length ?? 0) > characters) delete headers[name];
  }
}

/** Applies middleware to a path and all paths below it. */
export function under<Ctx extends Context>(
  path: string,
  middleware: compose.Middleware<Ctx>,
): compose.Middleware<Ctx> {
  return (ctx, next) =>
    ctx.path === path || ctx.path.startsWith(`${path}/`) ? middleware(ctx, next) : next();
}

/** The path in which letters, digits and `-._~` are not percent-encoded: it means the same (RFC 3986, 6.2.2.2). */
function normalizedPath(path: string): string {
  return path.replaceAll(/%[2-7][0-9a-f]/gi, (encoded) => {
    const character = decodeURIComponent(encoded);
    return UNRESERVED.test(character) ? character : encoded;
  });
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Turns whatever is thrown into `{"detail": string}`; only errors of the service are logged with their stack. */
function answerError(ctx: Context, error: unknown, log: Logger): void {
  const { status, detail, retryAfter } = errorResponse(error);
  if (status >= 500) logFailure(ctx, error, log);
  if (retryAfter !== undefined) ctx.set('retry-after', String(retryAfter));
  ctx.status = status;
  ctx.body = { detail };
}

/** Logs an error of the service with its stack. */
export function logFailure({ state, path }: Context, error: unknown, log: Logger): void {
  const stack = error instanceof Error ? error.stack : String(error);
  log.error({ requestId: state.requestId, path: state.route ?? path, stack }, 'request failed');
}

/** One log line for each request, never with a key, a name that was searched for or data of a holder. */
function logRequest({ state, method, path, status }: Context, log: Logger): void {
  const ms = Math.round((performance.now() - state.arrivedAt) * 10) / 10;
  log.info({ requestId: state.requestId, method, path: state.route ?? path, status, ms }, 'request');
}

/** An HTTP server for an app. It cuts off slow and half-open clients. */
export function httpServer(app: Koa<RequestState>): Server {
  const server = createServer(
    {
      headersTimeout: MAX_HEADERS_MS,
      requestTimeout: MAX_REQUEST_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: MAX_IDLE_MS,
    },
    app.callback(),
  );
  server.setTimeout(MAX_STANDSTILL_MS);
  server.maxConnections = MAX_CONNECTIONS;
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => responses.set(socket, response));
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, responses.get(socket)));
  return server;
}

const BROKEN_REQUEST: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/** Answers what is not an HTTP request, after the response to the request before it. The app never sees it. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, before?: ServerResponse): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (before?.req.complete === true && !before.writableFinished) {
    before.once('close', () => answerBrokenRequest(error, socket));
    return;
  }
  const body = '{"detail":"This is not a request that can be answered."}';
  const status = BROKEN_REQUEST.get(error.code ?? '') ?? '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
}

/** Starts listening. @throws {ConfigError} naming the address and port when it can't */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ConfigError(`Can't listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
}

/** Takes no new connection, and ends once the requests in flight are answered. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // A connection whose request is answered only now is idle only now.
    const closingIdle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_INTERVAL_MS);
    server.close(() => {
      clearInterval(closingIdle);
      resolve();
    });
  });
}

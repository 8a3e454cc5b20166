import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import createError from 'http-errors';
import inflate from 'inflation';
import type { Logger } from 'pino';
import { failureOf } from '../failures.ts';
import type { Outcome } from '../outcome.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the active key that came with it. */
    keyId: string | null;
    /** Milliseconds from its arrival until its key was known; what the client took for the body is its own. */
    spentMs: number;
  }
  interface FastifyReply {
    /** How the request ended, where its status does not tell. */
    outcome: Outcome | null;
  }
}

const MOST_BODY_BYTES = 16 * 1024;

/** Clients that are slower than this, or stop half-way, are cut off. */
const HEADERS_WITHIN_MS = 5000;
const WHOLE_REQUEST_WITHIN_MS = 10_000;
const CHECKED_EVERY_MS = 1000;
/** While an answer is on its way, nothing may stand still for as long. */
const STANDSTILL_MS = 10_000;
/** Longer than proxies keep an idle connection, so that they close it first. */
const IDLE_MS = 75_000;
const MOST_CONNECTIONS = 10_000;

/** Node reads no longer request line and headers. */
const MOST_ADDRESS_CHARACTERS = 16 * 1024;

/** The values of Content-Encoding that can be undone. */
const PACKINGS = ['gzip', 'deflate', 'br'];

const REQUEST_ID = /^[\w.:-]{1,100}$/;

/** Nothing is cached, framed or guessed at. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/**
 * A server without routes. Every answer of it has an id (the client's, where it sent a sensible one) and the
 * security headers; whatever fails is answered with `{"detail": …}`; bodies have at most 16 KB, packed or not;
 * slow and half-open clients are cut off.
 *
 * @param trustedProxies how many proxies stand before it, each of which tells the address it was asked from
 */
export function httpApp(log: Logger, trustedProxies = 0): FastifyInstance {
  const app = fastify({
    bodyLimit: MOST_BODY_BYTES,
    // Fields that nobody asked for are ignored, whatever they are called.
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    trustProxy: trustedProxies > 0 ? (_address, hop) => hop < trustedProxies : false,
    http: { headersTimeout: HEADERS_WITHIN_MS, connectionsCheckingInterval: CHECKED_EVERY_MS },
    requestTimeout: WHOLE_REQUEST_WITHIN_MS,
    connectionTimeout: STANDSTILL_MS,
    keepAliveTimeout: IDLE_MS,
    routerOptions: { maxParamLength: MOST_ADDRESS_CHARACTERS, ignoreTrailingSlash: true },
    requestIdHeader: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => decodable(url),
    clientErrorHandler: answerBrokenRequest,
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  app.decorateRequest('keyId', null);
  app.decorateRequest('spentMs', 0);
  app.decorateReply('outcome', null);
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', (request, reply, done) => {
    setOwnHeaders(request, reply);
    done();
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const packing = request.headers['content-encoding'] ?? 'identity';
    if (packing === 'identity') done(null, payload);
    else if (PACKINGS.includes(packing)) done(null, unpacked(request));
    else done(createError(415));
  });
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply, log);
    done();
  });
  app.setNotFoundHandler(notFound);
  app.setErrorHandler((error, request, reply) => answerFailure(request, reply, error, log));
  return app;
}

/** For addresses that there are not. */
export function notFound(): never {
  throw createError(404);
}

/** Answers every other method at this address with 405 and those that it takes. */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    onRequest: (_request, reply, done) => {
      reply.header('Allow', allowed.join(', '));
      done(createError(405));
    },
    handler: notFound,
  });
}

/**
 * The address with a path that can be decoded: where a percent sign encodes nothing, all of them stand for
 * themselves, so that such an address meets the same limit, key and 404 as any other.
 */
function decodable(url: string): string {
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

/** The path that was asked for; what stands behind `?` is never logged. */
export function pathOf({ url }: FastifyRequest): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

function setOwnHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
  if (request.protocol === 'https') reply.header('strict-transport-security', 'max-age=31536000');
}

/** A packed body as it was before. */
function unpacked({ raw }: FastifyRequest) {
  const stream = Object.assign(inflate(raw), { receivedEncodedLength: 0 });
  raw.on('data', (chunk: Buffer) => {
    stream.receivedEncodedLength += chunk.length;
  });
  return stream;
}

/** Turns whatever is thrown into `{"detail": …}`; only what is our own fault is logged with its stack. */
function answerFailure(request: FastifyRequest, reply: FastifyReply, error: unknown, log: Logger): void {
  const { status, detail, retryAfter } = failureOf(error);
  if (status >= 500) {
    const stack = error instanceof Error ? error.stack : String(error);
    log.error({ requestId: request.id, path: pathOf(request), stack }, 'request failed');
  }
  if (retryAfter !== undefined) reply.header('Retry-After', String(retryAfter));
  reply.code(status).send({ detail });
}

const BROKEN_REQUEST: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** The answer to what is no request at all, for which no route is ever asked. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const body = '{"detail":"This is not a request that can be answered."}';
  const status = BROKEN_REQUEST[error.code ?? ''] ?? '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
}

/** One log line for each request: never a key, a name searched for or anything of a holder. */
function logRequest(request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  const { id: requestId, method } = request;
  log.info({ requestId, method, path: pathOf(request), status: reply.statusCode, ms }, 'request');
}

import { METHODS } from 'node:http';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Router, type RouterContext } from '@koa/router';
import createError from 'http-errors';
import type Koa from 'koa';
import type compose from 'koa-compose';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Outcome } from '../access/usage.ts';

/** What is known of a request while it is answered. */
export interface RequestState {
  /** The client's X-Request-Id if it is valid, else a new one. */
  requestId: string;
  /** The trace that the client says its request is part of (W3C Trace Context), for the log. */
  traceparent?: string | undefined;
  /** The path, for the log. */
  path: string;
  /** What is done once the response has ended. An error in it is logged, and ends nothing else. */
  onClose: (() => void)[];
  /** When the request arrived, in the milliseconds of `performance.now()`. */
  arrivedAt: number;
  /** The id of the active API key that came with it. */
  keyId?: string;
  /** The id of the account that holds the key. */
  account?: string;
  /** Milliseconds from its arrival until its key was checked. */
  keyCheckedMs?: number;
  /** The template of its route, such as `/licenses/:board/:number`, where the path says what was searched. */
  route?: string;
  /** Whether the response is a file that is in memory once for all. */
  isFile?: boolean;
  /** What the body of an error has beside its detail; the one of a 401 is fixed. */
  errorFacts?: () => Record<string, unknown>;
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

/** Applies middleware to a path and all paths below it. */
export function under<Ctx extends Context>(
  path: string,
  middleware: compose.Middleware<Ctx>,
): compose.Middleware<Ctx> {
  return (ctx, next) =>
    ctx.path === path || ctx.path.startsWith(`${path}/`) ? middleware(ctx, next) : next();
}

/** One operation of the service: its address, its OpenAPI entry and its handler. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, with parameters as @koa/router takes them, such as `/lookup/boards/:board/types`. */
  readonly path: string;
  /** Its entry in the OpenAPI document: schemas, possible responses, examples. Pages have none. */
  readonly operation?: ZodOpenApiOperationObject;
  readonly handle: (ctx: RouterContext<RequestState>) => void | Promise<void>;
}

/** Serves the routes. Every other method at one of their paths gets 405 with Allow. */
export function routerOf(routes: readonly Route[]): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true });
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path)) {
    const handlers = new Map<string, Route['handle']>();
    for (const { method, handle } of atPath) {
      if (method === 'GET') handlers.set('HEAD', handle);
      handlers.set(method, handle);
    }
    const allowed = [...handlers.keys()].join(', ');
    router.register(path, METHODS, (ctx) => {
      const handle = handlers.get(ctx.method);
      if (handle !== undefined) return handle(ctx);
      ctx.set('Allow', allowed);
      throw createError(405);
    });
  }
  return router;
}

/** Smaller files fit into one packet, compressed or not. */
const COMPRESSED_FROM_BYTES = 1024;

/** The route of a file that never changes while the process runs, compressed once. Fonts are compressed already. */
export async function staticFile(
  path: string,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Route> {
  const plain = Buffer.from(content);
  const extension = posix.extname(path);
  const isCompressible = extension !== '.woff2' && plain.length >= COMPRESSED_FROM_BYTES;
  const compressed = isCompressible ? await promisify(gzip)(plain) : undefined;
  return {
    method: 'GET',
    path,
    handle: (ctx) => {
      ctx.state.isFile = true;
      ctx.set(headers);
      ctx.type = extension || 'html';
      ctx.body = plain;
      if (compressed === undefined) return;
      ctx.vary('Accept-Encoding');
      if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
      ctx.set('content-encoding', 'gzip');
      ctx.body = compressed;
    },
  };
}

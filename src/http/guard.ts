import { METHODS } from 'node:http';
import { Router, type RouterContext } from '@koa/router';
import createError from 'http-errors';
import compose from 'koa-compose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ZodOpenApiCallbacksObject } from 'zod-openapi';
import { accountId } from '../access/accounts.ts';
import type { KeyCheck } from '../access/api-keys.ts';
import type { FirstAnswers } from '../access/first-answers.ts';
import { type RateLimit, type Spent, TooManyRequestsError } from '../access/rate-limit.ts';
import { type KeyUsage, statusOutcome } from '../access/usage.ts';
import { BadRequestError, checked } from '../licenses/lookup.ts';
import { requestSeconds } from '../telemetry/metrics.ts';
import { type Context, httpsOnly, type Middleware, type RequestState, whenClosed } from './app.ts';
import { type BodyLimit, jsonBody } from './body.ts';
import { ClientError, invalidKey } from './errors.ts';

const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

/** What is served at an address. */
export interface Route {
  readonly method: (typeof ROUTE_METHODS)[number];
  /** The path, with parameters as @koa/router takes them, such as `/lookup/boards/:board/types`. */
  readonly path: string;
  readonly handle: (ctx: RouterContext<RequestState>) => void | Promise<void>;
  /** What the OpenAPI document says of it. Pages have none. */
  readonly operation?: Operation;
}

/** What a request sends, by where it is sent. */
type InputShape = {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
};

/** A response of an operation. */
export interface ResponseEntry {
  readonly when: string;
  /** Of its JSON body. A success without one has none; an error without one has `{"detail": string}`. */
  readonly body?: z.ZodType;
  /** Its further headers: their types and what they say. */
  readonly headers?: Readonly<Record<string, readonly [type: 'string' | 'integer', says: string]>>;
  /** The schemas of other media types that it may have. */
  readonly alternatives?: Readonly<Record<string, z.ZodType>>;
}

/** What the OpenAPI document says of an operation. The errors that each operation has follow from it. */
export interface Operation<Shape extends InputShape = InputShape> {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What is read of a request before it is answered. */
  readonly input: Shape;
  /** The body as the document shows it, where the schema that reads it can't tell. */
  readonly shownBody?: z.ZodType;
  /** Of the body. */
  readonly limit?: BodyLimit;
  /** Headers of all its responses that are not refused before it reads the request: values, and what they say. */
  readonly headers?: Readonly<Record<string, readonly [value: string, says: string]>>;
  /** By status. */
  readonly responses: Readonly<Record<number, ResponseEntry>>;
  readonly isDeprecated?: true;
  /** Whether it takes requests without a key, which no limit of the REST API counts. */
  readonly isOpen?: true;
  readonly callbacks?: ZodOpenApiCallbacksObject;
  /** Where it answers a request that is repeated with its Idempotency-Key with the first answer. */
  readonly firstAnswers?: FirstAnswers;
}

interface Endpoint<Shape extends InputShape> extends Operation<Shape>, Pick<Route, 'method' | 'path'> {
  /** @returns the body of the response; `undefined` where it is set already */
  readonly handle: (ctx: Context, input: z.output<z.ZodObject<Shape>>) => Promise<unknown>;
}

/**
 * One operation of the REST API: its address, what it reads, its handler and its entry in the OpenAPI document.
 *
 * @throws {BadRequestError} when a request does not fit the schemas, with their first message
 */
export function endpoint<const Shape extends InputShape>({
  method,
  path,
  handle,
  ...operation
}: Endpoint<Shape>): Route {
  const { id, input, limit, headers = {}, firstAnswers } = operation;
  const schema = z.object(input);
  return {
    method,
    path,
    operation,
    handle: async (ctx) => {
      for (const [name, [value]] of Object.entries(headers)) ctx.set(name, value);
      const body = input.body === undefined ? undefined : await jsonBody(ctx, limit);
      const sent = { params: ctx.params, query: input.query && sentQuery(ctx), body };
      const work = async () => {
        const answer = await handle(ctx, checked(schema, sent));
        if (answer !== undefined) ctx.body = answer;
      };
      await (firstAnswers === undefined ? work() : onceWithKey(ctx, id, firstAnswers, work));
    },
  };
}

const KEY_WORDS = 'Idempotency-Key takes 1 to 255 visible ASCII characters, without blanks.';
const KEY_USE =
  'A UUID, for example. For a day, the same request with it gets the first answer, if a success';

/** The header with which a client repeats a request without fear. */
export const idempotencyHeader = z.object({
  'idempotency-key': z
    .stringFormat('key', /^[\x21-\x7e]{1,255}$/, KEY_WORDS)
    .optional()
    .describe(KEY_USE),
});

/** Does the work of a request, or repeats the first answer to its Idempotency-Key, if it has one. */
async function onceWithKey(
  ctx: Context,
  operation: string,
  answers: FirstAnswers,
  work: () => Promise<void>,
) {
  const { 'idempotency-key': key } = checked(idempotencyHeader, ctx.headers);
  if (key === undefined) return work();
  const request = { account: accountOf(ctx), operation, key, body: ctx.state.sentJson ?? '' };
  const first = answers(request, async () => {
    await work();
    const body = typeof ctx.body === 'string' ? ctx.body : JSON.stringify(ctx.body);
    return { status: ctx.status, type: ctx.type, body };
  });
  Object.assign(ctx, await first);
}

/**
 * What makes the operations of one resource: they have a tag in the OpenAPI document.
 *
 * @param base the path of the API
 * @param shared the responses that each of them has
 */
export function resource(base: string, tag: string, shared: Operation['responses'] = {}) {
  return <const Shape extends InputShape>(
    route: `${Route['method']} /${string}`,
    { responses, ...own }: Omit<Endpoint<Shape>, 'method' | 'path' | 'tag'>,
  ): Route => {
    const method = ROUTE_METHODS.find((each) => route.startsWith(`${each} `)) ?? 'GET';
    const path = base + route.slice(method.length + 1);
    return endpoint({ ...own, method, path, tag, responses: { ...responses, ...shared } });
  };
}

/**
 * The query parameters of a request, without those that are blank.
 *
 * @throws {BadRequestError} for a parameter that is sent twice
 */
function sentQuery({ query }: Pick<Context, 'query'>): Record<string, unknown> {
  const sent = Object.entries(query).flatMap(([name, value]) => {
    if (Array.isArray(value)) throw new BadRequestError(`${name} is sent twice; send it once.`);
    return value?.trim() === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(sent);
}

/** The id of the account that holds the request's key. Every route behind `guarded` has one. */
export function accountOf({ state: { account } }: Pick<Context, 'state'>): string {
  if (account === undefined) throw new Error('The key of this request was not checked.');
  return accountId(account);
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

/** Applies middleware to a path and all paths below it. */
export function under<Ctx extends Context>(
  path: string,
  middleware: compose.Middleware<Ctx>,
): compose.Middleware<Ctx> {
  return (ctx, next) =>
    ctx.path === path || ctx.path.startsWith(`${path}/`) ? middleware(ctx, next) : next();
}

/** What every request passes before its route. */
export interface Guards {
  readonly log: Logger;
  readonly usage: KeyUsage;
  readonly keys: KeyCheck;
  readonly limit: RateLimit;
  readonly badKeyLimit: RateLimit;
  /** What the errors of an address have beside their detail, by its path. */
  readonly errorFacts: ReadonlyMap<string, () => Record<string, unknown>>;
}

/** Everything under a path. A request is counted and limited before its key is checked. */
export function guarded(
  path: string,
  routes: readonly Route[],
  { log, usage, keys, limit, badKeyLimit, errorFacts }: Guards,
) {
  return under(
    path,
    compose([
      counted('rest', usage, errorFacts),
      limited(limit),
      httpsOnly(log),
      authenticated(keys, limit, badKeyLimit),
      routerOf(routes).routes(),
    ]),
  );
}

/**
 * Counts how each request at an interface ended and how long it took, and for whose key.
 *
 * @param errorFacts what the body of an error has beside its detail, by the path
 */
export function counted(
  name: 'rest' | 'mcp' | 'web',
  usage: KeyUsage,
  errorFacts?: Guards['errorFacts'],
): Middleware {
  return (ctx, next) => {
    ctx.state.errorFacts = errorFacts?.get(ctx.path);
    whenClosed(ctx, () => {
      const { arrivedAt, keyId, outcome = statusOutcome(ctx.status) } = ctx.state;
      requestSeconds.observe({ interface: name, outcome }, (performance.now() - arrivedAt) / 1000);
      if (keyId !== undefined) usage.count(keyId, outcome);
    });
    return next();
  };
}

/** Counts each request before anything else, and sets the headers that say what is left. */
export function limited(limit: RateLimit): Middleware {
  return async (ctx, next) => {
    await spendMore(ctx, limit, 1);
    return next();
  };
}

/**
 * Lets only requests with an active API key pass (KEYS-03). A request with a bad key counts against the address's
 * limit for bad keys instead of its general limit. Once that limit is reached, only keys that this process has seen
 * active are checked. So nobody can guess keys fast, and good keys from the same address still work.
 */
function authenticated(keys: KeyCheck, general: RateLimit, badKeys: RateLimit): Middleware {
  return async (ctx, next) => {
    const key = keys(String(ctx.req.headers['x-api-key'] ?? ''));
    if (key !== undefined) {
      const isChecked = key.hasBeenActive() || (await badKeys.hasLeft(ctx.ip));
      const account = isChecked ? await key.activeAccount() : undefined;
      if (account !== undefined) {
        ctx.state.keyId = key.id;
        ctx.state.account = account;
        ctx.state.keyCheckedMs = performance.now() - ctx.state.arrivedAt;
        return next();
      }
    }
    await general.giveBack(ctx.ip);
    await spend(ctx, badKeys);
    throw invalidKey();
  };
}

/** Counts points for a request. @throws {TooManyRequestsError} when they are over what is left; then none is counted */
export async function spend(ctx: Context, limit: RateLimit, points = 1): Promise<Spent> {
  try {
    return await limit.spend(ctx.ip, points);
  } catch (error) {
    if (error instanceof TooManyRequestsError) {
      setLimitHeaders(ctx, limit, 0, Math.ceil(Date.now() / 1000) + error.retryAfterSeconds);
    }
    throw error;
  }
}

/** Counts points as `spend` does, if there are any; the headers always say what is left. */
export async function spendMore(ctx: Context, limit: RateLimit, points: number): Promise<void> {
  if (points <= 0) return;
  const { remaining, msBeforeReset } = await spend(ctx, limit, points);
  setLimitHeaders(ctx, limit, remaining, Math.ceil((Date.now() + msBeforeReset) / 1000));
}

/** @param reset when the count starts again, in Unix seconds */
function setLimitHeaders(ctx: Context, limit: RateLimit, remaining: number, reset: number): void {
  ctx.set('x-ratelimit-limit', String(limit.limitFor(ctx.ip)));
  ctx.set('x-ratelimit-remaining', String(remaining));
  ctx.set('x-ratelimit-reset', String(reset));
}

/** What a roster costs an address. */
export interface RosterCost {
  readonly limit: RateLimit;
  /** How many items cost as much as one request. */
  readonly itemsPerRequest: number;
}

/**
 * Counts the items of a roster against the address's limit. One point was counted when the request arrived.
 *
 * @throws {ClientError} 413 for more items than a whole minute's limit
 * @throws {TooManyRequestsError} for more than what is left of it
 */
export async function spendForItems(
  ctx: Context,
  items: number,
  { limit, itemsPerRequest }: RosterCost,
): Promise<void> {
  const points = Math.ceil(items / itemsPerRequest);
  const allowed = limit.limitFor(ctx.ip);
  if (points > allowed) {
    throw new ClientError(
      413,
      `This request is for ${items} licenses; your limit of ${allowed} requests a minute allows at most ${allowed * itemsPerRequest}. Ask for fewer.`,
    );
  }
  await spendMore(ctx, limit, points - 1);
}

import { METHODS } from 'node:http';
import { Router, type RouterContext } from '@koa/router';
import type Koa from 'koa';
import type compose from 'koa-compose';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { accountId } from '../access/accounts.ts';
import type { KeyCheck } from '../access/api-keys.ts';
import type { FirstAnswers } from '../access/first-answers.ts';
import { type RateLimit, type Spent, TooManyRequestsError } from '../access/rate-limit.ts';
import { type KeyUsage, statusOutcome } from '../access/usage.ts';
import { BadRequestError, checked } from '../licenses/lookup.ts';
import { requestSeconds } from '../telemetry/metrics.ts';
import { type Context, clientProtocol, type Middleware, type RequestState, whenClosed } from './app.ts';
import { type BodyLimit, jsonBody } from './body.ts';
import { ClientError, REFUSED } from './errors.ts';

/** The path under which the REST API is served (VERSIONS-01). */
export const REST_PATH = '/api/v1';

/** A route: a method, a path and its handler. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with parameters in the syntax of @koa/router, such as `/lookup/boards/:board/types`. */
  readonly path: string;
  readonly handle: (ctx: RouterContext<RequestState>) => void | Promise<void>;
  /** The entry in the OpenAPI document. Pages have none. */
  readonly operation?: Operation;
}

/** A route for GET that is not an operation of the REST API. */
export function get(path: string, handle: Route['handle']): Route {
  return { method: 'GET', path, handle };
}

/** The schemas of a request's input: path parameters, query and body. */
type InputShape = {
  readonly path?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
};

/** A response of an operation. */
export interface ResponseEntry {
  readonly when: string;
  /** The schema of the JSON body. Without it, a success has no body, and an error has `{"detail": string}`. */
  readonly body?: z.ZodType;
  /** An error to show as the example if no response was recorded. */
  readonly error?: Error;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, HeaderEntry>>;
  /** Further media types of the response. */
  readonly alternatives?: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

/** An object schema with a name in the OpenAPI document. */
export function named<Shape extends z.ZodRawShape>(id: string, shape: Shape, description?: string) {
  return z.object(shape).meta({ id, ...(description !== undefined && { description }) });
}

type HeaderEntry = ReturnType<typeof header>;

/** A header that a response always has. @param description the meaning of its value */
export function header(description: string, type: 'string' | 'integer' = 'string') {
  return { description, required: true, schema: { type } };
}

type Documented = 'summary' | 'description' | 'deprecated' | 'security' | 'callbacks';

/**
 * The entry of an operation in the OpenAPI document. The general errors are added. An operation with an empty
 * `security` needs no key and does not count against the limits of the REST API.
 */
export interface Operation<Shape extends InputShape = InputShape>
  extends Readonly<Pick<ZodOpenApiOperationObject, Documented>> {
  readonly id: string;
  readonly tag: string;
  /** The schemas of the input, if the operation reads any. */
  readonly input?: Shape;
  /** The body schema for the document, if it differs from the schema that reads the body. */
  readonly shownBody?: z.ZodType;
  /** The limit of the body. */
  readonly limit?: BodyLimit;
  /** The responses, by status. */
  readonly responses: Readonly<Record<number, ResponseEntry>>;
  /** Set if a repeated request with the same Idempotency-Key gets the first answer. */
  readonly firstAnswers?: FirstAnswers;
}

interface Endpoint<Shape extends InputShape> extends Omit<Operation<Shape>, 'tag'> {
  /** @returns the body of the response; `undefined` if the handler has set it */
  readonly handle: (ctx: Context, input: z.output<z.ZodObject<Shape>>) => Promise<unknown>;
}

/**
 * Returns a function that creates the routes of one resource, which share a tag in the OpenAPI document. A route has
 * its address, its input schemas, its handler and its entry in the document. A request that does not match the schemas
 * gets 400 with their first message.
 *
 * @param shared the responses that each operation has
 * @param base the path before the paths of the operations
 */
export function resource(tag: string, shared: Operation['responses'] = {}, base = REST_PATH) {
  return <const Shape extends InputShape>(
    method: Route['method'],
    path: `/${string}`,
    { handle, ...own }: Endpoint<Shape>,
  ): Route => {
    const { input, limit } = own;
    const schema = z.object<Shape>(input);
    return {
      method,
      path: base + path,
      operation: { ...own, tag, responses: { ...own.responses, ...shared } },
      handle: async (ctx) => {
        const body = input?.body === undefined ? undefined : await jsonBody(ctx, limit);
        const sent = { path: ctx.params, query: input?.query && sentQuery(ctx), body };
        const work = async () => {
          const answer = await handle(ctx, checked(schema, sent));
          if (answer !== undefined) ctx.body = answer;
        };
        await onceWithKey(ctx, own, work);
      },
    };
  };
}

const KEY_WORDS = 'Idempotency-Key takes 1 to 255 visible ASCII characters, without blanks.';
const KEY_USE = 'A UUID, for example. For a day, the same request with it gets the first successful answer';
const idempotencyKey = z.stringFormat('key', /^[\x21-\x7e]{1,255}$/, KEY_WORDS).optional();

/** The header that makes it safe for a client to repeat a request. */
export const idempotencyHeader = z.object({ 'idempotency-key': idempotencyKey.describe(KEY_USE) });

/** Handles a request. If it repeats an earlier Idempotency-Key, sends the first answer again instead. */
async function onceWithKey(
  ctx: Context,
  { id: operation, firstAnswers }: Pick<Operation, 'id' | 'firstAnswers'>,
  work: () => Promise<void>,
) {
  if (firstAnswers === undefined) return work();
  const { 'idempotency-key': key } = checked(idempotencyHeader, ctx.headers);
  if (key === undefined) return work();
  const request = { account: accountOf(ctx), operation, key, body: ctx.state.sentJson ?? '' };
  const first = firstAnswers(request, async (token) => {
    ctx.state.onceToken = token;
    await work();
    const body = typeof ctx.body === 'string' ? ctx.body : JSON.stringify(ctx.body);
    return { status: ctx.status, type: ctx.type, body };
  });
  Object.assign(ctx, await first);
}

/**
 * The query parameters of a request, without blank ones.
 *
 * @throws {BadRequestError} for a parameter that is sent twice
 */
function sentQuery({ query }: Pick<Context, 'query'>): Record<string, unknown> {
  const sent = Object.entries(query).filter(([name, value]) => {
    if (Array.isArray(value)) throw new BadRequestError(`${name} is sent twice; send it once.`);
    return value?.trim() !== '';
  });
  return Object.fromEntries(sent);
}

/** The id of the account that holds the request's key. Every route behind `authenticated` has one. */
export function accountOf({ state: { account } }: Pick<Context, 'state'>): string {
  if (account === undefined) throw new Error('The key of this request was not checked.');
  return accountId(account);
}

/** A router for these routes. Other methods at their paths get 405 with an Allow header. */
export function routerOf(routes: readonly Route[]): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true });
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path)) {
    const handlers = new Map<string, Route['handle']>(atPath.map(({ method, handle }) => [method, handle]));
    const ofGet = handlers.get('GET');
    if (ofGet !== undefined) handlers.set('HEAD', ofGet);
    router.register(path, METHODS, (ctx) => {
      const handle = handlers.get(ctx.method);
      if (handle !== undefined) return handle(ctx);
      ctx.set('Allow', [...handlers.keys()].join(', '));
      throw REFUSED.otherMethod();
    });
  }
  return router;
}

/** Applies middleware to a path and all paths below it. */
export function under<Ctx extends Context>(path: string, middleware: compose.Middleware<Ctx>) {
  const isUnder = (asked: string) => asked === path || asked.startsWith(`${path}/`);
  return (ctx: Ctx, next: Koa.Next) => (isUnder(ctx.path) ? middleware(ctx, next) : next());
}

/**
 * First counts each request at an interface against the limit of its address, and sets the rate limit headers. When the
 * response has ended, counts its outcome, its duration and the use of its key.
 *
 * @param usage counts the use of keys. If another interface answers in the end, only the first one counts the key
 */
export function counted(name: 'rest' | 'mcp' | 'web', limit: RateLimit, usage?: KeyUsage): Middleware {
  return (ctx, next) => {
    whenClosed(ctx, () => {
      const { arrivedAt, keyId, outcome = statusOutcome(ctx.status) } = ctx.state;
      requestSeconds.observe({ interface: name, outcome }, (performance.now() - arrivedAt) / 1000);
      if (keyId !== undefined) usage?.count(keyId, outcome);
    });
    return spendMore(ctx, limit, 1).then(next);
  };
}

/**
 * Refuses requests that reached a trusted proxy over plain http (HTTPS-03), because their key could have been read on
 * the way. If the proxy does not report the protocol, the request is answered, and the log warns once.
 *
 * Lets only requests with an active API key pass (KEYS-03). A request with a bad key counts against the address's
 * limit for bad keys instead of its general limit. Once that limit is reached, only keys that this process has seen
 * active are checked. This way, nobody can guess keys fast, and good keys from the same address still work.
 */
export function authenticated(keys: KeyCheck, general: RateLimit, badKeys: RateLimit): Middleware {
  let hasWarned = false;
  return async (ctx, next) => {
    const protocol = clientProtocol(ctx);
    if (protocol === 'http') throw REFUSED.plainHttp();
    if (protocol === undefined && ctx.app.proxy && !hasWarned) {
      hasWarned = true;
      ctx.state.log.warn('a trusted proxy sends no X-Forwarded-Proto, so plain http cannot be refused');
    }
    const key = keys(String(ctx.req.headers['x-api-key'] ?? ''));
    const isChecked = key !== undefined && (key.hasBeenActive() || (await badKeys.hasLeft(ctx.ip)));
    const account = isChecked ? await key.activeAccount() : undefined;
    if (isChecked && account !== undefined) {
      ctx.state.keyId = key.id;
      ctx.state.account = account;
      ctx.state.keyCheckedMs = performance.now() - ctx.state.arrivedAt;
      return next();
    }
    await general.giveBack(ctx.ip);
    await spend(ctx, badKeys);
    throw REFUSED.invalidKey();
  };
}

/** Counts points for a request. @throws {TooManyRequestsError} if the limit would be exceeded; then it counts none */
export async function spend(ctx: Context, limit: RateLimit, points = 1): Promise<Spent> {
  try {
    return await limit.spend(ctx.ip, points);
  } catch (error) {
    if (error instanceof TooManyRequestsError)
      tellLeft(ctx, limit, { remaining: 0, msBeforeReset: error.retryAfterSeconds * 1000 });
    throw error;
  }
}

/** Counts points as `spend` does, if there are any, and sets the rate limit headers. */
export async function spendMore(ctx: Context, limit: RateLimit, points: number): Promise<void> {
  if (points > 0) tellLeft(ctx, limit, await spend(ctx, limit, points));
}

function tellLeft(ctx: Context, limit: RateLimit, { remaining, msBeforeReset }: Spent): void {
  ctx.set('x-ratelimit-limit', String(limit.limitFor(ctx.ip)));
  ctx.set('x-ratelimit-remaining', String(remaining));
  ctx.set('x-ratelimit-reset', String(Math.ceil((Date.now() + msBeforeReset) / 1000)));
}

/** How rosters count against the limit of an address. */
export interface RosterCost {
  readonly limit: RateLimit;
  /** The number of items that count as one request. */
  readonly itemsPerRequest: number;
}

/**
 * Counts the items of a roster against the limit of the address. One point was already counted on arrival.
 *
 * @throws {ClientError} 413 for more items than the limit of a whole minute
 * @throws {TooManyRequestsError} for more items than the rest of the limit allows
 */
export async function spendForItems(ctx: Context, items: number, cost: RosterCost): Promise<void> {
  const points = Math.ceil(items / cost.itemsPerRequest);
  const allowed = cost.limit.limitFor(ctx.ip);
  if (points <= allowed) return spendMore(ctx, cost.limit, points - 1);
  const most = `your limit of ${allowed} requests a minute allows at most ${allowed * cost.itemsPerRequest}`;
  throw new ClientError(413, `This request is for ${items} licenses; ${most}. Ask for fewer.`);
}

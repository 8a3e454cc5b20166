import type { ServerResponse } from 'node:http';
import { Stream } from 'node:stream';
import type { Logger } from 'pino';
import type { KeyCheck } from '../access/api-keys.ts';
import { AddressCounts, type RateLimit, type Spent, TooManyRequestsError } from '../access/rate-limit.ts';
import { type KeyUsage, statusOutcome } from '../access/usage.ts';
import { TooBusyError } from '../storage/errors.ts';
import { requestSeconds, responseBytesHeld, responsesCut } from '../telemetry/metrics.ts';
import { onceAMinute } from '../telemetry/process.ts';
import { ClientError, invalidKey } from './errors.ts';
import { type Context, type Middleware, whenClosed } from './route.ts';

/** Counts how each request at an interface ended and how long it took, and for whose key. */
export function counted(name: 'rest' | 'mcp' | 'web', usage: KeyUsage): Middleware {
  return (ctx, next) => {
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
export function authenticated(keys: KeyCheck, general: RateLimit, badKeys: RateLimit): Middleware {
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
    throw tooManyItems(items, allowed, itemsPerRequest);
  }
  await spendMore(ctx, limit, points - 1);
}

/** The error for more licenses in a request than a whole minute's limit allows. */
export function tooManyItems(items: number, requests: number, itemsPerRequest: number): ClientError {
  return new ClientError(
    413,
    `This request is for ${items} licenses; your limit of ${requests} requests a minute allows at most ${requests * itemsPerRequest}. Ask for fewer.`,
  );
}

/**
 * Does work that takes so many slots while it lasts.
 *
 * @throws {TooBusyError} or, where its address has too few left, {TooManyRequestsError}, immediately
 */
export type Slots = <Result>(
  client: Pick<Context, 'ip'>,
  size: number,
  work: () => Promise<Result>,
) => Promise<Result>;

/** Bounds what is under way in this process, altogether and for each address, so that no client takes everything. */
export function slots(max: number, maxOf: (address: string) => number, retryAfterSeconds = 1): Slots {
  const taken = new AddressCounts();
  return async ({ ip }, size, work) => {
    if (taken.all + size > max) throw new TooBusyError('Too much is under way.');
    if (taken.of(ip) + size > maxOf(ip)) throw new TooManyRequestsError(retryAfterSeconds);
    taken.add(ip, size);
    try {
      return await work();
    } finally {
      taken.add(ip, -size);
    }
  };
}

const MB = 1024 * 1024;

export const RESPONSE_LIMITS = {
  /** So many bytes of responses may wait in memory for their clients to read them. A full roster has 9 MB. */
  maxBytes: 128 * MB,
  /** Of one client address, so that it never takes the room of others. */
  maxBytesOfClient: 32 * MB,
  /** A client must read a response this fast (1 Mbit/s), after the first ten seconds. */
  minBytesPerMs: 128,
  freeMs: 10_000,
  /** A response that has waited for less is never given up for another: its client may be fast. */
  keptMs: 5000,
} as const;

const CHECK_EVERY_MS = 1000;

/**
 * Things in use, each under a number of its own. A `Map` whose entries come and go is copied all the time, and V8 keeps
 * what is in the copies that are left behind until a major collection (docs/decisions/018).
 */
export class InUse<Thing> {
  readonly #things: (Thing | undefined)[] = [];
  readonly #free: number[] = [];

  add(thing: Thing): number {
    const number = this.#free.pop() ?? this.#things.length;
    this.#things[number] = thing;
    return number;
  }

  /** @returns whether it had the number: one that was removed before may have given it to another */
  remove(number: number, thing: Thing): boolean {
    if (this.#things[number] !== thing) return false;
    this.#things[number] = undefined;
    this.#free.push(number);
    return true;
  }

  all(): Thing[] {
    return this.#things.filter((thing) => thing !== undefined);
  }
}

interface HeldResponse {
  readonly response: ServerResponse;
  /** Counts it no more; more than once does nothing. */
  readonly release: () => void;
  readonly client: string;
  /** Of its own: files are in memory once for all clients. */
  readonly bytes: number;
  readonly since: number;
  readonly deadline: number;
}

/**
 * Bounds what clients that read slowly cost. A response that its client has not read in time is cut off. When all
 * together would be too large, the oldest are cut off, which are those of the slowest clients; if all are recent, the
 * new one is refused.
 *
 * @returns counts the response of a request until it has ended. @throws {TooBusyError} when there is no room for it
 */
export function heldResponses(
  log: Logger,
  limits: Readonly<Record<keyof typeof RESPONSE_LIMITS, number>> = RESPONSE_LIMITS,
): (ctx: Context) => void {
  const held = new InUse<HeldResponse>();
  const heldBytes = new AddressCounts();
  const logCut = onceAMinute((responses) =>
    log.warn({ responses, held: heldBytes.all }, 'responses cut off: their clients read too slowly'),
  );

  function cut({ response, release }: HeldResponse, reason: 'slow' | 'memory'): void {
    release();
    responsesCut.inc({ reason });
    logCut();
    // What the network has accepted and not delivered is dropped, too.
    response.req.socket.resetAndDestroy();
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const entry of held.all()) {
      // Node tells nothing to the responses that wait behind another one on a connection that has ended.
      if (entry.response.req.socket.destroyed) entry.release();
      else if (now > entry.deadline) cut(entry, 'slow');
    }
  }, CHECK_EVERY_MS);
  timer.unref();

  function makeRoom(client: string, bytes: number): void {
    if (heldBytes.of(client) + bytes > limits.maxBytesOfClient) {
      throw new TooBusyError('Too many responses wait for this client.');
    }
    if (heldBytes.all + bytes <= limits.maxBytes) return;
    const now = performance.now();
    for (const entry of held.all().toSorted((one, other) => one.since - other.since)) {
      if (heldBytes.all + bytes <= limits.maxBytes) return;
      if (entry.bytes === 0) continue;
      if (now - entry.since < limits.keptMs) {
        throw new TooBusyError('Too many responses wait for their clients.');
      }
      cut(entry, 'memory');
    }
  }

  return (ctx) => {
    const size = bodySize(ctx);
    if (size === 0) return;
    const client = ctx.ip;
    const bytes = ctx.state.isFile === true ? 0 : size;
    if (bytes > 0) makeRoom(client, bytes);
    const since = performance.now();
    const deadline = since + limits.freeMs + size / limits.minBytesPerMs;
    const release = () => {
      if (!held.remove(number, entry)) return;
      heldBytes.add(client, -bytes);
      responseBytesHeld.dec(bytes);
    };
    const entry = { response: ctx.res, release, client, bytes, since, deadline };
    const number = held.add(entry);
    heldBytes.add(client, bytes);
    responseBytesHeld.inc(bytes);
    whenClosed(ctx, release);
  };
}

/** How many bytes of the body are in memory: none of a stream whose length is not known. */
function bodySize(ctx: Context): number {
  const body: unknown = ctx.body;
  const isWritten = body instanceof Stream || Buffer.isBuffer(body) || typeof body === 'string';
  if (!isWritten && ctx.response.is('json')) {
    // As Koa would do it a little later.
    ctx.body = JSON.stringify(body);
  }
  const length = Number(ctx.response.get('content-length'));
  return Number.isNaN(length) ? 0 : length;
}

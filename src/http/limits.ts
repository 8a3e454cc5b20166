import type { KeyCheck } from '../access/api-keys.ts';
import type { KeyUsage } from '../access/key-usage.ts';
import { AddressCounts, type RateLimit, type Spent, TooManyRequestsError } from '../access/rate-limit.ts';
import { TooBusyError } from '../storage/errors.ts';
import { requestSeconds } from '../telemetry/metrics.ts';
import { statusOutcome } from '../telemetry/outcome.ts';
import { type Context, type Middleware, whenClosed } from './context.ts';
import { ClientError, invalidKey } from './errors.ts';

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
      if (isChecked && (await key.isActive())) {
        ctx.state.keyId = key.id;
        ctx.state.keyCheckedMs = performance.now() - ctx.state.arrivedAt;
        return next();
      }
    }
    await general.giveBack(ctx.ip);
    await spend(ctx, badKeys);
    throw invalidKey();
  };
}

/**
 * Counts points for a request. The headers say so when there are not enough left.
 *
 * @throws {TooManyRequestsError} when they are over what is left; then none is counted
 */
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
      `This roster has ${items} items; your limit of ${allowed} requests a minute allows at most ${allowed * itemsPerRequest}. Split it.`,
    );
  }
  await spendMore(ctx, limit, points - 1);
}

/**
 * Does work that takes so many slots while it lasts.
 *
 * @throws {TooBusyError} immediately, when too few slots are free
 * @throws {TooManyRequestsError} immediately, when the client's address has too few left
 */
export type Slots = <Result>(ctx: Context, size: number, work: () => Promise<Result>) => Promise<Result>;

/**
 * Bounds what is under way in this process, altogether and for each address, so that no client takes everything.
 *
 * @param max how many slots there are
 * @param maxOf how many of them an address may have
 */
export function slots(max: number, maxOf: (address: string) => number): Slots {
  const taken = new AddressCounts();
  return async ({ ip }, size, work) => {
    if (taken.all + size > max) throw new TooBusyError('Too much is under way.');
    if (taken.of(ip) + size > maxOf(ip)) throw new TooManyRequestsError(1);
    taken.add(ip, size);
    try {
      return await work();
    } finally {
      taken.add(ip, -size);
    }
  };
}

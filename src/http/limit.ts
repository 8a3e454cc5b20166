import { plainAddress, type RateLimit, type Spent, TooManyRequestsError } from '../access/rate-limit.ts';
import type { Context, Middleware } from './context.ts';

/** Counts each request before anything else, and sets the headers that say what is left. */
export function limited(limit: RateLimit): Middleware {
  return async (ctx, next) => {
    const address = plainAddress(ctx.ip);
    const spent = await withLimitHeaders(ctx, limit, () => limit.spend(address));
    setSpentHeaders(ctx, limit.limitFor(address), spent);
    return next();
  };
}

/**
 * Counts further points for a request that costs more than one.
 *
 * @throws {TooManyRequestsError} when they are over what is left; then none is counted
 */
export async function spendMore(ctx: Context, limit: RateLimit, points: number): Promise<void> {
  if (points <= 0) return;
  const address = plainAddress(ctx.ip);
  const spent = await withLimitHeaders(ctx, limit, () => limit.spendSeveral(address, points));
  setSpentHeaders(ctx, limit.limitFor(address), spent);
}

function setSpentHeaders(ctx: Context, limit: number, { remaining, msBeforeReset }: Spent): void {
  setLimitHeaders(ctx, limit, remaining, Math.ceil((Date.now() + msBeforeReset) / 1000));
}

/** @param reset when the count starts again, in Unix seconds */
function setLimitHeaders(ctx: Context, limit: number, remaining: number, reset: number): void {
  ctx.set('x-ratelimit-limit', String(limit));
  ctx.set('x-ratelimit-remaining', String(remaining));
  ctx.set('x-ratelimit-reset', String(reset));
}

/** Does what may be over a limit; if it is, sets the headers, too. */
export async function withLimitHeaders<Result>(
  ctx: Context,
  limit: RateLimit,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TooManyRequestsError) {
      const allowed = limit.limitFor(plainAddress(ctx.ip));
      setLimitHeaders(ctx, allowed, 0, Math.ceil(Date.now() / 1000) + error.retryAfterSeconds);
    }
    throw error;
  }
}

import { Redis } from 'ioredis';
import ipaddr from 'ipaddr.js';
import type { Context, Middleware } from 'koa';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitRange } from '../config.ts';
import { TooManyRequestsError } from '../failures.ts';

const WINDOW_SECONDS = 60;

/** Counts requests of one kind for each client address. */
export interface RateLimit {
  /** How many an address may make in a minute. */
  limitFor(address: string): number;
  /** Counts one. @throws {TooManyRequestsError} when it is over the limit */
  spend(address: string): Promise<RateLimiterRes>;
  /** Whether one more would be within the limit; counts nothing. */
  hasLeft(address: string): Promise<boolean>;
  /** Takes one back that should not have counted. */
  giveBack(address: string): Promise<void>;
}

/**
 * A limit per client address and minute, kept in Redis for all processes. Where Redis does not answer, each
 * process counts in its own memory until it does, so nothing goes unlimited and nothing waits.
 *
 * @param name keeps the counters of different limits apart
 * @param ranges address ranges with limits of their own; the first that fits counts
 */
export function rateLimit(
  redis: Redis,
  name: string,
  requestsPerMinute: number,
  ranges: readonly RateLimitRange[],
): RateLimit {
  const limiterOf = (points: number, keyPrefix: string) =>
    new RateLimiterRedis({
      storeClient: redis,
      keyPrefix,
      points,
      duration: WINDOW_SECONDS,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory({ keyPrefix, points, duration: WINDOW_SECONDS }),
    });
  const general = limiterOf(requestsPerMinute, `limit:${name}`);
  const special = ranges.map((range, index) => ({
    range,
    limiter: limiterOf(range.requestsPerMinute, `limit:${name}:${index}`),
  }));

  function limiterFor(address: string) {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    return special.find(({ range }) => range.addresses.check(address, family))?.limiter ?? general;
  }

  async function spend(address: string): Promise<RateLimiterRes> {
    const [limiter, key] = [limiterFor(address), addressKey(address)];
    try {
      return await limiter.consume(key);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      // What is refused must not count: after a burst of bad keys, whose points come back, nothing may be missing.
      await limiter.reward(key);
      throw new TooManyRequestsError(Math.max(1, Math.ceil(error.msBeforeNext / 1000)));
    }
  }

  async function hasLeft(address: string): Promise<boolean> {
    const spent = await limiterFor(address).get(addressKey(address));
    return spent === null || spent.remainingPoints > 0;
  }

  return {
    limitFor: (address) => limiterFor(address).points,
    spend,
    hasLeft,
    giveBack: async (address) => {
      await limiterFor(address).reward(addressKey(address));
    },
  };
}

/** A Redis connection for counters: a command that is not answered in 100 ms fails, and none wait in line. */
export function limitsConnection(redisUrl: string): Redis {
  return new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 100,
  });
}

/** The address as IPv4 where it is one in IPv6 clothes (`::ffff:192.0.2.1`). */
export function plainAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** What is counted: an IPv4 address, or the /64 of an IPv6 one, since one client has all of it. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** Middleware that counts the request before anything else is done with it, and says what is left. */
export function limited(limit: RateLimit): Middleware {
  return async (ctx, next) => {
    const address = plainAddress(ctx.ip);
    ctx.set('X-RateLimit-Limit', String(limit.limitFor(address)));
    const spent = await toldWhenOver(ctx, limit, () => limit.spend(address));
    ctx.set('X-RateLimit-Remaining', String(spent.remainingPoints));
    ctx.set('X-RateLimit-Reset', String(Math.ceil((Date.now() + spent.msBeforeNext) / 1000)));
    await next();
  };
}

/** Does what may be over a limit, and if it is, says so in the headers too. */
export async function toldWhenOver<Result>(
  ctx: Context,
  limit: RateLimit,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TooManyRequestsError) {
      ctx.set('X-RateLimit-Limit', String(limit.limitFor(plainAddress(ctx.ip))));
      ctx.set('X-RateLimit-Remaining', '0');
      ctx.set('X-RateLimit-Reset', String(Math.ceil(Date.now() / 1000) + error.retryAfterSeconds));
    }
    throw error;
  }
}

import { hash, randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import { type IRateLimiterOptions, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { RateLimitRange } from '../config.ts';
import { memoize } from '../licenses/fold.ts';
import { batcher } from '../storage/batcher.ts';
import { onceAMinute } from '../telemetry/process.ts';

const MINUTE_SECONDS = 60;

export const DAY_SECONDS = 86_400;

/** The client sent too many requests. */
export class TooManyRequestsError extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`Too many requests; try again in ${retryAfterSeconds} seconds.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Counts requests of one kind by client address. */
export type RateLimit = ReturnType<ReturnType<typeof rateLimits>['limitOf']>;

/** One counter takes half a kilobyte of memory. */
const MAX_COUNTERS = 100_000;

const SALT = randomBytes(16).toString('hex');

/**
 * Counts in the memory of this process, with a bounded number of counters. Addresses with the same salted hash share a
 * counter. The salt is random, so nobody can choose an address that shares another's counter.
 */
function boundedMemory(options: IRateLimiterOptions, onCount: () => void): RateLimiterMemory {
  const limiter = new RateLimiterMemory(options);
  limiter.getKey = (key) => {
    onCount();
    return String(hash('sha256', SALT + key, 'buffer').readUInt32LE() % MAX_COUNTERS);
  };
  return limiter;
}

/**
 * Rate limits per client address and minute, kept in Redis for all processes. While Redis does not answer, each process
 * counts in its own memory, so limits still apply and no request waits.
 *
 * @param prefix separates the counters of different installations
 */
export function rateLimits(redis: Pick<Redis, 'status'>, prefix: string, log: Logger) {
  let inMemoryAt = Number.NEGATIVE_INFINITY;
  const logInMemory = onceAMinute((counts) =>
    log.warn({ counts }, 'limits count in memory: Redis takes no counts'),
  );
  function onMemory(): void {
    inMemoryAt = performance.now();
    logInMemory();
  }

  /**
   * @param name separates the counters of different limits
   * @param ranges address ranges with their own limits; the first match applies
   * @param seconds the length of the counting period, by default a minute
   */
  function limitOf(
    name: string,
    requestsPerMinute: number,
    ranges: readonly RateLimitRange[] = [],
    seconds = MINUTE_SECONDS,
  ) {
    const options = { points: requestsPerMinute, keyPrefix: `limit:${prefix}${name}`, duration: seconds };
    // Only the counts of this limiter are used. The limit of each address is compared below.
    const limiter = new RateLimiterRedis({
      ...options,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: boundedMemory(options, onMemory),
    });

    function limitFor(written: string): number {
      const address = plainAddress(written);
      const family = address.includes(':') ? 'ipv6' : 'ipv4';
      const range = ranges.find(({ addresses }) => addresses.check(address, family));
      return range?.requestsPerMinute ?? requestsPerMinute;
    }

    /**
     * One command counts all requests that an address sends at the same moment, each as if it had come alone. One
     * command per request would take four times the CPU in a burst of 64.
     */
    const spendTogether = batcher(async (asked: readonly Spending[]) => {
      const byAddress = Map.groupBy(asked, ({ address }) => address);
      await Promise.all(Array.from(byAddress, ([address, each]) => count(address, each)));
      return asked;
    }, BATCHES);

    async function count(address: string, asked: readonly Spending[]): Promise<void> {
      const key = addressKey(address);
      const all = asked.reduce((sum, { points }) => sum + points, 0);
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, all);
      let remaining = Math.max(0, limitFor(address) - (consumedPoints - all));
      let refused = 0;
      for (const each of asked) {
        each.isOver = each.points > remaining;
        if (each.isOver) refused += each.points;
        else remaining -= each.points;
        Object.assign(each, { remaining, msBeforeReset: msBeforeNext });
      }
      // A rejected request must not count: points may be given back after a burst of bad keys, and then the full
      // limit must be available.
      if (refused > 0) await limiter.reward(key, refused);
    }

    return {
      /** How many requests an address may send per minute. */
      limitFor,
      /**
       * Counts a request as the given number of points: all of them or none.
       *
       * @throws {TooManyRequestsError} when the points exceed the remaining limit
       */
      spend: async (address: string, points = 1): Promise<Spent> => {
        const spent = await spendTogether({ address, points, isOver: false, remaining: 0, msBeforeReset: 0 });
        if (spent.isOver) throw new TooManyRequestsError(Math.max(1, Math.ceil(spent.msBeforeReset / 1000)));
        return spent;
      },
      /** Whether one more request would be within the limit. Counts nothing. */
      hasLeft: async (address: string): Promise<boolean> => {
        const spent = await limiter.get(addressKey(address));
        return spent === null || spent.consumedPoints < limitFor(address);
      },
      /** Takes back counted points. */
      giveBack: async (address: string, points = 1): Promise<void> => {
        await limiter.reward(addressKey(address), points);
      },
    };
  }

  return {
    limitOf,
    /**
     * Whether all processes share their counts. Redis may be up but reject writes, for example when its memory is full.
     * After counting in memory, this returns false for a minute.
     */
    isShared: (): boolean =>
      redis.status === 'ready' && performance.now() - inMemoryAt > MINUTE_SECONDS * 1000,
  };
}

/**
 * A limit per address that also counts against a limit for the whole group.
 *
 * @param all counts the group under its name
 */
export function withinGroup(each: RateLimit, all: RateLimit, group: string): RateLimit {
  return {
    ...each,
    spend: async (address, points = 1) => {
      const spent = await each.spend(address, points);
      await all.spend(group, points).catch(async (error: unknown) => {
        await each.giveBack(address, points);
        throw error;
      });
      return spent;
    },
    giveBack: async (address, points) => {
      await Promise.all([each.giveBack(address, points), all.giveBack(group, points)]);
    },
  };
}

/** What is left of an address's limit. */
export type Spent = Readonly<Pick<Spending, 'remaining' | 'msBeforeReset'>>;

/** A request to count. After counting, it contains what is left of the limit. */
interface Spending {
  readonly address: string;
  readonly points: number;
  isOver: boolean;
  remaining: number;
  msBeforeReset: number;
}

/** Redis answers in a fraction of a millisecond, so batches need not wait for each other. */
const BATCHES = { maxBatchSize: 1000, concurrency: Number.POSITIVE_INFINITY };

/**
 * A Redis connection for counters. A command fails if it is not answered in 100 ms. While Redis is away, commands fail
 * instead of waiting in a queue.
 */
export function limitsConnection(redisUrl: string): Redis {
  return new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 100,
  });
}

/** An IPv4 address with a port, or an IPv6 address in brackets with or without a port, as some proxies send them. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i;

/** The address without a port; an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) as IPv4. */
export const plainAddress = memoize((written) => {
  const [, ipv6, ipv4] = WITH_PORT.exec(written) ?? [];
  const address = ipv6 ?? ipv4 ?? written;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
});

/** The key of a counter: an IPv4 address, or the /64 of an IPv6 address, because one client owns a whole /64. */
export const addressKey = memoize((written) => {
  const address = plainAddress(written);
  if (!ipaddr.IPv6.isValid(address)) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
});

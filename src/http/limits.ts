import { EventEmitter, once } from 'node:events';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { addressKey, TooManyRequestsError } from '../access/rate-limit.ts';
import { TooBusyError } from '../storage/errors.ts';
import { responseBytesHeld, responsesCut } from '../telemetry/metrics.ts';
import { onceAMinute } from '../telemetry/process.ts';

/**
 * Bounds what is under way in this process, altogether and for each address or account, so that none takes everything.
 *
 * @param maxOf how many slots an address may have while this many are taken in all
 */
export function slots(max: number, maxOf: (address: string, taken: number) => number, retryAfterSeconds = 1) {
  const taken = new Map<string, number>();
  let all = 0;
  const takenBy = (address: string) => taken.get(addressKey(address)) ?? 0;
  const isFull = (size: number) => all + size > max;
  const hasMost = (address: string, size: number) => takenBy(address) + size > maxOf(address, all);

  function add(address: string, size: number): void {
    const count = takenBy(address) + size;
    // An address that has nothing takes no memory.
    if (count > 0) taken.set(addressKey(address), count);
    else taken.delete(addressKey(address));
    all += size;
  }

  /**
   * @returns gives it back
   * @throws {TooBusyError} or, where the address has too little left, {TooManyRequestsError}, immediately
   */
  function take(address: string, size: number): () => void {
    if (isFull(size)) throw new TooBusyError('Too much is under way.');
    if (hasMost(address, size)) throw new TooManyRequestsError(retryAfterSeconds);
    add(address, size);
    return () => add(address, -size);
  }

  return {
    take,
    has: (address: string, size: number): boolean => !isFull(size) && !hasMost(address, size),
    /** Does work that takes this many slots while it lasts. @throws as `take` */
    during: async <Result>(address: string, size: number, work: () => Promise<Result>): Promise<Result> => {
      const giveBack = take(address, size);
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
  };
}

type Slots = ReturnType<typeof slots>;

/**
 * As `during` of `slots`, but work waits for its slots. No more may wait than may be under way: the rest fails at once.
 *
 * @param waitMs how long work waits at most
 */
export function waitingSlots(waitMs: number, ...bounds: Parameters<typeof slots>): Slots['during'] {
  const [underWay, waiting] = [slots(...bounds), slots(...bounds)];
  const ended = new EventEmitter().setMaxListeners(0);

  return async (address, size, work) => {
    // It takes its slots in the step in which they were seen to be free: others have waited for them, too.
    const begin = () => ({ work: underWay.during(address, size, work).finally(() => ended.emit('work')) });
    if (underWay.has(address, size)) return begin().work;
    const begun = await waiting.during(address, size, async () => {
      const late = AbortSignal.timeout(waitMs);
      while (!late.aborted && !underWay.has(address, size)) {
        await once(ended, 'work', { signal: late }).catch(() => undefined);
      }
      return begin();
    });
    return begun.work;
  };
}

export const MB = 1024 * 1024;

export const RESPONSE_LIMITS = {
  /** The most bytes of large responses that wait in memory for their clients. A full roster has 9 MB. */
  maxBytes: 128 * MB,
  /** Of one client address, so that it never takes the room of others. */
  maxBytesOfClient: 32 * MB,
  /** A client must read a response this fast (1 Mbit/s), after the first ten seconds. */
  minBytesPerMs: 128,
  freeMs: 10_000,
};

/** A request whose response is about to be sent. */
type Responding = Pick<Koa.Context, 'ip' | 'req' | 'res'>;

/**
 * Bounds what clients that read slowly cost: each large response holds its bytes until it has ended, and is cut off
 * when its client has not read it in time.
 *
 * @returns takes the bytes that a response has of its own, and its size
 * @throws {TooBusyError} or {TooManyRequestsError} when there is no room for it
 */
export function largeResponses(log: Logger, limits = RESPONSE_LIMITS) {
  const { take } = slots(limits.maxBytes, () => limits.maxBytesOfClient);
  const logCut = onceAMinute((responses) =>
    log.warn({ responses }, 'responses cut off: their clients read too slowly'),
  );
  return ({ ip, req, res }: Responding, bytes: number, size: number): void => {
    const giveBack = take(ip, bytes);
    responseBytesHeld.inc(bytes);
    const ms = limits.freeMs + size / limits.minBytesPerMs;
    const release = () => {
      clearTimeout(deadline);
      res.off('close', release);
      giveBack();
      responseBytesHeld.dec(bytes);
    };
    // Node tells nothing to a response that waits behind another one on a connection that has ended: this frees it.
    const deadline = setTimeout(() => {
      release();
      if (req.socket.destroyed) return;
      responsesCut.inc();
      logCut();
      // What the network has accepted and not delivered is dropped, too.
      req.socket.resetAndDestroy();
    }, ms);
    if (res.closed) release();
    else res.once('close', release);
  };
}

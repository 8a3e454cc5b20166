import { EventEmitter, once } from 'node:events';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { addressKey, TooManyRequestsError } from '../access/rate-limit.ts';
import { TooBusyError } from '../storage/errors.ts';
import { responseBytesHeld, responsesCut } from '../telemetry/metrics.ts';
import { onceAMinute } from '../telemetry/process.ts';

/**
 * Limits the work in progress in this process, in total and per address or account, so that nobody can take everything.
 *
 * @param maxOf the number of slots an address may have while `taken` slots are in use in total
 */
export function slots(max: number, maxOf: (address: string, taken: number) => number, retryAfterSeconds = 1) {
  const taken = new Map<string, number>();
  let all = 0;
  const takenBy = (address: string) => taken.get(addressKey(address)) ?? 0;
  const isFull = (size: number) => all + size > max;
  const hasMost = (address: string, size: number) => takenBy(address) + size > maxOf(address, all);

  function add(address: string, size: number): void {
    const count = takenBy(address) + size;
    // An address without slots uses no memory.
    if (count > 0) taken.set(addressKey(address), count);
    else taken.delete(addressKey(address));
    all += size;
  }

  /**
   * @returns a function that gives the slots back
   * @throws {TooBusyError} if no slots are left, or {TooManyRequestsError} if the address has too many; immediately
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
    /** Runs work that occupies this many slots. @throws the errors of `take` */
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
 * Like `during` of `slots`, but work waits for its slots. As much work may wait as may run; further work fails at once.
 *
 * @param waitMs the longest wait
 */
export function waitingSlots(waitMs: number, ...bounds: Parameters<typeof slots>): Slots['during'] {
  const [underWay, waiting] = [slots(...bounds), slots(...bounds)];
  const ended = new EventEmitter().setMaxListeners(0);

  return async (address, size, work) => {
    // Checks and takes the slots in the same step: other work also waits for them.
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
  /** The most bytes for one client address, so that it cannot take the room of others. */
  maxBytesOfClient: 32 * MB,
  /** The speed at which a client must read after the first ten seconds (1 Mbit/s). */
  minBytesPerMs: 128,
  freeMs: 10_000,
};

/** A request whose response is about to be sent. */
type Responding = Pick<Koa.Context, 'ip' | 'req' | 'res'>;

/**
 * Limits the memory for clients that read slowly: each large response occupies its bytes until it has ended, and is cut
 * off if its client does not read it in time.
 *
 * @returns a function that takes the bytes a response occupies (0 if it is shared) and its size
 * @throws {TooBusyError} or {TooManyRequestsError} when there is no room for the response
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
    // Node emits no event for a response that waits behind another one on a closed connection. This releases its bytes.
    const deadline = setTimeout(() => {
      release();
      if (req.socket.destroyed) return;
      responsesCut.inc();
      logCut();
      // Also drops bytes that the network has accepted but not delivered.
      req.socket.resetAndDestroy();
    }, ms);
    if (res.closed) release();
    else res.once('close', release);
  };
}

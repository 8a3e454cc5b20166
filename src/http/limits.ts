import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { AddressCounts, TooManyRequestsError } from '../access/rate-limit.ts';
import { TooBusyError } from '../storage/errors.ts';
import { responseBytesHeld, responsesCut } from '../telemetry/metrics.ts';
import { onceAMinute } from '../telemetry/process.ts';

/** Counts what is taken in this process, altogether and for each address, so that no client takes everything. */
function room(max: number, maxOf: (address: string, taken: number) => number, retryAfterSeconds = 1) {
  const taken = new AddressCounts();
  const isFull = (size: number) => taken.all + size > max;
  const hasMost = (address: string, size: number) => taken.of(address) + size > maxOf(address, taken.all);
  return {
    taken: () => taken.all,
    has: (address: string, size: number): boolean => !isFull(size) && !hasMost(address, size),
    /**
     * @returns gives it back
     * @throws {TooBusyError} or, where the address has too little left, {TooManyRequestsError}
     */
    take: (address: string, size: number): (() => void) => {
      if (isFull(size)) throw new TooBusyError('Too much is under way.');
      if (hasMost(address, size)) throw new TooManyRequestsError(retryAfterSeconds);
      taken.add(address, size);
      return () => taken.add(address, -size);
    },
  };
}

/**
 * Does work that takes so many slots while it lasts.
 *
 * @throws {TooBusyError} or, where its address has too few left, {TooManyRequestsError}, immediately
 */
export type Slots = <Result>(
  client: { readonly ip: string },
  size: number,
  work: () => Promise<Result>,
) => Promise<Result>;

/** Bounds what is under way in this process, altogether and for each address. */
export function slots(...bounds: Parameters<typeof room>): Slots {
  const { take } = room(...bounds);
  return async ({ ip }, size, work) => {
    const giveBack = take(ip, size);
    try {
      return await work();
    } finally {
      giveBack();
    }
  };
}

/** As `slots`, but work waits so long for its slots. The same bounds hold for what waits, which fails at once beyond. */
export function waitingSlots(waitMs: number, ...bounds: Parameters<typeof room>): Slots {
  const [underWay, waiting] = [room(...bounds), room(...bounds)];
  const waiters = new Set<() => void>();

  function awaited(ip: string, size: number): Promise<() => void> {
    const leave = waiting.take(ip, size);
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const end = () => {
      clearTimeout(timer);
      waiters.delete(tryAgain);
      leave();
      try {
        resolve(underWay.take(ip, size));
      } catch (error) {
        reject(error);
      }
    };
    const tryAgain = () => {
      if (underWay.has(ip, size)) end();
    };
    const timer = setTimeout(end, waitMs);
    waiters.add(tryAgain);
    return promise;
  }

  return async ({ ip }, size, work) => {
    const giveBack = underWay.has(ip, size) ? underWay.take(ip, size) : await awaited(ip, size);
    try {
      return await work();
    } finally {
      giveBack();
      for (const tryAgain of waiters) tryAgain();
    }
  };
}

const MB = 1024 * 1024;

export const RESPONSE_LIMITS = {
  /** So many bytes of large responses may wait in memory for their clients to read them. A full roster has 9 MB. */
  maxBytes: 128 * MB,
  /** Of one client address, so that it never takes the room of others. */
  maxBytesOfClient: 32 * MB,
  /** A client must read a response this fast (1 Mbit/s), after the first ten seconds. */
  minBytesPerMs: 128,
  freeMs: 10_000,
} as const;

/** A request whose response is about to be sent. */
interface Responding {
  readonly ip: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Bounds what clients that read slowly cost: each large response holds its bytes until it has ended, and is cut off
 * when its client has not read it in time.
 *
 * @returns takes the bytes that a response has of its own, and its size
 * @throws {TooBusyError} or {TooManyRequestsError} when there is no room for it
 */
export function largeResponses(
  log: Logger,
  limits: Readonly<Record<keyof typeof RESPONSE_LIMITS, number>> = RESPONSE_LIMITS,
): (responding: Responding, bytes: number, size: number) => void {
  const { take, taken } = room(limits.maxBytes, () => limits.maxBytesOfClient);
  const logCut = onceAMinute((responses) =>
    log.warn({ responses, held: taken() }, 'responses cut off: their clients read too slowly'),
  );
  return ({ ip, req, res }, bytes, size) => {
    const giveBack = take(ip, bytes);
    responseBytesHeld.inc(bytes);
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(deadline);
      giveBack();
      responseBytesHeld.dec(bytes);
    };
    // Node tells nothing to a response that waits behind another one on a connection that has ended: this frees it.
    const deadline = setTimeout(
      () => {
        release();
        if (req.socket.destroyed) return;
        responsesCut.inc();
        logCut();
        // What the network has accepted and not delivered is dropped, too.
        req.socket.resetAndDestroy();
      },
      limits.freeMs + size / limits.minBytesPerMs,
    );
    if (res.closed) release();
    else res.once('close', release);
  };
}

import { addressKey, plainAddress, TooManyRequestsError } from '../access/rate-limit.ts';
import { TooBusyError } from '../storage/errors.ts';
import type { Context } from './context.ts';

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
  const byAddress = new Map<string, number>();
  let all = 0;

  function add(key: string, size: number): void {
    all += size;
    const taken = (byAddress.get(key) ?? 0) + size;
    if (taken > 0) byAddress.set(key, taken);
    else byAddress.delete(key);
  }

  return async (ctx, size, work) => {
    const address = plainAddress(ctx.ip);
    const key = addressKey(address);
    if (all + size > max) throw new TooBusyError('Too much is under way.');
    if ((byAddress.get(key) ?? 0) + size > maxOf(address)) throw new TooManyRequestsError(1);
    add(key, size);
    try {
      return await work();
    } finally {
      add(key, -size);
    }
  };
}

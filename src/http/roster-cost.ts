import createError from 'http-errors';
import { plainAddress, type RateLimit } from '../access/rate-limit.ts';
import { type Context, whenClosed } from './context.ts';
import { TooLargeError } from './errors.ts';
import { spendMore } from './limit.ts';

/** What a roster costs an address. */
export interface RosterCost {
  readonly limit: RateLimit;
  /** How many items cost as much as one request. */
  readonly itemsPerRequest: number;
}

/**
 * Counts the items of a roster against the address's limit. One point was counted when the request arrived.
 *
 * @throws {TooLargeError} for more items than a whole minute's limit
 * @throws {TooManyRequestsError} for more than what is left of it
 */
export async function spendForItems(
  ctx: Context,
  items: number,
  { limit, itemsPerRequest }: RosterCost,
): Promise<void> {
  const points = Math.ceil(items / itemsPerRequest);
  const allowed = limit.limitFor(plainAddress(ctx.ip));
  if (points > allowed) {
    throw new TooLargeError(
      `This roster has ${items} items; your limit of ${allowed} requests a minute allows at most ${allowed * itemsPerRequest}. Split it.`,
    );
  }
  await spendMore(ctx, limit, points - 1);
}

/** Aborts when the client closes the connection before it has its answer, or has closed it already. */
export function clientGone(ctx: Context): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(createError(400, 'The client is gone.'));
  if (ctx.req.socket.destroyed) abort();
  else whenClosed(ctx, abort);
  return gone.signal;
}

import type { Middleware } from 'koa';
import { InvalidKeyError } from '../failures.ts';
import type { KeyCheck } from './api-keys.ts';
import { plainAddress, type RateLimit } from './rate-limit.ts';

/**
 * Middleware that lets only requests with an active API key pass (specification 5). A request with a bad one
 * spends from the address's limit for bad keys instead of its general one: keys can't be guessed at speed, and
 * a neighbour's bad key locks no good one out.
 */
export function authenticated(isActive: KeyCheck, general: RateLimit, badKeys: RateLimit): Middleware {
  return async (ctx, next) => {
    if (await isActive(ctx.get('X-API-Key'))) return next();
    const address = plainAddress(ctx.ip);
    await general.giveBack(address);
    await badKeys.spend(address);
    throw new InvalidKeyError();
  };
}

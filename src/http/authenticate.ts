import type { KeyCheck } from '../access/key-check.ts';
import { plainAddress, type RateLimit } from '../access/rate-limit.ts';
import type { Middleware } from './context.ts';
import { InvalidKeyError } from './errors.ts';
import { withLimitHeaders } from './limit.ts';

/**
 * Lets only requests with an active API key pass (specification 5). A request with a bad one
 * spends from the address's limit for bad keys instead of its general one. Once that is spent, only keys that
 * this process has seen active are looked at: keys can't be guessed at speed, and bad ones lock out no good
 * neighbor that is at work.
 */
export function authenticated(keys: KeyCheck, general: RateLimit, badKeys: RateLimit): Middleware {
  return async (ctx, next) => {
    const key = keys(String(ctx.req.headers['x-api-key'] ?? ''));
    const address = plainAddress(ctx.ip);
    if (key !== undefined) {
      const mayBeLookedAt = key.hasBeenActive() || (await badKeys.hasLeft(address));
      if (mayBeLookedAt && (await key.isActive())) {
        ctx.state.keyId = key.id;
        ctx.state.keyCheckedMs = performance.now() - ctx.state.arrivedAt;
        return next();
      }
    }
    await general.giveBack(address);
    await withLimitHeaders(ctx, badKeys, () => badKeys.spend(address));
    throw new InvalidKeyError();
  };
}

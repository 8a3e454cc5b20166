import type { KeyCheck } from '../access/key-check.ts';
import { plainAddress, type RateLimit } from '../access/rate-limit.ts';
import type { Middleware } from './context.ts';
import { InvalidKeyError } from './errors.ts';
import { withLimitHeaders } from './limit.ts';

/**
 * Lets only requests with an active API key pass (KEYS-03). A request with a bad key counts against the address's
 * limit for bad keys instead of its general limit. Once that limit is reached, only keys that this process has seen
 * active are checked. So nobody can guess keys fast, and good keys from the same address still work.
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

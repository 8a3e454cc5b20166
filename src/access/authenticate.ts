import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidKeyError } from '../failures.ts';
import type { KeyCheck } from './api-keys.ts';
import { plainAddress, type RateLimit, toldWhenOver } from './rate-limit.ts';

/**
 * A hook that lets only requests with an active API key pass (specification 5). A request with a bad one
 * spends from the address's limit for bad keys instead of its general one. Once that is spent, only keys that
 * this process has seen active are looked at: keys can't be guessed at speed, and bad ones lock out no good
 * neighbour that is at work.
 */
export function authenticated(keys: KeyCheck, general: RateLimit, badKeys: RateLimit) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const key = keys(String(request.headers['x-api-key'] ?? ''));
    const address = plainAddress(request.ip);
    if (key !== undefined) {
      const mayBeLookedAt = key.hasBeenActive() || (await badKeys.hasLeft(address));
      if (mayBeLookedAt && (await key.isActive())) {
        request.keyId = key.id;
        request.spentMs = reply.elapsedTime;
        return;
      }
    }
    await general.giveBack(address);
    await toldWhenOver(request, reply, badKeys, () => badKeys.spend(address));
    throw new InvalidKeyError();
  };
}

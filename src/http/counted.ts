import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyUsage } from '../access/key-usage.ts';
import { requestSeconds } from '../metrics.ts';
import { statusOutcome } from '../outcome.ts';

/** A hook that counts how a request at this door ended and how long it took, and for whose key. */
export function countedAs(door: 'rest' | 'mcp', usage: KeyUsage) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const outcome = reply.outcome ?? statusOutcome(reply.statusCode);
    requestSeconds.observe({ door, outcome }, reply.elapsedTime / 1000);
    if (request.keyId !== null) usage.count(request.keyId, outcome);
    done();
  };
}

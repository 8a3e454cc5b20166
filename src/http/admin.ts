import type { Client } from '@opensearch-project/opensearch';
import type { FastifyInstance } from 'fastify';
import { liveIndex } from '../publications/alias.ts';

/** For the operator's machine alone: whether the process lives, and whether it can answer. */
export function adminRoutes(app: FastifyInstance, client: Client, indexPrefix: string): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const index = await liveIndex(client, indexPrefix).catch(() => undefined);
    reply.code(index === undefined ? 503 : 200);
    return { ready: index !== undefined, index: index ?? null };
  });
}

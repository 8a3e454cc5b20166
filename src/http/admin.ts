import type { Client } from '@opensearch-project/opensearch';
import type { FastifyInstance } from 'fastify';
import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookups.ts';
import { gauge, metrics } from '../metrics.ts';
import { liveIndex } from '../publications/alias.ts';
import type { LivePublicationTracker } from '../publications/live.ts';

/**
 * For the operator's machine alone: whether the process lives, whether it can answer, and its metrics.
 *
 * @param isStopping whether the process has been asked to stop; then it is not ready, while it still answers
 */
export function adminRoutes(
  app: FastifyInstance,
  client: Client,
  indexPrefix: string,
  isStopping: () => boolean,
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const index = await liveIndex(client, indexPrefix).catch(() => undefined);
    const isReady = index !== undefined && !isStopping();
    reply.code(isReady ? 200 : 503);
    return { ready: isReady, index: index ?? null, stopping: isStopping() };
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

/** What Prometheus is told of the state of the process and its data. */
export function stateGauges(
  tracker: LivePublicationTracker,
  lookups: Lookups,
  isRedisThere: () => boolean,
): void {
  gauge('licenses_lookups_in_flight', 'Lookups under way', () => lookups.inFlight());
  gauge('licenses_limits_shared', '1 while limits count in Redis, 0 while they count in memory', () =>
    isRedisThere() ? 1 : 0,
  );
  gauge('licenses_publication_age_days', 'Calendar days since the run date of the live publication', () => {
    const live = tracker.current();
    return live === undefined ? undefined : daysBetween(live.metadata.date, todayInOhio());
  });
  gauge('licenses_publication_licenses', 'Licenses in the live publication', () => {
    const live = tracker.current();
    return live === undefined
      ? undefined
      : [...live.licenses.values()].reduce((sum, count) => sum + count, 0);
  });
}

import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookup/service.ts';
import type { LivePublicationTracker } from '../publications/live.ts';
import { gauge, metrics } from '../telemetry/metrics.ts';
import { HEALTH_ROUTE } from './health.ts';
import type { Route } from './route.ts';

/**
 * For operators: whether the process lives, whether it can answer, and its metrics.
 *
 * @param isAnswering whether lookups are answered now
 * @param isStopping whether the process has been asked to stop; then it is not ready, while it still answers
 */
export function adminRoutes(
  tracker: LivePublicationTracker,
  isAnswering: () => Promise<boolean>,
  isStopping: () => boolean,
): Route[] {
  return [
    HEALTH_ROUTE,
    {
      method: 'GET',
      path: '/readyz',
      handle: async (ctx) => {
        const index = (await isAnswering()) ? tracker.current()?.index : undefined;
        const isReady = index !== undefined && !isStopping();
        ctx.status = isReady ? 200 : 503;
        ctx.body = { ready: isReady, index: index ?? null, stopping: isStopping() };
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async (ctx) => {
        ctx.body = await metrics.metrics();
        ctx.type = metrics.contentType;
      },
    },
  ];
}

/** Gauges of the process and its data. */
export function stateGauges(
  tracker: LivePublicationTracker,
  lookups: Pick<Lookups, 'inFlight'>,
  rosterItemsInFlight: () => number,
  isCountingShared: () => boolean,
  savedRecordsUsed: () => number | undefined,
): void {
  gauge('licenses_lookups_in_flight', 'Lookups under way', () => lookups.inFlight());
  gauge('licenses_roster_items_in_flight', 'Items of rosters under way and waiting', rosterItemsInFlight);
  gauge('licenses_limits_shared', '1 while limits count in Redis, 0 while they count in memory', () =>
    isCountingShared() ? 1 : 0,
  );
  gauge(
    'licenses_saved_records_used_ratio',
    'Records saved in the last 24 hours, of those allowed, as last counted',
    savedRecordsUsed,
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

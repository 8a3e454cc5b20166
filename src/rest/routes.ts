import { dataAgeDays } from '../answers/origin.ts';
import { type Guards, guarded, type Route } from '../http/guard.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { boardRoutes } from './boards.ts';
import { changesRoute, historyRoute } from './changes.ts';
import { exportRoute } from './export.ts';
import { REST_PATH } from './fields.ts';
import { rosterRoute } from './lists.ts';
import { lookupRoutes } from './lookup.ts';
import { recordsRoute } from './records.ts';
import type { RestServices } from './services.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { webhookRoutes } from './webhook.ts';

/** The endpoints of the REST API. */
export function restRoutes(services: RestServices): Route[] {
  const { lookups, rosters, changes } = services;
  return [
    ...lookupRoutes(lookups),
    rosterRoute(rosters, services.cost),
    ...boardRoutes(lookups),
    changesRoute(changes),
    historyRoute(changes, lookups),
    ...subscriptionRoutes(services),
    ...webhookRoutes(services.webhooks),
    exportRoute(services.exports, services.exporting),
    recordsRoute(services),
  ];
}

const LOOKUPS = ['verify', 'cached', 'batch'];

/**
 * Everything under `/api/v1`. Errors of lookups say how old the data is, too; null where nothing is known to be published.
 *
 * @param publishedDate the run date of the live publication, as last known
 */
export function restApi(
  routes: readonly Route[],
  publishedDate: () => string | undefined,
  guards: Omit<Guards, 'errorFacts'>,
) {
  const dataAge = () => {
    const date = publishedDate();
    return { data_age_days: date === undefined ? null : dataAgeDays({ date, today: todayInOhio() }) };
  };
  const errorFacts = new Map(LOOKUPS.map((name) => [`${REST_PATH}/lookup/${name}`, dataAge]));
  return guarded(REST_PATH, routes, { ...guards, errorFacts });
}

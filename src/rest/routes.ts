import type { RateLimit } from '../access/rate-limit.ts';
import { dataAgeDays } from '../answers/origin.ts';
import type { Changes } from '../changes/service.ts';
import { type Guards, guarded, type RosterCost, type Route } from '../http/guard.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { LicenseExports } from '../lookup/export.ts';
import type { Lookups } from '../lookup/service.ts';
import type { SavedRecords } from '../records/saved-records.ts';
import type { Rosters } from '../rosters/service.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { boardRoutes } from './boards.ts';
import { changesRoute, historyRoute } from './changes.ts';
import { type ExportAccess, exportRoute } from './export.ts';
import { REST_PATH } from './fields.ts';
import { rosterRoute } from './lists.ts';
import { lookupRoutes } from './lookup.ts';
import { recordsRoute } from './records.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { type WebhookAccess, webhookRoutes } from './webhook.ts';

/** What the endpoints need. */
interface RestServices {
  readonly lookups: Lookups;
  readonly rosters: Rosters;
  readonly changes: Changes;
  readonly subscriptions: Subscriptions;
  readonly exports: LicenseExports;
  readonly records: SavedRecords;
  readonly cost: RosterCost;
  readonly webhooks: WebhookAccess;
  readonly exporting: ExportAccess;
  /** How many records an account may save within a day. */
  readonly savesPerDay: RateLimit;
}

/** The endpoints of the REST API. */
export function restRoutes({ lookups, rosters, changes, subscriptions, ...services }: RestServices): Route[] {
  return [
    ...lookupRoutes(lookups),
    rosterRoute(rosters, services.cost),
    ...boardRoutes(lookups),
    changesRoute(changes),
    historyRoute(changes, lookups),
    ...subscriptionRoutes(lookups, rosters, subscriptions, services.cost),
    ...webhookRoutes(services.webhooks),
    exportRoute(services.exports, services.exporting),
    recordsRoute({ lookups, changes, records: services.records }, services.savesPerDay),
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

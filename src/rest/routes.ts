import compose from 'koa-compose';
import type { Logger } from 'pino';
import type { KeyCheck } from '../access/api-keys.ts';
import type { RateLimit } from '../access/rate-limit.ts';
import type { KeyUsage } from '../access/usage.ts';
import { dataAgeDays } from '../answers/origin.ts';
import type { Changes } from '../changes/service.ts';
import { httpsOnly } from '../http/app.ts';
import { authenticated, counted, limited, type RosterCost } from '../http/limits.ts';
import { type Middleware, type Route, routerOf, under } from '../http/route.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { LicenseExports } from '../lookup/export.ts';
import type { Lookups } from '../lookup/service.ts';
import type { SavedRecords } from '../records/saved-records.ts';
import type { Rosters } from '../rosters/service.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { boardsRoute, boardTypesRoute } from './boards.ts';
import { changesRoute, historyRoute } from './changes.ts';
import { type ExportAccess, exportRoute } from './export.ts';
import { REST_PATH } from './operation.ts';
import { recordsRoute } from './records.ts';
import { rosterRoute } from './roster.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { verifyRoutes } from './verify.ts';
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

/** The endpoints: lookups with their deprecated alias, rosters, boards, changes, subscriptions, webhooks, the export and saved records. */
export function restRoutes({
  lookups,
  rosters,
  changes,
  subscriptions,
  exports,
  records,
  ...access
}: RestServices): Route[] {
  return [
    ...verifyRoutes(lookups),
    rosterRoute(rosters, access.cost),
    boardsRoute(lookups),
    boardTypesRoute(lookups),
    changesRoute(changes),
    historyRoute(changes, lookups),
    ...subscriptionRoutes(lookups, rosters, subscriptions, access.cost),
    ...webhookRoutes(access.webhooks),
    exportRoute(exports, access.exporting),
    recordsRoute({ lookups, changes, records }, access.savesPerDay),
  ];
}

/** What every request passes before its endpoint. */
interface RestAccess {
  readonly log: Logger;
  readonly usage: KeyUsage;
  /** The run date of the live publication, as last known. */
  readonly publishedDate: () => string | undefined;
  readonly keys: KeyCheck;
  readonly limit: RateLimit;
  readonly badKeyLimit: RateLimit;
}

/** Everything under `/api/v1`. A request is counted and limited before its key is checked. */
export function restApi(
  routes: readonly Route[],
  { log, usage, publishedDate, keys, limit, badKeyLimit }: RestAccess,
) {
  return under(
    REST_PATH,
    compose([
      counted('rest', usage),
      withDataAge(publishedDate),
      limited(limit),
      httpsOnly(log),
      authenticated(keys, limit, badKeyLimit),
      routerOf(routes).routes(),
    ]),
  );
}

const LOOKUPS: ReadonlySet<string> = new Set(
  ['verify', 'cached', 'batch'].map((name) => `${REST_PATH}/lookup/${name}`),
);

/** Errors of lookups say how old the data is, too; null where nothing is known to be published. */
function withDataAge(publishedDate: RestAccess['publishedDate']): Middleware {
  return (ctx, next) => {
    if (LOOKUPS.has(ctx.path))
      ctx.state.errorFacts = () => {
        const date = publishedDate();
        return { data_age_days: date === undefined ? null : dataAgeDays({ date, today: todayInOhio() }) };
      };
    return next();
  };
}

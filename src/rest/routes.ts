import compose from 'koa-compose';
import type { KeyCheck } from '../access/api-keys.ts';
import type { RateLimit } from '../access/rate-limit.ts';
import type { KeyUsage } from '../access/usage.ts';
import { dataAgeDays } from '../answers/origin.ts';
import type { Middleware } from '../http/app.ts';
import { authenticated, counted, REST_PATH, type Route, routerOf, under } from '../http/guard.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { boardRoutes } from './boards.ts';
import { changesRoutes } from './changes.ts';
import { exportRoute } from './export.ts';
import { rosterRoute } from './lists.ts';
import { lookupRoutes } from './lookup.ts';
import { recordsRoute } from './records.ts';
import type { RestServices } from './services.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { webhookRoutes } from './webhook.ts';

/** The endpoints of the REST API. */
export function restRoutes(services: RestServices): Route[] {
  const ofLookups = [lookupRoutes, rosterRoute, boardRoutes];
  const ofChanges = [changesRoutes, subscriptionRoutes, webhookRoutes, exportRoute];
  return [...ofLookups, ...ofChanges, recordsRoute].flatMap((routesOf) => routesOf(services));
}

/** The router also accepts a trailing slash. */
const LOOKUPS = /^\/api\/v1\/lookup\/(?:verify|cached|batch)\/?$/;

/** The checks that every request passes before its route. */
interface Guards {
  readonly usage: KeyUsage;
  readonly keys: KeyCheck;
  readonly limit: RateLimit;
  readonly badKeyLimit: RateLimit;
}

/**
 * Everything under `/api/v1`. A request is counted and limited before its key is checked. Errors of lookups also have
 * the age of the data; it is null if no publication is known.
 *
 * @param publishedDate the run date of the live publication, as last known
 */
export function restApi(
  routes: readonly Route[],
  publishedDate: () => string | undefined,
  { usage, keys, limit, badKeyLimit }: Guards,
) {
  const dataAge = () => {
    const date = publishedDate();
    return { data_age_days: date === undefined ? null : dataAgeDays({ date, today: todayInOhio() }) };
  };
  const errorFacts: Middleware = (ctx, next) => {
    if (LOOKUPS.test(ctx.path)) ctx.state.errorFacts = dataAge;
    return next();
  };
  return under(
    REST_PATH,
    compose([
      errorFacts,
      counted('rest', limit, usage),
      authenticated(keys, limit, badKeyLimit),
      routerOf(routes).routes(),
    ]),
  );
}

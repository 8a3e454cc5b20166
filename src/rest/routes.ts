import type { Route } from '../http/route.ts';
import type { Lookups } from '../lookup/service.ts';
import { boardsRoute, boardTypesRoute } from './boards.ts';
import { cachedRoute, verifyRoute } from './verify.ts';

/** The four endpoints of specification 4. */
export function restRoutes(lookups: Lookups): Route[] {
  return [verifyRoute(lookups), cachedRoute(lookups), boardsRoute(lookups), boardTypesRoute(lookups)];
}

import type { Route } from '../http/route.ts';
import type { Lookups } from '../lookup/service.ts';
import type { Rosters } from '../rosters/service.ts';
import { boardsRoute, boardTypesRoute } from './boards.ts';
import { type RosterCost, rosterRoute } from './roster.ts';
import { cachedRoute, verifyRoute } from './verify.ts';

/** The four endpoints of specification 4, and rosters. */
export function restRoutes(lookups: Lookups, rosters: Rosters, cost: RosterCost): Route[] {
  return [
    verifyRoute(lookups),
    rosterRoute(rosters, cost),
    cachedRoute(lookups),
    boardsRoute(lookups),
    boardTypesRoute(lookups),
  ];
}

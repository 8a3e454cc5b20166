import type { Changes } from '../changes/service.ts';
import type { RosterCost } from '../http/limits.ts';
import type { Route } from '../http/route.ts';
import type { Lookups } from '../lookup/service.ts';
import type { Rosters } from '../rosters/service.ts';
import { boardsRoute, boardTypesRoute } from './boards.ts';
import { changesRoute, historyRoute } from './changes.ts';
import { rosterRoute } from './roster.ts';
import { verifyRoutes } from './verify.ts';

/** The endpoints: lookups with their deprecated alias, rosters, boards, and changes. */
export function restRoutes(lookups: Lookups, rosters: Rosters, changes: Changes, cost: RosterCost): Route[] {
  return [
    ...verifyRoutes(lookups),
    rosterRoute(rosters, cost),
    boardsRoute(lookups),
    boardTypesRoute(lookups),
    changesRoute(changes),
    historyRoute(changes, lookups),
  ];
}

import { isIP } from 'node:net';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { BoardActivity } from '../changes/board-activity.ts';
import type { Config } from '../config.ts';
import { httpApp, type Middleware, type RequestState } from '../http/app.ts';
import { ClientError } from '../http/errors.ts';
import { get, routerOf } from '../http/guard.ts';
import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookup/service.ts';
import type { LivePublicationTracker } from '../publications/live.ts';
import { gauge, gaugeByBoard } from '../telemetry/metrics.ts';

interface AdminOptions {
  readonly config: Pick<Config, 'ADMIN_HOST' | 'ADMIN_ALLOWED_HOSTS'>;
  readonly log: Logger;
  /** Aborted once the process has been asked to stop. */
  readonly stopping?: AbortSignal;
  /** The body of `/readyz`: whether the process can do its work, and why. */
  readonly readiness: () => Promise<{ readonly ready: boolean }>;
  readonly metrics: { readonly metrics: () => Promise<string>; readonly contentType: string };
}

/** An app for operators alone: that the process lives (`/healthz`), whether it can work (`/readyz`), and `/metrics`. */
export function adminApp({ config, log, stopping, readiness, metrics }: AdminOptions): Koa<RequestState> {
  const routes = [
    get('/healthz', (ctx) => {
      ctx.body = { status: 'ok' };
    }),
    get('/readyz', async (ctx) => {
      const body = await readiness();
      ctx.status = body.ready ? 200 : 503;
      ctx.body = body;
    }),
    get('/metrics', async (ctx) => {
      ctx.body = await metrics.metrics();
      ctx.type = metrics.contentType;
    }),
  ];
  const app = httpApp(log, stopping);
  app.use(operatorHosts([config.ADMIN_HOST, ...config.ADMIN_ALLOWED_HOSTS]));
  app.use(routerOf(routes).routes());
  return app;
}

/**
 * Lets only requests pass that name this machine as an operator does: by an IP address, by a name without a dot, or by
 * one of these names. A page that a browser has loaded from elsewhere can make its own name lead here (DNS rebinding);
 * a public name always has a dot.
 */
export function operatorHosts(names: readonly string[]): Middleware {
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  return async (ctx, next) => {
    const { hostname = '' } = URL.parse(`http://${ctx.req.headers.host}`) ?? {};
    const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
    if (hostname !== '' && (isAddress || !hostname.includes('.') || allowed.has(hostname))) return next();
    throw new ClientError(403, 'This port takes no requests for that host; ADMIN_ALLOWED_HOSTS can name it.');
  };
}

/** Gauges of the process and its data. */
export function stateGauges(
  tracker: LivePublicationTracker,
  lookups: Pick<Lookups, 'inFlight'>,
  rosterItemsInFlight: () => number,
  isCountingShared: () => boolean,
  records: Readonly<Record<'usedRatio' | 'storedRatio', () => number | undefined>>,
): void {
  gauge('licenses_lookups_in_flight', 'Lookups under way; at 1,000 others get 503', () => lookups.inFlight());
  gauge('licenses_roster_items_in_flight', 'Items of rosters under way and waiting', rosterItemsInFlight);
  gauge(
    'licenses_limits_shared',
    '1 while limits count in Redis; 0 while it takes no counts, and a minute after: each process counts alone',
    () => (isCountingShared() ? 1 : 0),
  );
  gauge(
    'licenses_saved_records_used_ratio',
    'Records saved in 24 hours, of SAVED_RECORDS_PER_DAY, when this process last saved one; absent a day later',
    records.usedRatio,
  );
  gauge(
    'licenses_saved_records_stored_ratio',
    'Records kept, of 400 times SAVED_RECORDS_PER_DAY or of SAVED_RECORDS_MB, when this process last saved one',
    records.storedRatio,
  );
  gauge(
    'licenses_publication_age_days',
    'Calendar days since the run date of the live publication; absent until something is published',
    () => {
      const live = tracker.current();
      return live && daysBetween(live.metadata.date, todayInOhio());
    },
  );
  const ofBoards = (read: (activity: BoardActivity, date: string) => number | null) => () => {
    const { activity = [], metadata } = tracker.current() ?? {};
    return [...activity].map(([board, each]) => [board, read(each, metadata?.date ?? '')] as const);
  };
  gaugeByBoard(
    'licenses_board_unchanged_days',
    'Calendar days from the last change of any license of a board to the run date of the live publication, by the name of the board',
    ofBoards(({ last_changed: last }, date) => (last === null ? null : daysBetween(last, date))),
  );
  gaugeByBoard(
    'licenses_board_usual_changes',
    'How many licenses of a board usually change with a publication, by the name of the board; absent until seven are known',
    ofBoards(({ usual_changes_per_day: usual }) => usual),
  );
  gauge(
    'licenses_publication_licenses',
    'Licenses in the live publication; absent until something is published',
    () => {
      const live = tracker.current();
      return live && [...live.licenses.values()].reduce((sum, count) => sum + count, 0);
    },
  );
}

import { isIP } from 'node:net';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { BoardActivity } from '../changes/board-activity.ts';
import type { Config } from '../config.ts';
import { httpApp, type Middleware, type RequestState } from '../http/app.ts';
import { ClientError } from '../http/errors.ts';
import { get, routerOf } from '../http/guard.ts';
import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookup/service.ts';
import type { LivePublicationTracker } from '../publications/live.ts';
import { gauge, gaugeBy } from '../telemetry/metrics.ts';

interface AdminOptions {
  readonly config: Pick<Config, 'ADMIN_HOST' | 'ADMIN_ALLOWED_HOSTS'>;
  readonly log: Logger;
  /** Aborted when the process is asked to stop. */
  readonly stopping?: AbortSignal;
  /** The body of `/readyz`: whether the process can do its work, and if not, why. */
  readonly readiness: () => Promise<{ readonly ready: boolean }>;
  readonly metrics: () => Promise<string>;
}

/**
 * The app for operators: whether the process is alive (`/healthz`), whether it is ready (`/readyz`), and `/metrics`.
 */
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
      ctx.body = await metrics();
      ctx.type = Registry.PROMETHEUS_CONTENT_TYPE;
    }),
  ];
  const app = httpApp(log, stopping);
  app.use(operatorHosts([config.ADMIN_HOST, ...config.ADMIN_ALLOWED_HOSTS]));
  app.use(routerOf(routes).routes());
  return app;
}

/**
 * Accepts only requests that address this machine as an operator does: by an IP address, by a name without a dot, or by
 * one of these names. A web page from elsewhere can make its own host name resolve to this machine (DNS rebinding), and
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
  gauge('licenses_lookups_in_flight', () => lookups.inFlight());
  gauge('licenses_roster_items_in_flight', rosterItemsInFlight);
  gauge('licenses_limits_shared', () => (isCountingShared() ? 1 : 0));
  gauge('licenses_saved_records_used_ratio', records.usedRatio);
  gauge('licenses_saved_records_stored_ratio', records.storedRatio);
  gauge('licenses_publication_age_days', () => {
    const live = tracker.current();
    return live && daysBetween(live.metadata.date, todayInOhio());
  });
  const ofBoards = (read: (activity: BoardActivity, date: string) => number | null) => () => {
    const { activity = [], metadata } = tracker.current() ?? {};
    return Array.from(activity, ([board, each]) => [board, read(each, metadata?.date ?? '')] as const);
  };
  const unchangedDays = ofBoards(({ last_changed: last }, date) =>
    last === null ? null : daysBetween(last, date),
  );
  gaugeBy('board', 'licenses_board_unchanged_days', unchangedDays);
  const usualChanges = ofBoards(({ usual_changes_per_day: usual }) => usual);
  gaugeBy('board', 'licenses_board_usual_changes', usualChanges);
  gauge('licenses_publication_licenses', () => {
    const live = tracker.current();
    return live && [...live.licenses.values()].reduce((sum, count) => sum + count, 0);
  });
}

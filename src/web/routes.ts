import createError from 'http-errors';
import compose from 'koa-compose';
import type { RateLimit } from '../access/rate-limit.ts';
import type { Changes } from '../changes/service.ts';
import type { Config } from '../config.ts';
import type { Context, Middleware } from '../http/context.ts';
import { errorResponse } from '../http/errors.ts';
import { limited } from '../http/limit.ts';
import { type Route, routerOf } from '../http/route.ts';
import type { KnownPublications } from '../http/status.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookup/service.ts';
import type { LivePublication } from '../publications/live.ts';
import type { SavedRecords } from '../records/saved-records.ts';
import type { Rosters } from '../rosters/service.ts';
import { webAssets } from './assets.ts';
import { dataPage } from './data-page.ts';
import { developersPage } from './developers-page.ts';
import { type ErrorPage, errorPage } from './error-page.ts';
import { licensePage } from './license-page.ts';
import { lookupPage } from './lookup-page.ts';
import { type Origin, pageWriter } from './page.ts';
import { recordPage, saveRecordPage } from './record-pages.ts';
import { rosterPages } from './roster-page.ts';

type Router = ReturnType<typeof routerOf>;
type RouterMiddleware = ReturnType<Router['routes']>;

/** What the website answers from. */
export interface WebServices {
  readonly lookups: Lookups;
  readonly changes: Changes;
  readonly rosters: Rosters;
  readonly records: SavedRecords;
  readonly live: () => LivePublication | undefined;
  readonly publications: KnownPublications;
  readonly config: Config;
  /** What is served beside the pages, for programs and for pages: their errors are JSON. */
  readonly files: readonly Route[];
  /** The website's own limits: of pages, and of saved records. */
  readonly limit: RateLimit;
  readonly saveLimits: readonly RateLimit[];
  /** Counts how requests end. */
  readonly counted: Middleware;
  /** Logs an error of the service. */
  readonly onError: (ctx: Context, error: unknown) => void;
}

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#162e51"/><path d="M4 8.5l3 3 5-7" fill="none" stroke="#fff" stroke-width="2"/></svg>`;

/**
 * The website: its pages and files, and an error page for browsers at every address that nothing serves. Every request
 * counts against the limit before anything else is done for it.
 */
export async function website(services: WebServices): Promise<RouterMiddleware> {
  const { live, config, limit } = services;
  const assets = await webAssets();
  const today = () => todayInOhio();
  const origin = (): Origin | undefined => {
    const now = live();
    return now && { date: now.metadata.date, isSampleData: now.metadata.sample };
  };
  const page = pageWriter(assets.styleSheet, today);
  const common = { ...services, page, today, origin };
  const pages: Route[] = [
    lookupPage(common),
    licensePage(common),
    saveRecordPage(common),
    recordPage(common),
    ...rosterPages({ ...common, cost: { limit, itemsPerRequest: config.ROSTER_ITEMS_PER_REQUEST } }),
    dataPage(common),
    developersPage(page, origin, config),
  ];
  const showError = errorPage(page, origin);
  const router = routerOf(pages);
  const files = routerOf([...services.files, ...assets.routes, favicon()]);
  return compose([
    services.counted,
    errorsAsPages(router, files, showError, services.onError),
    limited(limit),
    files.routes(),
    router.routes(),
    () => {
      throw createError(404);
    },
  ]);
}

function routeAt(router: Router, ctx: Context): string | undefined {
  const [matched] = router.match(ctx.path, ctx.method).path;
  return matched === undefined ? undefined : String(matched.path);
}

const NO_ROUTE = '(none)';

/** Whether a person asks: programs get errors as JSON. */
function acceptsPages(ctx: Context): boolean {
  return ctx.accepts('json', 'html') === 'html';
}

/**
 * Shows errors as pages where a page was asked for, and notes the page's route: the log must not have what was
 * searched.
 */
function errorsAsPages(
  pages: Router,
  files: Router,
  showError: ErrorPage,
  onError: WebServices['onError'],
): Middleware {
  return async (ctx, next) => {
    const route = routeAt(pages, ctx);
    const isFile = route === undefined && routeAt(files, ctx) !== undefined;
    if (!isFile) ctx.state.route = route ?? NO_ROUTE;
    try {
      await next();
    } catch (error) {
      const { status } = errorResponse(error);
      // What to accept is read only once the request has been counted: it may be long.
      const isPage = route !== undefined || (!isFile && status !== 429 && acceptsPages(ctx));
      if (!isPage) throw error;
      await showError(ctx, error);
      if (ctx.status >= 500) onError(ctx, error);
    }
  };
}

function favicon(): Route {
  return {
    method: 'GET',
    path: '/favicon.svg',
    handle: (ctx) => {
      ctx.set('cache-control', 'public, max-age=86400');
      ctx.type = 'image/svg+xml';
      ctx.body = FAVICON;
    },
  };
}

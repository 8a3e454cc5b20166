import createError from 'http-errors';
import compose from 'koa-compose';
import type { RateLimit } from '../access/rate-limit.ts';
import type { Config } from '../config.ts';
import type { Context, Middleware } from '../http/context.ts';
import { limited } from '../http/limit.ts';
import { type Route, routerOf } from '../http/route.ts';
import type { KnownPublications } from '../http/status.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { LivePublication } from '../publications/live.ts';
import type { SavedRecords } from '../records/store-records.ts';
import type { Rosters } from '../rosters/service.ts';
import { webAssets } from './assets.ts';
import { dataPage } from './data-page.ts';
import { developersPage } from './developers-page.ts';
import { type ErrorPage, errorPage } from './error-page.ts';
import { licensePage } from './license-page.ts';
import type { LicenseServices } from './license-view.ts';
import { lookupPage } from './lookup-page.ts';
import { type Origin, pageWriter } from './page.ts';
import { recordPage, saveRecordPage } from './record-pages.ts';
import { rosterPages } from './roster-page.ts';

type RouterMiddleware = ReturnType<ReturnType<typeof routerOf>['routes']>;

/** What the website answers from. */
export interface WebServices extends LicenseServices {
  readonly rosters: Rosters;
  readonly records: SavedRecords;
  readonly live: () => LivePublication | undefined;
  readonly publications: KnownPublications;
  readonly config: Config;
  /** The website's own limits: of pages, and of saved records. */
  readonly limit: RateLimit;
  readonly saveLimit: RateLimit;
  /** Counts how requests end. */
  readonly counted: Middleware;
  /** Logs an error of the service. */
  readonly onError: (ctx: Context, error: unknown) => void;
}

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#162e51"/><path d="M4 8.5l3 3 5-7" fill="none" stroke="#fff" stroke-width="2"/></svg>`;

/** The website: its pages, and an error page for browsers at every address that nothing serves. */
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
  return compose([
    routerOf([...assets.routes, favicon()]).routes(),
    onlyPages(router, async (ctx) => {
      if (acceptsPages(ctx)) await showError(ctx, createError(404));
    }),
    services.counted,
    errorsAsPages(showError, services.onError),
    limited(limit),
    router.routes(),
  ]);
}

/** Lets only requests for a page pass, and notes the page's route: the log must not have what was searched. */
function onlyPages(
  router: ReturnType<typeof routerOf>,
  elsewhere: (ctx: Context) => Promise<void>,
): Middleware {
  return (ctx, next) => {
    const [matched] = router.match(ctx.path, ctx.method).path;
    ctx.state.route = matched === undefined ? NO_ROUTE : String(matched.path);
    return matched === undefined ? elsewhere(ctx) : next();
  };
}

const NO_ROUTE = '(none)';

/** Whether a person asks: programs get errors as JSON. */
function acceptsPages(ctx: Context): boolean {
  return ctx.accepts('json', 'html') === 'html';
}

function errorsAsPages(showError: ErrorPage, onError: WebServices['onError']): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
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

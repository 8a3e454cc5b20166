import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import compose from 'koa-compose';
import type { Context } from '../http/app.ts';
import { REFUSED } from '../http/errors.ts';
import { counted, type Route, routerOf } from '../http/guard.ts';
import { staticFile } from '../http/static.ts';
import { aboutBody } from './about-page.ts';
import { dataBody } from './data-page.ts';
import { developersBody } from './developers-page.ts';
import { errorsAsPages } from './error-page.ts';
import { licensePage } from './license-pages.ts';
import { answeredListPage, LIST_TITLE, newListBody } from './list-pages.ts';
import {
  type Html,
  MARK,
  type PageContext,
  type PageServices,
  pageWriter,
  publicOrigin,
  type WebServices,
} from './page.ts';
import { recordPage, saveRecordPage } from './record-pages.ts';
import { searchPage } from './search-page.ts';

type RouterMiddleware = ReturnType<ReturnType<typeof routerOf>['routes']>;

type Page = (ctx: PageContext, services: PageServices) => Promise<void>;

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="#1d2a4d"/>${MARK}</svg>`;

/**
 * The website: its pages and files, and an error page for browsers at unknown addresses. Every request counts against
 * the limit before it is handled.
 */
export async function website(services: WebServices): Promise<RouterMiddleware> {
  const { live, limit, publications, config } = services;
  const [styleSheet, script] = await Promise.all([asset('styles.css'), asset('page.js')]);
  const favicon = staticFile('/favicon.svg', FAVICON, { 'cache-control': 'public, max-age=86400' });
  const sendPage = pageWriter({ styleSheet: styleSheet.path, script: script.path }, live);
  const common: PageServices = { ...services, sendPage };
  const page = (method: Route['method'], path: string, handle: Page): Route => {
    return { method, path, handle: (ctx) => handle(ctx, common) };
  };
  const contentPage = (path: string, title: string, body: (ctx: Context) => Html | Promise<Html>) =>
    page('GET', path, async (ctx) => sendPage(ctx, { title, body: await body(ctx), isPublic: true }));
  const router = routerOf([
    page('GET', '/', searchPage),
    page('GET', '/licenses/:board/:number', licensePage),
    page('POST', '/records', saveRecordPage),
    page('GET', '/records/:code', recordPage),
    page('POST', '/roster', answeredListPage),
    contentPage('/roster', LIST_TITLE, newListBody),
    contentPage('/data', 'The data', async () => dataBody(live(), await publications())),
    contentPage('/developers', 'For developers', (ctx) => developersBody(publicOrigin(ctx, config), config)),
    contentPage('/about', 'About this service', () => aboutBody(config)),
  ]);
  const files = routerOf([...services.files, favicon, styleSheet, script]);
  return compose([
    errorsAsPages(router, files, common),
    counted('web', limit),
    files.routes(),
    router.routes(),
    () => {
      throw REFUSED.nothingHere();
    },
  ]);
}

/** The address contains the hash of the content, so browsers may cache the file for a year. */
const CACHED = 'public, max-age=31536000, immutable';

/** Serves a file of this folder at an address that changes with its content. */
async function asset(name: string): Promise<Route> {
  const content = await readFile(new URL(`./${name}`, import.meta.url));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return staticFile(`/assets/${hash}/${name}`, content, { 'cache-control': CACHED });
}

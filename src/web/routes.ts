import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import createError from 'http-errors';
import compose from 'koa-compose';
import { limited, type Route, routerOf } from '../http/guard.ts';
import { staticFile } from '../http/static.ts';
import { aboutPage } from './about-page.ts';
import { dataPage } from './data-page.ts';
import { developersPage } from './developers-page.ts';
import { errorsAsPages } from './error-page.ts';
import { licensePage } from './license-pages.ts';
import { rosterPages } from './list-pages.ts';
import { MARK, type PageServices, pageWriter, type WebServices } from './page.ts';
import { recordPage, saveRecordPage } from './record-pages.ts';
import { searchPage } from './search-page.ts';

type RouterMiddleware = ReturnType<ReturnType<typeof routerOf>['routes']>;

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="#1d2a4d"/>${MARK}</svg>`;

/**
 * The website: its pages and files, and an error page for browsers at every address that nothing serves. Every request
 * counts against the limit before anything else is done for it.
 */
export async function website(services: WebServices): Promise<RouterMiddleware> {
  const { live, limit } = services;
  const [styleSheet, script, favicon] = await Promise.all([
    asset('styles.css'),
    asset('page.js'),
    staticFile('/favicon.svg', FAVICON, { 'cache-control': 'public, max-age=86400' }),
  ]);
  const common: PageServices = {
    ...services,
    page: pageWriter({ styleSheet: styleSheet.path, script: script.path }),
    origin: () => {
      const now = live();
      return now && { date: now.metadata.date, isSampleData: now.metadata.sample };
    },
  };
  const router = routerOf([
    searchPage(common),
    licensePage(common),
    saveRecordPage(common),
    recordPage(common),
    ...rosterPages(common),
    dataPage(common),
    developersPage(common),
    aboutPage(common),
  ]);
  const files = routerOf([...services.files, favicon, styleSheet, script]);
  return compose([
    services.counted,
    errorsAsPages(router, files, common),
    limited(limit),
    files.routes(),
    router.routes(),
    () => {
      throw createError(404);
    },
  ]);
}

/** The address has the hash of the content, so a year is not too long. */
const CACHED = 'public, max-age=31536000, immutable';

/** A file of this folder, under an address that changes with its content. */
async function asset(name: string): Promise<Route> {
  const content = await readFile(new URL(`./${name}`, import.meta.url));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return staticFile(`/assets/${hash}/${name}`, content, { 'cache-control': CACHED });
}

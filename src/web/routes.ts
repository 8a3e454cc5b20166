import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import createError from 'http-errors';
import compose from 'koa-compose';
import { limited, type Route, routerOf } from '../http/guard.ts';
import { staticFile } from '../http/static.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { aboutPage } from './about-page.ts';
import { dataPage } from './data-page.ts';
import { developersPage } from './developers-page.ts';
import { errorsAsPages } from './error-page.ts';
import { licensePage, licenseQrCode } from './license-pages.ts';
import { runAgainPage } from './list-record.ts';
import { lookupPage } from './lookup-page.ts';
import { MARK, type PageOrigin, type PageServices, pageWriter, type WebServices } from './page.ts';
import { recordCodePage, recordPage, saveRecordPage } from './record-pages.ts';
import { rosterPages } from './roster-page.ts';

type RouterMiddleware = ReturnType<ReturnType<typeof routerOf>['routes']>;

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="#1d2a4d"/>${MARK}</svg>`;

/**
 * The website: its pages and files, and an error page for browsers at every address that nothing serves. Every request
 * counts against the limit before anything else is done for it.
 */
export async function website(services: WebServices): Promise<RouterMiddleware> {
  const { live, limit } = services;
  const assets = await webAssets();
  const today = () => todayInOhio();
  const origin = (): PageOrigin | undefined => {
    const now = live();
    return now && { date: now.metadata.date, isSampleData: now.metadata.sample };
  };
  const page = pageWriter(assets, today);
  const common: PageServices = { ...services, page, today, origin };
  const pages: Route[] = [
    lookupPage(common),
    licensePage(common),
    licenseQrCode(common),
    saveRecordPage(common),
    recordCodePage(common),
    recordPage(common),
    runAgainPage(common),
    ...rosterPages(common),
    dataPage(common),
    developersPage(common),
    aboutPage(common),
  ];
  const router = routerOf(pages);
  const files = routerOf([...services.files, ...assets.routes]);
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

/** The design system's style sheet; ours comes after it. */
const DESIGN_SYSTEM = 'css/uswds.min.css';
const OWN_STYLES = new URL('./styles.css', import.meta.url);
const SCRIPT = 'page.js';

/** What the style sheet refers to and we serve: fonts in their smallest form, and icons. */
const REFERENCE = /url\(\.\.\/((?:fonts|img)\/[\w./-]+\.(?:woff2|svg))\)/g;

/** The address has the hash of the content, so a year is not too long. */
const CACHED = 'public, max-age=31536000, immutable';

/** Reads and compresses the files that pages refer to. The address of the style sheet changes with their content. */
async function webAssets() {
  const designSystem = await readDesignSystem(DESIGN_SYSTEM);
  const styles = Buffer.concat([designSystem, await readFile(OWN_STYLES)]);
  const names = new Set([...styles.toString().matchAll(REFERENCE)].flatMap(([, name]) => name ?? []));
  const script = await readFile(new URL(`./${SCRIPT}`, import.meta.url));
  const files = new Map<string, Buffer>([
    [DESIGN_SYSTEM, styles],
    [SCRIPT, script],
  ]);
  for (const name of names) files.set(name, await readDesignSystem(name));

  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(name).update(content);
  const base = `/assets/${hash.digest('hex').slice(0, 16)}`;
  const routes = [...files].map(([name, content]) =>
    staticFile(`${base}/${name}`, content, { 'cache-control': CACHED }),
  );
  const favicon = staticFile('/favicon.svg', FAVICON, { 'cache-control': 'public, max-age=86400' });
  return {
    styleSheet: `${base}/${DESIGN_SYSTEM}`,
    script: `${base}/${SCRIPT}`,
    routes: await Promise.all([...routes, favicon]),
  };
}

function readDesignSystem(name: string): Promise<Buffer> {
  return readFile(new URL(import.meta.resolve(`@uswds/uswds/${name}`)));
}

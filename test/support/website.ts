import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { HtmlValidate } from 'html-validate';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { z } from 'zod';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const axeResult = z.object({
  violations: z.array(
    z.object({ id: z.string(), help: z.string(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

const validator = new HtmlValidate({
  extends: ['html-validate:standard'],
  rules: { 'no-trailing-whitespace': 'off', 'void-style': 'off', 'long-title': 'off' },
});

/** A browser tab on the website that collects all problems. */
export type SiteTab = Awaited<ReturnType<typeof siteTab>>;

/** Every kind of element on a page, with its parent, its classes and the names of its attributes. */
const STRUCTURE = `[...new Set(Array.from(document.querySelectorAll('*'), (each) =>
  [each.parentElement?.localName, each.localName, each.getAttribute('class'), ...each.getAttributeNames().sort()].join(' ')
))].sort().join()`;

/**
 * The page structures already found valid, and accessible at a width and in a color scheme. Other pages with the same
 * structure differ only in text.
 */
const found = new Set<string>();

/** Half the width of a screen: what a browser shows at 200 % zoom. */
const ZOOMED = 720;
const PHONE = 360;

/** @param origin where the website is, such as `http://127.0.0.1:8080` */
export async function siteTab(
  browser: Browser,
  origin: string,
  { width = 1440, ...rest }: BrowserContextOptions & { readonly width?: number } = {},
) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, ...rest });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // The browser reports the page's own status, such as 404, as an error.
    if (!message.text().startsWith('Failed to load resource: the server responded with a status of'))
      complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== origin) complaints.push(`request: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });

  /** Expects no problems, unless a page with the same structure was already found to have none. */
  async function expectNone(look: string, problems: () => Promise<string[]>): Promise<void> {
    const key = look + z.string().parse(await page.evaluate(STRUCTURE));
    if (!found.has(key)) expect(await problems()).toEqual([]);
    found.add(key);
  }
  async function expectFits(): Promise<void> {
    const screen = page.viewportSize()?.width;
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(screen ?? 0);
  }
  async function expectGood(): Promise<void> {
    await expectNone('valid', () => htmlErrors(page));
    await expectNone(`accessible ${page.viewportSize()?.width}`, () => axeViolations(evaluate));
    await expectFits();
    expect(complaints).toEqual([]);
  }
  const evaluate = (script: string) => page.evaluate(script);
  const resize = (to: number) => page.setViewportSize({ width: to, height: 900 });
  return {
    page,
    /** The problems so far: errors, console output, requests to other hosts, dialogs. */
    complaints: complaints as readonly string[],
    /** Opens a path of the website. @returns the status code */
    open: async (path: string) => (await page.goto(`${origin}${path}`))?.status() ?? 0,
    /**
     * Expects that the current page is valid HTML without accessibility violations (checked once per structure), that
     * there are no complaints, and that the page is no wider than the screen.
     */
    expectGood,
    /** Expects the same on a phone and in dark mode, and that nothing is cut off at 200 % zoom. */
    expectGoodEverywhere: async () => {
      await expectGood();
      await page.emulateMedia({ colorScheme: 'dark' });
      // Only the colors differ in dark mode.
      await expectNone('dark', () => axeViolations(evaluate, ['color-contrast']));
      await page.emulateMedia({ colorScheme: null });
      await resize(ZOOMED);
      await expectFits();
      await resize(PHONE);
      await expectGood();
      await resize(width);
    },
    /** Clears complaints, closes additional pages and resets the medium for the next test. */
    reset: async () => {
      complaints.length = 0;
      for (const other of context.pages()) if (other !== page) await other.close();
      await page.emulateMedia({ media: null });
    },
  };
}

/** The validator's errors for the page's HTML as the browser has parsed it. */
async function htmlErrors(page: Page): Promise<string[]> {
  const report = await validator.validateString(await page.content());
  return report.results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId} in line ${line}: ${message}`),
  );
}

/**
 * @param evaluate runs a script in the page; the page's policy does not apply to it
 * @param runOnly the rules to check; all by default
 */
export async function axeViolations(
  evaluate: (script: string) => Promise<unknown>,
  runOnly?: readonly string[],
): Promise<string[]> {
  await evaluate(await readFile(AXE, 'utf8'));
  const options = JSON.stringify({ resultTypes: ['violations'], runOnly });
  const text = z.string().parse(await evaluate(`axe.run(document, ${options}).then(JSON.stringify)`));
  return axeResult
    .parse(JSON.parse(text))
    .violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
}

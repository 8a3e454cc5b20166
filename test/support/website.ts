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

/** A browser tab at the website, with all that it complained of. */
export type SiteTab = Awaited<ReturnType<typeof siteTab>>;

/** Every kind of element that a page has, with its parent, its classes and the names of its attributes. */
const STRUCTURE = `[...new Set(Array.from(document.querySelectorAll('*'), (each) =>
  [each.parentElement?.localName, each.localName, each.getAttribute('class'), ...each.getAttributeNames().sort()].join(' ')
))].sort().join()`;

/** The structures that were found valid, and accessible at a width and in colors: other pages of the same differ in text alone. */
const found = new Set<string>();

/** Half of a screen: what a browser at 200 % shows. */
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
    // The browser reports a page's own status, such as 404, as an error.
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

  /** Expects it unless a page of the same structure was found so. */
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
    /** What it complained of: errors, what was written to the console, what came from another host, dialogs. */
    complaints: complaints as readonly string[],
    /** Opens a path of the website. @returns the status code */
    open: async (path: string) => (await page.goto(`${origin}${path}`))?.status() ?? 0,
    /**
     * Expects that the page shown is valid HTML without accessibility violations, unless one of the same structure was,
     * that there is no complaint, and that the page is no wider than the screen.
     */
    expectGood,
    /** Expects the same on a phone and in the dark, and that at 200 % zoom nothing is cut off. */
    expectGoodEverywhere: async () => {
      await expectGood();
      await page.emulateMedia({ colorScheme: 'dark' });
      // Only the colors differ.
      await expectNone('dark', () => axeViolations(evaluate, ['color-contrast']));
      await page.emulateMedia({ colorScheme: null });
      await resize(ZOOMED);
      await expectFits();
      await resize(PHONE);
      await expectGood();
      await resize(width);
    },
    /** Forgets complaints, pages that were opened beside it, and the medium, for the next test. */
    reset: async () => {
      complaints.length = 0;
      for (const other of context.pages()) if (other !== page) await other.close();
      await page.emulateMedia({ media: null });
    },
  };
}

/** What a validator says of the page's HTML as the browser has read it. */
async function htmlErrors(page: Page): Promise<string[]> {
  const report = await validator.validateString(await page.content());
  return report.results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId} in line ${line}: ${message}`),
  );
}

/**
 * @param evaluate a script in the page; its policy does not apply to what a test evaluates
 * @param runOnly the rules; all, where there are none
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

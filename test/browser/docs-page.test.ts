import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';

const shown = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ summary: z.string() }))),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

/** The page at /docs, with the browser's requests and errors. */
interface DocsPage {
  readonly page: Page;
  /** Every URL that the browser requested. */
  readonly addresses: readonly string[];
  /** Errors of scripts and of the console, such as violations of the Content-Security-Policy. */
  readonly errors: readonly string[];
}

describeUnless(NO_BROWSER, 'the page at /docs, in a browser', () => {
  let service: ReadService;
  let origin: string;
  let browser: Browser;

  beforeAll(async () => {
    service = await sharedService();
    origin = `http://127.0.0.1:${service.environment.config.PORT}`;
    browser = await launchedBrowser();
  });
  afterAll(() => browser.close());

  async function openDocs(): Promise<DocsPage> {
    const page = await browser.newPage();
    const addresses: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      const { url } = message.location();
      if (['error', 'warning'].includes(message.type())) errors.push(`${url}: ${message.text()}`);
    });
    await page.goto(`${origin}/docs`);
    await page.locator('.opblock').first().waitFor();
    return { page, addresses, errors };
  }

  test('shows every operation and schema of the OpenAPI document without an error', async () => {
    const { paths, components } = shown.parse((await service.rest.get('/openapi.json')).body);
    const { page, errors } = await openDocs();
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => [method.toUpperCase(), path, summary]),
    );
    const blocks = await page.locator('.opblock').filter({ visible: true }).all();
    const seen = await Promise.all(
      blocks.map(async (block) => [
        await block.locator('.opblock-summary-method').textContent(),
        await block.locator('[data-path]').getAttribute('data-path'),
        await block.locator('.opblock-summary-description').textContent(),
      ]),
    );
    expect(seen.toSorted()).toEqual(operations.toSorted());

    const models = await page.locator('section.models .model-container').all();
    const names = await Promise.all(models.map((model) => model.getAttribute('data-name')));
    expect(names.toSorted()).toEqual(Object.keys(components.schemas).toSorted());
    expect(errors).toEqual([]);
    await page.close();
  });

  test('contacts only its own origin, and "Try it out" works with a key', async () => {
    const { page, addresses, errors } = await openDocs();
    await page.locator('button.authorize').first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.locator('input').fill(service.rest.key);
    await dialog.locator('button.authorize').click();
    await dialog.locator('button.btn-done').click();

    const boards = page.locator('#operations-Boards-boards');
    await boards.locator('.opblock-summary-control').click();
    await boards.getByRole('button', { name: 'Try it out' }).click();
    await boards.getByRole('button', { name: 'Execute' }).click();
    const response = boards.locator('.live-responses-table tbody tr.response');
    await response.waitFor();
    expect(await response.locator('.response-col_status').textContent()).toMatch(/^200\b/);
    expect(await response.locator('.response-col_description').textContent()).toContain('"Nursing Board"');

    expect(addresses).toContain(`${origin}/api/v1/lookup/boards`);
    const elsewhere = addresses.filter((address) => new URL(address).origin !== origin);
    // The style sheet's icons are data: URLs, which cause no requests.
    expect(elsewhere.filter((address) => !address.startsWith('data:'))).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  });
});

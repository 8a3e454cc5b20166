import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { todayInOhio } from '../../src/licenses/dates.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { startService, type TestService } from '../support/service.ts';
import { siteTab } from '../support/website.ts';

const ROWS = 2000;

describeUnless(NO_BROWSER, 'the website with sample data, in a browser', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    service = await startService({
      files: (folder) =>
        writeSampleData({ directory: join(folder, 'day'), rows: ROWS, seed: 3, date: todayInOhio() }),
    });
    browser = await launchedBrowser();
  });
  afterAll(() => browser.close());

  test('every page and every print says that the data is not real', async () => {
    const { page, open, expectGood, close } = await siteTab(
      browser,
      `http://127.0.0.1:${service.environment.config.PORT}`,
    );
    const isMarked = () => page.getByText('Generated, of no real person or business.').isVisible();
    for (const path of [
      '/',
      '/?q=Smith',
      '/licenses/NUR/RN.1',
      '/nothing',
      '/roster',
      '/data',
      '/developers',
    ]) {
      await open(path);
      expect(await isMarked()).toBe(true);
      await expectGood();
    }
    await open('/?q=Smith');
    await page.getByRole('rowheader').first().getByRole('link').click();
    await page.getByRole('button', { name: 'Save a record' }).click();
    for (const media of ['screen', 'print'] as const) {
      await page.emulateMedia({ media });
      expect(await isMarked()).toBe(true);
    }
    await expectGood();
    await close();
  });
});

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';
import { siteTabs, WIDTHS } from '../support/website.ts';

const NURSE = '/licenses/NUR/RN.900418822';

describeUnless(NO_BROWSER, 'saved records, in a browser', () => {
  let service: ReadService;
  let origin: string;
  let browser: Browser;
  let tabs: ReturnType<typeof siteTabs>;
  const tabOf: typeof tabs.tabOf = (options) => tabs.tabOf(options);
  /** The path of a record. */
  let record: string;

  beforeAll(async () => {
    service = await sharedService('evaluation');
    origin = `http://127.0.0.1:${service.environment.config.PORT}`;
    browser = await launchedBrowser();
    tabs = siteTabs(browser, origin);
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/?q=Beatrice+Holloway');
    await page.getByRole('link', { name: /HOLLOWAY, BEATRICE/i }).click();
    await page.getByText('Add who checked').click();
    await page.getByLabel('Checked by').fill('Ada Lovelace, Acme Staffing');
    await page.getByLabel('Reference').fill('Order 4711');
    await page.getByRole('button', { name: 'Save a record of this check' }).click();
    await page.waitForURL(/\/records\/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
    record = new URL(page.url()).pathname;
  });
  afterEach(() => tabs.release());
  afterAll(() => browser.close());

  /** Presses Tab until the element of a selector has the focus. */
  async function tabTo(page: Page, selector: string): Promise<void> {
    for (let tabs = 0; tabs < 40; tabs += 1) {
      await page.keyboard.press('Tab');
      if (await page.locator(selector).evaluate((element) => element.matches(':focus'))) return;
    }
    throw new Error(`The keyboard does not reach ${selector}.`);
  }

  for (const width of WIDTHS) {
    test.each([
      ['/records', 200],
      ['/records?code=x', 404],
      ['a saved record', 200],
    ])(`%s answers %d and is good at ${width} px, in both color schemes`, async (path, status) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const tab = await tabOf({ width, colorScheme });
        expect(await tab.open(path === 'a saved record' ? record : path)).toBe(status);
        await tab.expectGood();
      }
    });
  }

  test('a code is typed with the keyboard alone; a wrong one keeps what was typed', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/records');
    const code = record.split('/').at(-1) ?? '';
    await tabTo(page, '#code');
    await page.keyboard.type(code.slice(1));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByRole('link').press('Enter');
    const field = page.locator(':target');
    expect(await field.inputValue()).toBe(code.slice(1));
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill(code.toLowerCase().replaceAll('-', ' '));
    await page.keyboard.press('Enter');
    await page.waitForURL(origin + record);
    expect(await page.title()).toContain('HOLLOWAY RN.900418822 checked ');
    expect(await page.locator('main').textContent()).toContain('Typed: Beatrice Holloway');
  });

  test('a wrong reference comes back in an open field, with what was typed', async () => {
    const { page, open, expectGood } = await tabOf();
    await open(NURSE);
    await tabTo(page, '.save-record summary');
    await page.keyboard.press('Enter');
    await page.getByLabel('Checked by').fill('Ada');
    await page.getByLabel('Reference').fill('turned \u202e around');
    await page.getByLabel('Reference').press('Enter');
    await page.waitForURL(`${origin}/records`);
    expect(await page.title()).toContain('Error: ');
    await expectGood();
    expect(await page.getByLabel('Reference').isVisible()).toBe(true);
    expect(await page.getByLabel('Checked by').inputValue()).toBe('Ada');
    await page.getByLabel('Reference').fill('around');
    await page.getByLabel('Reference').press('Enter');
    await page.waitForURL(/\/records\/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
    expect(await page.locator('main').textContent()).toContain('around');
  });

  test('a record prints on one page, with its address and QR code, without what has changed since', async () => {
    const { page, open } = await tabOf();
    await open(record);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByText(origin + record).isVisible()).toBe(true);
    expect(await page.getByText('Ada Lovelace, Acme Staffing').isVisible()).toBe(true);
    expect(await page.getByText('Nothing has changed since').isVisible()).toBe(false);
    const box = await page.getByRole('img', { name: 'QR code' }).boundingBox();
    expect(box?.width).toBeGreaterThan(90);
    const pdf = await page.pdf({ format: 'Letter' });
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(1);
  });
});

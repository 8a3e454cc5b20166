/** @room website */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { inForm } from '../support/fault-form.ts';
import { fixturesAnd, nurseRow, pharmacyRow } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SiteTab, siteTab } from '../support/website.ts';

/** Each would run, or break out of its place, where a page does not escape it. */
const EVERY_HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  "'><svg onload=alert(3)>",
  '</textarea><script>alert(4)</script>',
  '</title><script>alert(5)</script>',
  'javascript:alert(6)',
  '&lt;b&gt;`{{alert(7)}}`',
] as const;

const HOSTILE = inForm<readonly string[]>({ short: EVERY_HOSTILE.slice(0, 2), long: EVERY_HOSTILE });

const NUMBER = 'RN.<b onclick=alert(8)>1';

/** A hostile value of every column that pages show. */
function hostileNurse(number: string, value: string) {
  return nurseRow(`${value}, ANN ${value}`, number, {
    TYPE: value,
    SUB_STATUS: value,
    BOARD_ACTION: value,
    COMPACT_ELIGIBILITY: value,
    FAVOURITE_COLOUR: value,
    PARCEL_CITY: value,
    PARCEL_COUNTY: value,
  });
}

describeUnless(NO_BROWSER, 'the website with hostile values, in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let tab: SiteTab;

  beforeAll(async () => {
    service = await startService({
      files: (folder) =>
        fixturesAnd(folder, {
          individual: [
            ...HOSTILE.map((value, at) => hostileNurse(`RN.66600${at}`, value)),
            hostileNurse(NUMBER, EVERY_HOSTILE[1]),
          ],
          business: HOSTILE.map((value, at) =>
            pharmacyRow(`EVIL ${value}`, `0266600${at}`, { parcel_city: value }),
          ),
        }),
    });
    browser = await launchedBrowser();
    tab = await siteTab(browser, `http://127.0.0.1:${service.environment.config.PORT}`);
  });
  afterAll(async () => {
    await tab.close();
    await browser.close();
  });

  test.each(HOSTILE.map((value, at) => [value, `RN.66600${at}`] as const))(
    'a license with %j in every field shows it as text, and so does its record',
    async (value, number) => {
      expect(await tab.open(`/licenses/NUR/${number}`)).toBe(200);
      expect(await tab.page.locator('main').textContent()).toContain(value);
      await tab.expectGood();
      await tab.page.getByRole('button', { name: 'Save a record' }).click();
      expect(await tab.page.locator('main').textContent()).toContain(value);
      await tab.expectGood();
    },
  );

  test('a hostile license number is only ever part of a path', async () => {
    expect(await tab.open(`/licenses/NUR/${encodeURIComponent(NUMBER)}`)).toBe(200);
    expect(await tab.page.locator('main').textContent()).toContain(NUMBER);
    await tab.expectGood();
  });

  test('results with hostile names show them as text', async () => {
    expect(await tab.open('/?q=evil')).toBe(200);
    const text = await tab.page.locator('main').textContent();
    for (const value of HOSTILE) expect(text).toContain(value.trim());
    await tab.expectGood();
  });

  test('the question of the columns shows hostile cells as text', async () => {
    await tab.open('/roster');
    const cells = HOSTILE.map((value) => `"${value.replaceAll('"', '""')}"`);
    await tab.page.getByLabel('Paste your list').fill(cells.map((cell) => `${cell},${cell}`).join('\n'));
    await tab.page.getByRole('button', { name: 'Check the list' }).click();
    expect(await tab.page.locator('h1').textContent()).toBe('What is in each column?');
    await tab.expectGood();
  });

  test.each(['q', 'page', 'kind', 'board', 'license_type', 'status', 'city'])(
    'a hostile %s in the address is shown as text',
    async (field) => {
      for (const value of HOSTILE) {
        await tab.open(`/?${new URLSearchParams({ q: 'Smith', [field]: value })}`);
        await tab.expectGood();
      }
    },
  );

  test.each(['/licenses/NUR/', '/licenses/', '/records/', '/'])(
    'a hostile path below %s is not repeated as HTML',
    async (path) => {
      for (const value of HOSTILE) {
        expect(await tab.open(path + encodeURIComponent(value))).toBe(404);
        await tab.expectGood();
      }
    },
  );

  test('a list with hostile cells shows them as text', async () => {
    await tab.open('/roster');
    const cells = HOSTILE.map((value) => `"${value.replaceAll('"', '""')}"`);
    const rows = cells.map((cell) => `${cell},${cell},${cell}`);
    await tab.page
      .getByLabel('Paste your list')
      .fill(['reference,last_name,license_number', ...rows].join('\n'));
    await tab.page.getByLabel('Board, where a row has none').selectOption('NUR');
    await tab.page.getByRole('button', { name: 'Check the list' }).click();
    const text = await tab.page.locator('main').textContent();
    for (const value of HOSTILE) expect(text).toContain(value.trim());
    await tab.expectGood();
  });
});

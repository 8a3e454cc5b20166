/** @room website */

import { beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { inForm } from '../support/fault-form.ts';
import { answered, type FileServer, fileServer } from '../support/file-server.ts';
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
const hostileNurse = (number: string, value: string) =>
  nurseRow(`${value}, ANN ${value}`, number, {
    ...{ TYPE: value, SUB_STATUS: value, BOARD_ACTION: value, COMPACT_ELIGIBILITY: value },
    ...{ FAVOURITE_COLOUR: value, PARCEL_CITY: value, PARCEL_COUNTY: value },
  });

/** A host that `MCP_ALLOWED_ORIGINS` names. */
const ALLOWED = 'pages.localhost';

describeUnless(NO_BROWSER, 'in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let tab: SiteTab;
  let otherSite: FileServer;

  beforeAll(async () => {
    otherSite = await fileServer(answered(200, { 'content-type': 'text/html' }, '<title>A page</title>'));
    service = await startService({
      settings: { MCP_ALLOWED_ORIGINS: ALLOWED },
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

  test('hostile names, and a hostile license number, are text in a list of results and part of a path', async () => {
    expect(await tab.open('/?q=evil')).toBe(200);
    const text = await tab.page.locator('main').textContent();
    for (const value of HOSTILE) expect(text).toContain(value.trim());
    await tab.expectGood();
    expect(await tab.open(`/licenses/NUR/${encodeURIComponent(NUMBER)}`)).toBe(200);
    expect(await tab.page.locator('main').textContent()).toContain(NUMBER);
    await tab.expectGood();
  });

  test('hostile values of every field in the address are shown as text', async () => {
    for (const value of HOSTILE) {
      for (const fields of [['q'], ['board', 'page'], ['kind', 'license_type', 'status', 'city']]) {
        const query = Object.fromEntries(fields.map((field) => [field, value]));
        await tab.open(`/?${new URLSearchParams({ q: 'Smith', ...query })}`);
        await tab.expectGood();
      }
    }
  });

  test('a hostile path is not repeated as HTML', async () => {
    const paths = ['/licenses/NUR/', '/licenses/', '/records/', '/'];
    for (const path of paths.flatMap((start) => HOSTILE.map((value) => start + encodeURIComponent(value)))) {
      expect(await tab.open(path)).toBe(404);
      await tab.expectGood();
    }
  });

  test('hostile cells of a list are text in the question of the columns and in the answer', async () => {
    const cells = HOSTILE.map((value) => `"${value.replaceAll('"', '""')}"`);
    const rows = cells.map((cell) => `${cell},${cell},${cell}`);
    const text = async (...lines: readonly string[]) => {
      await tab.open('/roster');
      await tab.page.getByLabel('Paste your list').fill(lines.join('\n'));
      await tab.page.getByLabel('Board for rows without one').selectOption('NUR');
      await tab.page.getByRole('button', { name: 'Check the list' }).click();
      await tab.expectGood();
      return tab.page.locator('main').textContent();
    };
    expect(await text(...rows)).toContain('What is in each column?');
    const answer = await text('reference,last_name,license_number', ...rows);
    for (const value of HOSTILE) expect(answer).toContain(value.trim());
  });

  test('pages of another website get results of MCP tools if their origin is allowed, else an error', async () => {
    const { port } = new URL(otherSite.url);
    const page = await browser.newPage();
    for (const [host, result] of [
      ['localhost', '"outcome":"found"'],
      ['127.0.0.1', '"outcome":"found"'],
      [ALLOWED, '"outcome":"found"'],
      ['other.localhost', 'TypeError: Failed to fetch'],
    ]) {
      await page.goto(`http://${host}:${port}/`);
      const text = await page.evaluate(async (address) => {
        const call = { name: 'verify_license', arguments: { license_number: 'RN.700001' } };
        const response = await fetch(address, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
        }).catch(String);
        return typeof response === 'string' ? response : response.text();
      }, `http://127.0.0.1:${service.environment.config.PORT}/mcp`);
      expect([host, text]).toEqual([host, expect.stringContaining(result ?? '')]);
    }
  });
});

import { readFile } from 'node:fs/promises';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { type ReadService, sharedService, startSampleService } from '../support/shared-service.ts';
import { type SiteTab, siteTab } from '../support/website.ts';

const NURSE = '/licenses/NUR/RN.900418822';

describeUnless(NO_BROWSER, 'the website, in a browser', () => {
  let service: ReadService;
  let origin: string;
  let browser: Browser;
  /** One for all tests: a new one takes as long as three pages. */
  let tab: SiteTab;
  const tabOf = (options: Parameters<typeof siteTab>[2]) => siteTab(browser, origin, options);

  beforeAll(async () => {
    service = await sharedService('evaluation');
    origin = `http://127.0.0.1:${service.environment.config.PORT}`;
    browser = await launchedBrowser();
    tab = await siteTab(browser, origin);
  });
  afterEach(() => tab.reset());

  /** A page of every template, and each of its parts. */
  test.each([
    ['/', 200, 'Look up a license'],
    ['/?q=Baxter&page=3', 200, '120 licenses for Baxter'],
    ['/?q=Whitfeld', 200, 'Showing WHITFIELD'],
    ['/?q=Nobody+Atall', 200, 'No license found for Nobody Atall'],
    ['/?q=&board=NUR', 400, 'Look up a license'],
    ['/?q=RN.900418822+Smith', 200, 'Name does not match: RN.900418822 Smith'],
    ['/licenses/NUR/RN.900266001', 200, 'Farrow, Linda'],
    ['/licenses/NUR/APRN.CNP.0900144500', 200, 'Farrow, Linda'],
    ['/licenses/NUR/RN.900433210', 200, 'Petrakis, Helen'],
    ['/licenses/NUR/RN.90041882', 404, 'No license with this number'],
    ['/licenses/NUR/RN.900350077', 404, 'License RN.900350077'],
    ['/no-such-page', 404, 'There is no such page'],
    ['/records/0000-0000-0000-0000', 404, 'No record with this code'],
    ['/roster', 200, 'Check a list of licenses'],
    ['/data', 200, 'The data'],
    ['/developers', 200, 'For developers'],
    ['/about', 200, 'About this service'],
  ])(
    '%s answers %d, good on a screen, on a phone, in the dark and at 200 %%',
    async (path, status, heading) => {
      const { page, open, expectGoodEverywhere } = tab;
      expect(await open(path)).toBe(status);
      expect(await page.locator('h1').textContent()).toBe(heading);
      await expectGoodEverywhere();
    },
  );

  test('sample data is called so on the screen and in print, in what is saved, too', async () => {
    const { url } = await startSampleService();
    const { page, open, expectGoodEverywhere } = await siteTab(browser, url);
    await open('/licenses/NUR/RN.987654321');
    const copied = await page.locator('[data-action=copy]').getAttribute('data-text');
    expect(copied).toMatch(
      /\nSAMPLE DATA: generated, no real person or business\. Data dated .*; the board is the authority\.$/,
    );
    const list = new FormData();
    list.set('roster', 'RN.987654321');
    list.set('format', 'csv');
    const answer = await fetch(`${url}/roster`, { method: 'POST', body: list, headers: { origin: url } });
    expect(answer.headers.get('content-disposition')).toContain('sample-data-checked.csv');
    await page.getByRole('button', { name: 'Save a record' }).click();
    for (const media of ['screen', 'print'] as const) {
      await page.emulateMedia({ media });
      expect(await page.getByText('Generated: no real person or business.').isVisible()).toBe(true);
    }
    await page.emulateMedia({ media: null });
    await expectGoodEverywhere();
  });

  const BOX = 'License number, person or business';

  test('a person is found without JavaScript, narrowed and paged, with the keyboard alone', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/');
    await page.getByLabel(BOX).focus();
    await page.keyboard.type('Baxter');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/?q=Baxter`);
    await page.getByRole('link', { name: 'Next' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/page=2/);
    expect(await page.getByText('Page 2 of 4').isVisible()).toBe(true);
    await page.getByText('Filters:').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('City').fill('Marietta');
    await page.getByLabel('City').press('Enter');
    await page.waitForURL(/city=Marietta/);
    expect(await page.locator('h1').textContent()).toBe('1 license for Baxter');
    await page.getByRole('rowheader').getByRole('link').click();
    expect(await page.locator('h1').textContent()).toContain('Baxter');
    // The next license is looked up from here.
    await page.getByLabel(BOX).fill('rn 900418822');
    await page.getByLabel(BOX).press('Enter');
    await page.waitForURL(origin + NURSE);
  });

  test('on a phone, the first hit is on the first screen, a card that begins with the name', async () => {
    const { page, open } = await tabOf({ width: 390 });
    await open('/?q=Whitfield');
    const top = async (place: string) => (await page.locator(place).first().boundingBox())?.y ?? 0;
    const name = await top('tbody th');
    // The fixtures are old, which takes two lines more.
    expect(name).toBeLessThan(780);
    expect(name).toBeLessThan(await top('tbody td'));
    await open('/licenses/NUR/RN.900266001');
    expect(await top('.verdict')).toBeLessThan(500);
  });

  test('a form error is in the title, and listed on top with a link to the field, which says it, too', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/?q=Whitfield&city=*');
    expect(await page.title()).toBe('Error: Look up a license | Ohio License Verification');
    const alert = page.getByRole('alert');
    await alert.getByRole('link').click();
    const field = page.locator(':target');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const described = (await field.getAttribute('aria-describedby')) ?? '';
    const words = (await alert.getByRole('link').textContent()) ?? '';
    expect(await page.locator(`#${described.split(' ').at(-1)}`).textContent()).toBe(`Error: ${words}`);
  });

  test('a license says how it stands and why, what changed, and who is the authority', async () => {
    const { page, open } = tab;
    await open('/licenses/NUR/RN.900433210');
    expect(await page.locator('.verdict').textContent()).toContain(
      'Not active: Inactive - Suspended. The board has suspended it. Ask the board for details.',
    );
    const text = await page.locator('body').textContent();
    for (const part of [
      'State data dated November 20, 2026',
      'Last changeNovember 20, 2026: Status changed from Active to Inactive - Suspended.',
      'Before you decide, check with the Nursing Board',
    ])
      expect(text).toContain(part);
    await open('/licenses/NUR/RN.900266001');
    await page.getByRole('link', { name: 'APRN.CNP.0900144500' }).click();
    expect(await page.locator('.verdict').textContent()).toContain(
      'The license that it endorses, RN.900266001:',
    );
    await page.getByRole('link', { name: 'RN.900266001' }).click();
    expect(page.url()).toBe(`${origin}/licenses/NUR/RN.900266001`);
  });

  test('a check is saved with a reference in three clicks; its record is found and prints on one page', async () => {
    const { page, open, expectGoodEverywhere } = tab;
    await open(NURSE);
    await page.getByText('Add who checked').click();
    await page.getByLabel('Checked by').fill('Ada Lovelace, Acme Staffing');
    await page.getByLabel('Reference').fill('Order 4711');
    await page.getByLabel('Reference').press('Enter');
    await page.waitForURL(/\/records\/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
    const address = page.url();
    await expectGoodEverywhere();
    // The button to print is above the verdict.
    const print = await page.getByRole('button', { name: 'Print' }).boundingBox();
    expect(print?.y).toBeLessThan((await page.locator('.verdict').boundingBox())?.y ?? 0);
    await page.getByLabel(BOX).fill(address.split('/').at(-1)?.toLowerCase().replaceAll('-', ' ') ?? '');
    await page.getByLabel(BOX).press('Enter');
    await page.waitForURL(address);
    await page.emulateMedia({ media: 'print' });
    const words = ['Ada Lovelace, Acme Staffing', 'Order 4711', 'This is not a website of the State'];
    for (const text of [...words, address]) expect(await page.getByText(text).first().isVisible()).toBe(true);
    expect(await page.getByText('State data dated').first().textContent()).toMatch(/read .* days? old/);
    expect(await page.getByText('still says the same').isVisible()).toBe(false);
    expect(await page.getByRole('button').first().isVisible()).toBe(false);
    expect(pagesOf(await page.pdf({ format: 'Letter' }))).toBe(1);
  });

  test('a script shows the buttons that copy and print; without it there are none', async () => {
    const withScript = await tabOf({ permissions: ['clipboard-read', 'clipboard-write'] });
    await withScript.open(NURSE);
    await withScript.page.getByRole('button', { name: 'Copy' }).click();
    await withScript.page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await withScript.page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain('HOLLOWAY, BEATRICE ANN');
    expect(copied).toContain('Status: Active');
    const without = await tabOf({ javaScriptEnabled: false });
    await without.open(NURSE);
    expect(await without.page.getByRole('button', { name: /Copy|Print/ }).count()).toBe(0);
  });

  const shown = z.object({
    paths: z.record(z.string(), z.record(z.string(), z.looseObject({ summary: z.string() }))),
    components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
  });

  test('/docs shows every operation and schema of the OpenAPI document; "Try it out" works with a key', async () => {
    const { paths, components } = shown.parse((await service.rest.get('/openapi.json')).body);
    const { page, open, complaints } = tab;
    await open('/docs');
    await page.locator('.opblock').first().waitFor();
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
    expect(complaints).toEqual([]);
  });

  test('a browser at the address of the MCP server gets the page that says how to connect', async () => {
    const { page, open } = tab;
    await open('/mcp');
    expect(page.url()).toBe(`${origin}/developers#assistants`);
    expect(await page.locator('main').textContent()).toContain(`${origin}/mcp`);
  });

  test('a pasted list is answered as a page and as a file, saved and checked again, without JavaScript', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/roster');
    const rows = 'A\tRN.900418822\tHolloway\nB\tRN.900418822\tSmith\nC\t\tWhitfield\nD\tRN.1\t\nE\t\t\n';
    await page.getByLabel('Paste your list').fill(`Emp ID\tLic #\tSurname\n${rows}`);
    await page.getByRole('button', { name: 'Check the list' }).click();
    await page.getByLabel('Which board?').selectOption('Nursing Board');
    await page.getByRole('button', { name: 'Check again with this board' }).click();
    expect(await page.locator('h1').textContent()).toBe('4 of 5 need attention');
    expect(await page.locator('h2').allTextContents()).toEqual([
      'Look at each of these: 2 rows',
      'Not found: 1 row',
      'Not checked: 1 row',
      'Clear: 1 row',
    ]);
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['3', '4', '5', '6', '2']);
    const mismatch = await page.getByRole('row', { name: /^3 / }).textContent();
    for (const text of ['Smith', 'Holloway, Beatrice Ann', 'Name does not match'])
      expect(mismatch).toContain(text);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('licenses-checked.csv');
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(lines.length).toBe(7);
    expect(lines[0]).toContain('Emp ID,Lic #,Surname,result_outcome');
    await page.getByRole('button', { name: 'Save this check' }).click();
    await page.waitForURL(/\/records\/[0-9A-Z-]{19}$/);
    expect(await page.locator('h1').textContent()).toBe('4 of 5 need attention');
    await page.getByRole('button', { name: 'Check again' }).click();
    expect(await page.locator('h1').textContent()).toBe('4 of 5 need attention');
  });

  test('a workbook as LibreOffice writes it is answered and saved, on a phone, too', async () => {
    const { page, open, expectGoodEverywhere } = tab;
    await open('/roster');
    await page.getByLabel('Or choose a file').setInputFiles('test/fixtures/lists/roster.xlsx');
    await page.getByRole('button', { name: 'Check the list' }).click();
    expect(await page.locator('h1').textContent()).toBe('4 of 6 need attention');
    await expectGoodEverywhere();
    const [offered] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: '03900123456' }).click(),
    ]);
    expect(await offered.locator('main').textContent()).toContain('Estrada, Carlos');
    await page.getByRole('button', { name: 'Save this check' }).click();
    await page.waitForURL(/\/records\//);
    await expectGoodEverywhere();
  });

  test('unclear columns are asked for, and the rows are kept', async () => {
    const { page, open, expectGood } = tab;
    await open('/roster');
    await page.getByLabel('Paste your list').fill('Wer;Nummer\nHolloway;RN.900418822\n');
    await page.getByRole('button', { name: 'Check the list' }).click();
    expect(await page.locator('h1').textContent()).toBe('What is in each column?');
    await page.getByRole('button', { name: 'Check the list' }).click();
    await page.getByRole('link', { name: 'Say which column has the license number' }).click();
    expect(new URL(page.url()).hash).toBe('#column-1');
    await expectGood();
    await page.getByLabel('Which row is the header row?').selectOption('Row 1: Wer, Nummer');
    await page.getByLabel('Column 1').selectOption('Last name');
    await page.getByLabel('Column 2').selectOption('License number');
    await page.getByRole('button', { name: 'Check the list' }).click();
    expect(await page.locator('h1').textContent()).toBe('The row is clear');
    await page.getByRole('button', { name: 'Choose the columns' }).click();
    expect(await page.getByLabel('Column 2: Nummer').inputValue()).toBe('license_number');
  });
});

/** How many pages a PDF has. */
const pagesOf = (pdf: Buffer): number => [...pdf.toString('latin1').matchAll(/\/Type\s*\/Page\b/g)].length;

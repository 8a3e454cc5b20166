import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';
import { siteTabs, WIDTHS } from '../support/website.ts';

const NURSE = '/licenses/NUR/RN.900418822';

describeUnless(NO_BROWSER, 'the website, in a browser', () => {
  let service: ReadService;
  let origin: string;
  let browser: Browser;
  let tabs: ReturnType<typeof siteTabs>;
  const tabOf: typeof tabs.tabOf = (options) => tabs.tabOf(options);

  beforeAll(async () => {
    service = await sharedService('evaluation');
    origin = `http://127.0.0.1:${service.environment.config.PORT}`;
    browser = await launchedBrowser();
    tabs = siteTabs(browser, origin);
  });
  afterEach(() => tabs.release());
  afterAll(() => browser.close());

  const PAGES: readonly (readonly [path: string, status: number, heading: string])[] = [
    ['/', 200, 'Look up a license'],
    ['/?by=person', 200, 'Look up a license'],
    ['/?q=Whitfield', 200, '2 licenses for Whitfield'],
    ['/?q=Baxter', 200, '120 licenses for Baxter'],
    ['/?q=Baxter&by=person&board=NUR&page=3', 200, '120 licenses for Baxter'],
    ['/?q=Whitfield&city=Tolede&board=NUR', 200, 'No license found for Whitfield'],
    ['/?q=Whitfield&last_name=Whitfield', 400, 'Look up a license'],
    ['/?q=&board=NUR', 400, 'Look up a license'],
    ['/?q=1st+Choice', 200, 'No license found for 1st Choice'],
    ['/?number=RN.900418822&last_name=Smith', 200, '1 license for RN.900418822'],
    ['/?by=person&last_name=Whitfield', 200, '2 licenses for Whitfield'],
    ['/?by=person&last_name=Whitfeld', 200, 'No license found for Whitfeld'],
    ['/?by=person&last_name=Whitfield&first_name=Zoe', 200, 'No license found for Zoe Whitfield'],
    ['/?by=person&last_name=Whitfield&license_type=Wizard', 400, 'Look up a license'],
    ['/?by=business&business_name=Shear+Grace', 200, '2 licenses for Shear Grace'],
    ['/?by=business&business_name=Sheer+Grase', 200, 'No license found for Sheer Grase'],
    ['/?by=number&number=RN.90041882', 200, 'No license found for RN.90041882'],
    ['/?q=RN.900418822&board=MED', 200, 'RN.900418822 is a number of another board than the Medical Board'],
    [NURSE, 200, 'Holloway, Beatrice Ann'],
    ['/licenses/NUR/RN.900266001', 200, 'Farrow, Linda'],
    ['/licenses/NUR/APRN.CNP.0900144500', 200, 'Farrow, Linda'],
    ['/licenses/NUR/RN.900377120', 200, 'Garrison, Paul Lee'],
    ['/licenses/PRX/02912345678', 200, 'Maple Health LLC D.B.A Quail Hollow Drugs'],
    ['/licenses/NUR/RN.90041882', 404, 'No license with this number'],
    ['/licenses/NUR/RN.900350077', 404, 'License RN.900350077'],
    ['/licenses/XYZ/1', 404, 'There is no such page'],
    ['/no-such-page', 404, 'There is no such page'],
    ['/records/0000-0000-0000-0000', 404, 'No record with this code'],
    ['/roster', 200, 'Check a list of licenses'],
    ['/data', 200, 'The data'],
    ['/developers', 200, 'For developers'],
    ['/about', 200, 'About this service'],
  ];

  for (const width of WIDTHS) {
    test.each(PAGES)(`%s answers %d and is good at ${width} px`, async (path, status, heading) => {
      const tab = await tabOf({ width });
      expect(await tab.open(path)).toBe(status);
      expect(await tab.page.locator('h1').textContent()).toBe(heading);
      await tab.expectGood();
    });
  }

  const BOX = 'License number, person or business';

  test('a person is found at all boards without JavaScript, with near names for a mistyped one', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/');
    await page.getByLabel(BOX).fill('whitfeld');
    await page.getByRole('button', { name: 'Look up' }).click();
    expect(await page.locator('main').textContent()).toContain(
      'No license of any of the 24 boards for a person or business with the name “whitfeld” is in the State’s dataset of November 20, 2026.',
    );
    expect(page.url()).toBe(`${origin}/?q=whitfeld`);
    await page.getByRole('link', { name: 'WHITFIELD' }).click();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Persons: 2 licenses',
      'Businesses: no license',
    ]);
    expect(await page.locator('tbody tr td:nth-child(2)').allTextContents()).toEqual([
      'RN.900402255',
      'PN.900118830',
    ]);
    expect(await page.getByLabel(BOX).inputValue()).toBe('WHITFIELD');
  });

  test('results are narrowed and paged by links, with the keyboard alone', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/');
    await page.getByLabel(BOX).focus();
    await page.keyboard.type('Baxter');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/?q=Baxter`);
    const press = async (name: string) => {
      await page.getByRole('link', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };
    await press('Page 2');
    await page.waitForURL(/page=2/);
    expect(await page.getByRole('link', { name: 'Page 2' }).getAttribute('aria-current')).toBe('page');
    expect(await page.getByRole('caption').textContent()).toContain('26 to 50 of 120');
    await open('/?q=Baxter&city=Marietta&status=Closed');
    await press('Remove status: Closed');
    await page.waitForURL(`${origin}/?q=Baxter&city=Marietta`);
    expect(await page.locator('h1').textContent()).toBe('1 license for Baxter');
  });

  test('on a phone, a link on top opens the form, and a row is a card that begins with the name', async () => {
    const { page, open, expectGood } = await tabOf({ width: 390 });
    await open('/?q=Whitfield&board=NUR');
    const form = page.getByRole('search');
    expect(await form.isVisible()).toBe(false);
    const [name, number] = await Promise.all(
      ['tbody th', 'tbody td'].map((cell) => page.locator(cell).first().boundingBox()),
    );
    expect(name?.y).toBeLessThan(number?.y ?? 0);
    // The label of a value stands before it.
    const padding = await page.evaluate('getComputedStyle(document.querySelector("tbody td")).paddingLeft');
    expect(Number.parseInt(String(padding), 10)).toBeGreaterThan(80);
    await page.getByRole('link', { name: 'Change search' }).click();
    expect(await form.isVisible()).toBe(true);
    expect(await page.getByLabel(BOX).inputValue()).toBe('Whitfield');
    expect(await page.getByLabel('Board').inputValue()).toBe('NUR');
    await expectGood();
    const wide = await tabOf();
    await wide.open('/?q=Whitfield');
    expect(await wide.page.getByRole('search').isVisible()).toBe(true);
    expect(await wide.page.getByRole('link', { name: 'Change search' }).isVisible()).toBe(false);
  });

  test('a form error is in the title, and listed on top with a link to the field, which says it, too', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/?by=person&last_name=Whitfield&license_type=Wizard');
    expect(await page.title()).toBe('Error: Look up a license | Ohio License Verification');
    const alert = page.getByRole('alert');
    await alert.getByRole('link').click();
    const field = page.locator(':target');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const described = (await field.getAttribute('aria-describedby')) ?? '';
    const words = (await alert.getByRole('link').textContent()) ?? '';
    expect(await page.locator(`#${described.split(' ').at(-1)}`).textContent()).toBe(`Error: ${words}`);
  });

  test('a number leads to the license however it is written, and a near one is offered as a link', async () => {
    const { page, open } = await tabOf({ javaScriptEnabled: false });
    await open('/?q=rn 900418822');
    expect(page.url()).toBe(`${origin}${NURSE}`);
    await open('/licenses/nur/rn900418822');
    expect(page.url()).toBe(`${origin}${NURSE}`);
    await open('/?by=number&number=RN.90041882');
    await page.getByRole('link', { name: 'RN.900418822' }).click();
    expect(page.url()).toBe(`${origin}${NURSE}`);
  });

  test('a number of another board leads there', async () => {
    const { page, open } = await tabOf();
    await open('/?q=RN.900418822&board=MED');
    await page.getByRole('link', { name: 'Nursing Board' }).click();
    expect(page.url()).toBe(`${origin}${NURSE}`);
  });

  test('a license and its endorsement lead to each other', async () => {
    const { page, open } = await tabOf();
    await open('/licenses/NUR/RN.900266001');
    await page.getByRole('link', { name: 'APRN.CNP.0900144500' }).click();
    expect(await page.locator('main').textContent()).toContain('APRN - Certified Nurse Practitioner');
    await page.getByRole('link', { name: 'RN.900266001' }).click();
    expect(page.url()).toBe(`${origin}/licenses/NUR/RN.900266001`);
  });

  test('a license says what its status means, what changed, and who is the authority', async () => {
    const { page, open } = await tabOf();
    await open('/licenses/NUR/RN.900433210');
    const text = await page.locator('main').textContent();
    for (const part of [
      'Inactive - Suspended',
      'The board has suspended it.',
      'Yes. The board has acted on this license',
      'Status changed from Active to Inactive - Suspended.',
      'The Nursing Board is the authority on its licenses.',
      'As of the State’s dataset of November 20, 2026',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('a check is saved with the keyboard alone, in three clicks, and shown again as it was', async () => {
    const { page, open, expectGood } = await tabOf();
    await open('/');
    await page.getByLabel(BOX).focus();
    await page.keyboard.type('RN.900418822');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}${NURSE}`);
    const focused = () => page.evaluate('document.activeElement.textContent');
    for (let tabs = 0; tabs < 40 && (await focused()) !== 'Save a record of this check'; tabs += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/records\/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
    const text = await page.locator('main').textContent();
    expect(text).toContain('Holloway, Beatrice Ann');
    expect(text).toContain('Nothing has changed since.');
    await expectGood();
    const code = page.url().split('/').at(-1) ?? '';
    await open(`/records/${code.toLowerCase().replaceAll('-', ' ')}`);
    expect(await page.locator('main').textContent()).toContain('Holloway, Beatrice Ann');
    const printed = await page.pdf({ format: 'Letter' });
    expect(pagesOf(printed)).toBe(1);
  });

  test('a license prints on one page, marked as what it is', async () => {
    const { page, open } = await tabOf();
    await open('/licenses/NUR/RN.900266001');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByText('This is not a website of the State of Ohio.').isVisible()).toBe(true);
    expect(await page.getByRole('button').first().isVisible()).toBe(false);
    expect(pagesOf(await page.pdf({ format: 'Letter' }))).toBe(1);
    const { pathname } = new URL(page.url());
    expect(await page.getByText(`This page: ${origin}${pathname}`).isVisible()).toBe(true);
    const code = page.locator('.printed-address img');
    await page.waitForFunction('document.querySelector(".printed-address img").naturalWidth > 0');
    expect(await code.isVisible()).toBe(true);
  });

  test('a script shows the buttons that copy, share and print; without it there are none', async () => {
    const withScript = await tabOf({ permissions: ['clipboard-read', 'clipboard-write'] });
    await withScript.open(NURSE);
    await withScript.page.getByRole('button', { name: 'Copy' }).click();
    await withScript.page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await withScript.page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain('HOLLOWAY, BEATRICE ANN');
    expect(copied).toContain('Status: Active');
    const without = await tabOf({ javaScriptEnabled: false });
    await without.open(NURSE);
    expect(await without.page.getByRole('button', { name: /Copy|Share|Print/ }).count()).toBe(0);
  });

  test('a browser at the address of the MCP server gets the page that says how to connect', async () => {
    const { page, open } = await tabOf();
    await open('/mcp');
    expect(page.url()).toBe(`${origin}/developers#assistants`);
    expect(await page.locator('main').textContent()).toContain(`${origin}/mcp`);
  });

  test.each(['light', 'dark'] as const)(
    'text has enough contrast in a %s color scheme',
    async (colorScheme) => {
      const { open, expectGood } = await tabOf({ colorScheme });
      for (const path of ['/', NURSE, '/licenses/NUR/RN.900377120', '/data', '/developers', '/roster']) {
        await open(path);
        await expectGood();
      }
    },
  );

  test('style sheet, fonts and the one small script of a first visit are under 150 KB', async () => {
    const { page, open } = await tabOf();
    const sizes = new Map<string, number>();
    page.on('response', async (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith('/assets/'))
        sizes.set(pathname, (await response.request().sizes()).responseBodySize);
    });
    await open('/');
    await page.waitForLoadState('networkidle');
    const names = [...sizes.keys()];
    expect(names.some((name) => name.endsWith('.css'))).toBe(true);
    expect(names.some((name) => name.endsWith('.woff2'))).toBe(true);
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
    expect(await page.locator('script').count()).toBe(1);
    expect(sizes.get(names.find((name) => name.endsWith('.js')) ?? '')).toBeLessThan(2000);
  });

  const JAVASCRIPT = [
    ['with JavaScript', true],
    ['without JavaScript', false],
  ] as const;

  test.each(JAVASCRIPT)(
    'a pasted list is answered as a page and as a file %s',
    async (_what, javaScriptEnabled) => {
      const { page, open } = await tabOf({ javaScriptEnabled });
      await open('/roster');
      await page
        .getByLabel('Paste your list')
        .fill(
          'Emp ID\tLic #\tSurname\nA\tRN.900418822\tHolloway\nB\tRN.900418822\tSmith\nC\t\tWhitfield\nD\tRN.1\t\nE\t\t\n',
        );
      await page.getByLabel('Board of the rows that name none').selectOption('Nursing Board');
      await page.getByRole('button', { name: 'Check the list' }).click();
      expect(await page.locator('h1').textContent()).toBe(
        '1 clear, 2 need attention, 1 not found, 1 not understood',
      );
      expect(await page.locator('h2').allTextContents()).toEqual([
        'Need attention: 2 rows',
        'Not found: 1 row',
        'Not understood: 1 row',
        'Clear: 1 row',
      ]);
      expect(await page.locator('.list-rows tbody th').allTextContents()).toEqual(['3', '4', '5', '6', '2']);
      const mismatch = await page.getByRole('row', { name: /^3 / }).textContent();
      for (const text of ['Smith', 'Holloway, Beatrice Ann', 'Name does not match']) {
        expect(mismatch).toContain(text);
      }
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download as CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('licenses-checked.csv');
      const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
      expect(lines.length).toBe(7);
      expect(lines[0]).toContain('Emp ID,Lic #,Surname,result_outcome');
    },
  );

  test.each(JAVASCRIPT)(
    'a workbook as LibreOffice writes it is answered %s',
    async (_what, javaScriptEnabled) => {
      const { page, open } = await tabOf({ javaScriptEnabled });
      await open('/roster');
      await page.getByLabel('Or choose a file').setInputFiles('test/fixtures/lists/roster.xlsx');
      await page.getByRole('button', { name: 'Check the list' }).click();
      expect(await page.locator('h1').textContent()).toBe(
        '2 clear, 2 need attention, 2 not found, 0 not understood',
      );
      const [offered] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('link', { name: '03900123456' }).click(),
      ]);
      expect(await offered.locator('main').textContent()).toContain('Estrada, Carlos');
      await page.getByRole('button', { name: 'Save this check' }).click();
      await page.waitForURL(/\/records\/[0-9A-Z-]{19}$/);
      expect(await page.locator('h1').textContent()).toContain('2 clear, 2 need attention');
      await page.getByRole('button', { name: 'Run again' }).click();
      expect(await page.locator('h1').textContent()).toBe(
        'No status, expiry date, name or board action has changed',
      );
    },
  );

  test.each(JAVASCRIPT)(
    'unclear columns are asked for, and the rows are kept, %s',
    async (_what, javaScriptEnabled) => {
      const { page, open } = await tabOf({ javaScriptEnabled });
      await open('/roster');
      await page.getByLabel('Paste your list').fill('Wer;Nummer\nHolloway;RN.900418822\n');
      await page.getByRole('button', { name: 'Check the list' }).click();
      expect(await page.locator('h1').textContent()).toBe('Which column is what?');
      await page.getByRole('button', { name: 'Check the list' }).click();
      await page.getByRole('link', { name: 'Say which column has the license number' }).click();
      expect(new URL(page.url()).hash).toBe('#column-1');
      await page.getByLabel('Which row names the columns?').selectOption('Row 1: Wer, Nummer');
      await page.getByLabel('Column 1').selectOption('Last name');
      await page.getByLabel('Column 2').selectOption('License number');
      await page.getByRole('button', { name: 'Check the list' }).click();
      expect(await page.locator('h1').textContent()).toContain('1 clear');
      await page.getByRole('button', { name: 'Choose the columns' }).click();
      expect(await page.getByLabel('Column 2: Nummer').inputValue()).toBe('license_number');
    },
  );

  test.each(WIDTHS)('the pages of lists are good at %d px', async (width) => {
    const { page, open, expectGood } = await tabOf({ width });
    const check = () => page.getByRole('button', { name: /^Check/ }).click();
    await open('/roster');
    await check();
    await expectGood();
    await page.getByLabel('Or choose a file').setInputFiles('test/fixtures/lists/roster.xlsx');
    await check();
    await expectGood();
    await page.getByRole('button', { name: 'Save this check' }).click();
    await expectGood();
    await page.getByRole('button', { name: 'Run again' }).click();
    await expectGood();
    await open('/roster');
    await page.getByLabel('Paste your list').fill('a,Whitfield,x\nRN.900418822,Whitfield,\n,Whitfield,y\n');
    await check();
    await expectGood();
    await page.getByLabel('Column 1').selectOption('License number');
    await page.getByLabel('Column 2').selectOption('Last name');
    await check();
    await expectGood();
    await page.getByLabel('Which board?').selectOption('Nursing Board');
    await page.getByRole('button', { name: 'Check again with this board' }).click();
    await expectGood();
  });

  test('a file that is no list leads back to the form, which says what to do', async () => {
    const { page, open, expectGood } = await tabOf();
    await open('/roster');
    await page.getByLabel('Board of the rows that name none').selectOption('Medical Board');
    await page.getByLabel('Or choose a file').setInputFiles({
      name: 'picture.png',
      mimeType: 'image/png',
      buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe]),
    });
    await page.getByRole('button', { name: 'Check the list' }).click();
    await page.getByRole('link', { name: 'This is a picture.' }).click();
    expect(new URL(page.url()).hash).toBe('#file');
    expect(await page.getByLabel('Board of the rows that name none').inputValue()).toBe('MED');
    await expectGood();
  });
});

/** How many pages a PDF has. */
function pagesOf(pdf: Buffer): number {
  return [...pdf.toString('latin1').matchAll(/\/Type\s*\/Page\b/g)].length;
}

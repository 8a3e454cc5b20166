import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchedBrowser, NO_BROWSER } from '../../scripts/browser.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { answered, type FileServer, fileServer } from '../support/file-server.ts';
import { startService, type TestService } from '../support/service.ts';

describeUnless(NO_BROWSER, 'a web page that calls MCP tools in a browser', () => {
  let service: TestService;
  let site: FileServer;
  let browser: Browser;

  beforeAll(async () => {
    service = await startService({ settings: { MCP_ALLOWED_ORIGINS: 'pages.localhost' } });
    site = await fileServer(answered(200, { 'content-type': 'text/html' }, '<title>A page</title>'));
    browser = await launchedBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  /** The result of a call by a script of a page at this host: the text, or the browser's error. */
  async function calledFrom(host: string): Promise<string> {
    const page = await browser.newPage();
    const { port } = new URL(site.url);
    await page.goto(`http://${host}:${port}/`);
    const told = await page.evaluate(async (address) => {
      const call = { name: 'verify_license', arguments: { license_number: 'RN.700001' } };
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
      }).catch(String);
      return typeof response === 'string' ? response : response.text();
    }, `http://127.0.0.1:${service.environment.config.PORT}/mcp`);
    await page.close();
    return told;
  }

  test('gets results if its origin is allowed', async () => {
    for (const host of ['localhost', '127.0.0.1', 'pages.localhost']) {
      expect([host, await calledFrom(host)]).toEqual([host, expect.stringContaining('"outcome":"found"')]);
    }
  });

  test('gets an error if its origin is not allowed', async () => {
    expect(await calledFrom('other.localhost')).toMatch(/^TypeError: Failed to fetch/);
  });
});

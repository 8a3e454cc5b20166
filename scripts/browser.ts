import { type Browser, chromium } from 'playwright-core';
import { atEndOfTestFile } from './clean-up.ts';
import { programPath } from './program-path.ts';

const CHROMIUM = process.env.CHROMIUM_PATH || programPath('chromium');

/** A message that this machine has no browser for tests, with how to install one; `undefined` if it has one. */
export const NO_BROWSER =
  CHROMIUM === undefined
    ? 'chromium is missing; install it (Debian: apt-get install chromium) or name one with CHROMIUM_PATH'
    : undefined;

/**
 * Starts a headless browser without its sandbox, which works neither for root nor in most containers. The browser only
 * loads our own pages.
 */
export async function launchedBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', chromiumSandbox: false });
  atEndOfTestFile(() => browser.close());
  return browser;
}

import { type Browser, chromium } from 'playwright-core';
import { atEndOfTestFile } from './clean-up.ts';
import { programPath } from './program-path.ts';

const CHROMIUM = process.env.CHROMIUM_PATH || programPath('chromium');

/** That this machine has no browser for tests, and how to install one; `undefined` where it has one. */
export const NO_BROWSER =
  CHROMIUM === undefined
    ? 'chromium is missing; install it (Debian: apt-get install chromium) or name one with CHROMIUM_PATH'
    : undefined;

/**
 * Starts a browser without a window and without its sandbox, which works neither for root nor in most containers. The
 * pages are our own.
 */
export async function launchedBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', chromiumSandbox: false });
  atEndOfTestFile(() => browser.close());
  return browser;
}

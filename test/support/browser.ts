import { type Browser, chromium } from 'playwright-core';
import { programPath } from './programs.ts';

const CHROMIUM = process.env.CHROMIUM_PATH || programPath('chromium');

/** Why this machine has no browser for tests; `undefined` where it has one. */
export const NO_BROWSER =
  CHROMIUM === undefined ? 'no chromium on this machine; CHROMIUM_PATH names one' : undefined;

/** A browser without a window. Its sandbox works neither for root nor in most containers, and the pages are our own. */
export function launchedBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', chromiumSandbox: false });
}

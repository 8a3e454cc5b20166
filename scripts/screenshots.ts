import { resolve } from 'node:path';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { todayInOhio } from '../src/licenses/dates.ts';
import { startService } from '../test/support/service.ts';
import { launchedBrowser } from './browser.ts';
import { originOf } from './licenses-processes.ts';
import { print } from './processes.ts';
import { startServices } from './services.ts';

const IMAGE = resolve(import.meta.dirname, '../docs/images/look-up.png');
const ROWS = 20_000;
const SEED = 7;
const VIEWPORT = { width: 1280, height: 860 };

/** Takes the screenshot in the README. */
const services = await startServices({ isShortLived: true });
process.env.OPENSEARCH_URL = services.opensearch;
process.env.REDIS_URL = services.redis;
try {
  const { environment, stop } = await startService({
    files: (directory) => writeSampleData({ directory, rows: ROWS, seed: SEED, date: todayInOhio() }),
  });
  const browser = await launchedBrowser();
  try {
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.goto(`${originOf('127.0.0.1', environment.config.PORT)}/?q=Miller`);
    await page.screenshot({ path: IMAGE });
    print(IMAGE);
  } finally {
    await browser.close();
    await stop();
  }
} finally {
  await services.stop();
}

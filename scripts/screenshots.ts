import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { type SampleDataFiles, writeSampleData } from '../sample-data/write-sample-data.ts';
import { daysBefore, todayInOhio } from '../src/licenses/dates.ts';
import { startService } from '../test/support/service.ts';
import { launchedBrowser } from './browser.ts';
import type { TestEnvironment } from './environment.ts';
import { originOf } from './licenses-processes.ts';
import { print } from './processes.ts';
import { startServices } from './services.ts';

const FOLDER = resolve(import.meta.dirname, '../docs/images');
const ROWS = 20_000;
const SEED = 7;
const DAYS = 3;
/** Of the licenses of a day. */
const CHANGED = 0.02;
const VIEWPORT = { width: 1280, height: 860 };

function roster(number: string): string {
  return `reference,license_number,last_name
A-17,${number},
A-18,${number},Nobody
A-19,,Miller
A-20,RN.1,
A-21,,
`;
}

/** Generated days, the last of them of today. */
async function writeDays(folder: string): Promise<SampleDataFiles[]> {
  const days: SampleDataFiles[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    const date = daysBefore(todayInOhio(), DAYS - 1 - day);
    const changes = day === 0 ? {} : { changed: CHANGED * day, added: 0.002 * day, removed: 0.001 * day };
    const directory = join(folder, date);
    days.push(await writeSampleData({ directory, rows: ROWS, seed: SEED, date, ...changes }));
  }
  return days;
}

const changesFound = z.object({
  hits: z.object({ hits: z.tuple([z.object({ _source: z.object({ license_number: z.string() }) })]) }),
});

/** A nurse whose license has changed. */
async function changedNurse({ client, store }: TestEnvironment): Promise<string> {
  const { body } = await client.search({
    index: store.names.changes,
    body: {
      size: 1,
      query: { bool: { filter: [{ term: { board: 'Nursing Board' } }, { term: { kind: 'changed' } }] } },
    },
  });
  return changesFound.parse(body).hits.hits[0]._source.license_number;
}

async function takePages(page: Page, origin: string, number: string): Promise<void> {
  const take = async (name: string) => {
    const path = join(FOLDER, `${name}.png`);
    await page.screenshot({ path });
    print(path);
  };
  await page.goto(`${origin}/?q=Miller`);
  await take('look-up');
  await page.goto(`${origin}/data`);
  await take('data');
  await page.goto(`${origin}/roster`);
  await page.getByLabel('Paste your list').fill(roster(number));
  await page.getByLabel('Board of the rows that name none').selectOption('NUR');
  await page.getByRole('button', { name: 'Check the list' }).click();
  await take('roster');
  await page.goto(`${origin}/licenses/NUR/${number}`);
  await take('license');
  await page.getByRole('button', { name: 'Save a record' }).click();
  await take('record');
}

/** Takes the images of the documents. */
const services = await startServices({ isShortLived: true });
process.env.OPENSEARCH_URL = services.opensearch;
process.env.REDIS_URL = services.redis;
try {
  const { environment, stop } = await startService({ files: writeDays });
  const browser = await launchedBrowser();
  try {
    const page = await browser.newPage({ viewport: VIEWPORT });
    await takePages(page, originOf('127.0.0.1', environment.config.PORT), await changedNurse(environment));
  } finally {
    await browser.close();
    await stop();
  }
} finally {
  await services.stop();
}

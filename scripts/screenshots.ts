import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { daysBefore, todayInOhio } from '../src/licenses/dates.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { launchedBrowser } from './browser.ts';
import { type TestEnvironment, testEnvironment } from './environment.ts';
import { licenses, originOf, startApi, startWorker } from './licenses-processes.ts';
import { print } from './processes.ts';
import { startServices } from './services.ts';

const { values } = parseArgs({
  options: {
    /** Every page at both widths, for somebody who changes them; without it, those of the documents. */
    all: { type: 'boolean', default: false },
    folder: { type: 'string', default: 'docs/images' },
  },
});

const ROWS = 20_000;
const SEED = 7;
const DAYS = 3;
/** Of the licenses of a day. */
const CHANGED = 0.02;

const WIDTHS = values.all ? [360, 1440] : [1280];

/** The addresses of the pages to take, by file name. A record is saved by the last step. */
const PAGES: Readonly<Record<string, string>> = {
  'look-up': '/?by=person&last_name=Miller',
  data: '/data',
  ...(values.all && {
    start: '/',
    person: '/?by=person',
    miss: '/?by=person&last_name=Millner',
    'number-miss': '/?by=number&number=RN.987654312',
    'not-found': '/licenses/NUR/RN.1',
    'no-page': '/nothing',
    'roster-form': '/roster',
    developers: '/developers',
  }),
};

function roster(number: string): string {
  return `reference,license_number,last_name
A-17,${number},
A-18,${number},Nobody
A-19,,Miller
A-20,RN.1,
A-21,,
`;
}

/** Publishes generated days, the last of them of today. */
async function publishDays({ folder, variables, store }: TestEnvironment): Promise<void> {
  await prepareIndices(store);
  const worker = await startWorker(variables);
  try {
    for (let day = 0; day < DAYS; day += 1) {
      const date = daysBefore(todayInOhio(), DAYS - 1 - day);
      const changes = day === 0 ? {} : { changed: CHANGED * day, added: 0.002 * day, removed: 0.001 * day };
      const directory = join(folder, date);
      const files = await writeSampleData({ directory, rows: ROWS, seed: SEED, date, ...changes });
      const paths = ['--individual', files.individual, '--business', files.business];
      const { code, output } = await licenses(variables, 'publish', ...paths, '--force', 'screenshots');
      if (code !== 0) throw new Error(output);
    }
  } finally {
    await worker.stop();
  }
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

async function takePages(page: Page, origin: string, number: string, suffix: string): Promise<void> {
  const take = async (name: string) => {
    const path = join(resolve(values.folder), `${name}${suffix}.png`);
    await page.screenshot({ path, fullPage: values.all });
    print(path);
  };
  for (const [name, address] of Object.entries(PAGES)) {
    await page.goto(`${origin}${address}`);
    await take(name);
  }
  await page.goto(`${origin}/roster`);
  await page.getByLabel('Your list').fill(roster(number));
  await page.getByLabel('Board of every row').selectOption('NUR');
  await page.getByRole('button', { name: 'Check the list' }).click();
  await take('roster');
  await page.goto(`${origin}/licenses/NUR/${number}`);
  await take('license');
  await page.getByRole('button', { name: 'Save a record' }).click();
  await take('record');
  if (values.all) {
    await page.emulateMedia({ media: 'print' });
    await take('record-print');
    await page.emulateMedia({ media: null });
  }
}

async function takeScreenshots(environment: TestEnvironment): Promise<void> {
  await publishDays(environment);
  const api = await startApi(environment.variables);
  const number = await changedNurse(environment);
  const browser = await launchedBrowser();
  try {
    const origin = originOf('127.0.0.1', environment.config.PORT);
    for (const width of WIDTHS) {
      const page = await browser.newPage({ viewport: { width, height: 860 } });
      await takePages(page, origin, number, values.all ? `-${width}` : '');
    }
  } finally {
    await browser.close();
    await api.stop();
  }
}

await mkdir(values.folder, { recursive: true });
const services = await startServices({ isShortLived: true }, print);
process.env.OPENSEARCH_URL = services.opensearch;
process.env.REDIS_URL = services.redis;
try {
  const environment = await testEnvironment();
  try {
    await takeScreenshots(environment);
  } finally {
    await environment.cleanUp();
  }
} finally {
  await services.stop();
}

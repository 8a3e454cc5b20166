import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { rollBack } from '../../src/publications/rollback.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { type TestEnvironment, testEnvironment } from '../support/environment.ts';
import { type RunningProcess, startApi } from '../support/processes.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

const HOLDERS = 200;
const FLIPS = 10;
const CLIENTS = 4;

let environment: TestEnvironment;
let api: RunningProcess;
let client: ApiClient;

beforeAll(async () => {
  environment = await testEnvironment({ REST_REQUESTS_PER_MINUTE: '1000000' });
  api = await startApi(environment.variables);
  client = await apiClient(environment);
}, 60_000);
afterAll(async () => {
  await api.stop();
  await environment.cleanUp();
});

/** A day's files, in which every holder lives in a city named after the day. */
async function filesOf(date: string): Promise<DatasetFiles> {
  const header = 'BOARD,LICENSE_NUMBER,TYPE,STATUS,EXPIRATION_DATE,PARCEL_CITY,QUERY_RUN_DATE';
  const holders = Array.from(
    { length: HOLDERS },
    (_, at) =>
      `"GAP, HOLDER${at}",Nursing Board,RN.${800_000 + at},Registered Nurse (RN),Active,2099-01-01,${date},${date}`,
  );
  const individual = join(environment.folder, `individual-${date}.csv`);
  const business = join(environment.folder, `business-${date}.csv`);
  await writeFile(individual, `LICENSEE_NAME,${header}\n${holders.join('\n')}\n`);
  await writeFile(
    business,
    `BUSINESS_NAME,${header}\nGAP SALON,Cosmetology and Barber Board,COSS.1,Beauty Salon,Active,2099-01-01,${date},${date}\n`,
  );
  return { individual, business };
}

const record = z.object({ city: z.string(), last_scraped: z.string() });
const answer = z.object({
  last_scraped: z.string(),
  city: z.string().optional(),
  multiple: z.array(record).optional(),
});

/** The days that an answer's parts come from. */
function daysOf(body: unknown): Set<string> {
  const { last_scraped, city, multiple = [] } = answer.parse(body);
  const days = multiple.flatMap((each) => [each.city, each.last_scraped.slice(0, 10)]);
  return new Set([last_scraped.slice(0, 10), ...(city === undefined ? [] : [city]), ...days]);
}

test('while publications flip, no request fails and none sees two days', async () => {
  await publishFiles(environment, await filesOf('2026-11-20'));
  const second = publishFiles(environment, await filesOf('2026-11-21'));
  let isDone = false;
  const seen = new Map<string, number>();
  const failures: unknown[] = [];

  async function ask(body: object): Promise<void> {
    const { status, body: answered } = await client.verify(body);
    const days = status === 200 ? daysOf(answered) : new Set<string>();
    const [day] = days;
    if (day === undefined || days.size !== 1) failures.push({ status, answered });
    else seen.set(day, (seen.get(day) ?? 0) + 1);
  }
  async function load(): Promise<void> {
    for (let at = 0; !isDone; at += 1) {
      await ask({ board: 'Nursing Board', license_number: `RN.${800_000 + (at % HOLDERS)}` });
      await ask({ board: 'Nursing Board', last_name: 'gap', first_name: 'holder' });
    }
  }
  const clients = Array.from({ length: CLIENTS }, load);
  await second;
  const ids = new Map<string, string>();
  for (let flips = 0; flips < FLIPS; flips += 1) {
    const { from, to } = await rollBack(
      environment.client,
      environment.config.INDEX_PREFIX,
      [...ids.values()][0],
    );
    ids.clear();
    ids.set(from.metadata.date, from.metadata.publication);
    expect(to.metadata.date).not.toBe(from.metadata.date);
    await sleep(300);
  }
  await sleep(1200);
  isDone = true;
  await Promise.all(clients);

  expect(failures).toEqual([]);
  expect([...seen.keys()].sort()).toEqual(['2026-11-20', '2026-11-21']);
  expect(Math.min(...seen.values())).toBeGreaterThan(10);
}, 120_000);

test('an index that has gone is answered for by the one that is live now', async () => {
  const { client: openSearch, config } = environment;
  const { from } = await rollBack(openSearch, config.INDEX_PREFIX).catch(async () =>
    publishFiles(environment, await filesOf('2026-11-22')).then(() =>
      rollBack(openSearch, config.INDEX_PREFIX),
    ),
  );
  await openSearch.indices.delete({ index: from.index });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.verify({ board: 'Nursing Board', license_number: 'RN.800001' })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

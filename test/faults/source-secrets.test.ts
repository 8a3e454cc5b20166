/** @room publishing */

import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { eventually } from '../support/eventually.ts';
import { command } from '../support/in-process.ts';
import { type WebServer, webServer } from '../support/proxy.ts';
import { filesOf } from '../support/publication-days.ts';
import { rawRequest } from '../support/raw-http.ts';
import { type Installation, installation } from '../support/worker-installation.ts';

/** Of the two addresses of the dataset: they differ in nothing but their queries. */
const SECRETS = ['usersecret', 'passwordsecret', 'individualtoken', 'businesstoken'] as const;
const BASIC = `Basic ${Buffer.from('usersecret:passwordsecret').toString('base64')}`;

let installed: Installation;
let files: WebServer;
let settings: Record<string, string>;
let worker: RunningProcess;
let api: RunningProcess;

beforeAll(async () => {
  installed = await installation();
  const day = await filesOf(installed.environment, '2026-11-20');
  const contents = new Map([
    ['/file.csv?token=individualtoken', await readFile(day.individual)],
    ['/file.csv?token=businesstoken', await readFile(day.business)],
  ]);
  files = await webServer(({ headers, url = '' }, response) => {
    const content = headers.authorization === BASIC ? contents.get(url) : undefined;
    response.writeHead(content === undefined ? 401 : 200).end(content);
  });
  const address = (token: string) =>
    `http://usersecret:passwordsecret@${new URL(files.url).host}/file.csv?token=${token}`;
  settings = {
    DATASET_INDIVIDUAL: address('individualtoken'),
    DATASET_BUSINESS: address('businesstoken'),
    WORKER_ADMIN_PORT: String(await freePort()),
    STATE_DIR: installed.environment.folder,
  };
  worker = await installed.startWorker({ ...settings, PUBLISH_SCHEDULE: '0 6 29 2 *' });
  api = await startApi(installed.environment.variables);
});

/** Everything that Redis has of this installation, as text. */
async function inRedis(): Promise<string> {
  const { REDIS_URL, INDEX_PREFIX } = installed.environment.config;
  const redis = new Redis(REDIS_URL);
  try {
    const kept: unknown[] = [];
    for (const key of await redis.keys(`${INDEX_PREFIX}*`)) {
      const read = new Map<string, () => Promise<unknown>>([
        ['string', () => redis.get(key)],
        ['hash', () => redis.hgetall(key)],
        ['list', () => redis.lrange(key, 0, -1)],
        ['set', () => redis.smembers(key)],
        ['zset', () => redis.zrange(key, '0', '-1')],
        ['stream', () => redis.xrange(key, '-', '+')],
      ]).get(await redis.type(key));
      kept.push([key, await read?.()]);
    }
    return JSON.stringify(kept);
  } finally {
    redis.disconnect();
  }
}

/** Everything that OpenSearch has of this installation, as text. */
async function inOpenSearch(): Promise<string> {
  const { client, config } = installed.environment;
  const index = `${config.INDEX_PREFIX}*`;
  await client.indices.refresh({ index });
  const { body: documents } = await client.search({ index, body: { size: 10_000 } });
  const { body: mappings } = await client.indices.getMapping({ index });
  return JSON.stringify([documents, mappings]);
}

function get(port: number, path: string): Promise<string> {
  return rawRequest({ port, method: 'GET', path, headers: { host: 'localhost' } }).then(({ text }) => text);
}

async function expectNoSecretAnywhere(): Promise<void> {
  const { ADMIN_PORT, PORT } = installed.environment.config;
  const places = new Map([
    ['Redis', await inRedis()],
    ['OpenSearch', await inOpenSearch()],
    ['the board', await get(ADMIN_PORT, '/queues/api/queues?activeQueue=publish&status=latest&page=1')],
    ['the worker’s metrics', await get(Number(settings.WORKER_ADMIN_PORT), '/metrics')],
    ['the API’s metrics', await get(ADMIN_PORT, '/metrics')],
    ['the worker’s log', worker.output()],
    ['the API’s log', api.output()],
    ['/status', await get(PORT, '/status')],
    ['/data', await get(PORT, '/data')],
  ]);
  expect(places.get('Redis')).toContain('file.csv');
  for (const [place, text] of places) {
    for (const secret of [...SECRETS, encodeURIComponent(BASIC.slice(6))]) {
      expect([place, secret, text.includes(secret)]).toEqual([place, secret, false]);
    }
  }
}

test('a scheduled publication has its addresses from the settings of the worker, and no secret leaves it', async () => {
  const [scheduler] = await installed.queue.getJobSchedulers();
  expect(scheduler?.next).toBeGreaterThan(0);
  await installed.queue.add('publish', scheduler?.template?.data, {
    jobId: 'repeat:publish-schedule:1795251600000',
  });
  const { store } = installed.environment;
  await eventually('it is live', async () => (await publicationHistory(store)).live?.date === '2026-11-20');
  await expectNoSecretAnywhere();
});

test('licenses publish asks for the files of the settings without their secrets', async () => {
  const { variables } = installed.environment;
  const { stdout, stderr, code } = await command(
    { ...variables, ...settings },
    'publish',
    '--json',
    '--force',
    'a test',
  );
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('"state":"live"')]);
  await expectNoSecretAnywhere();
});

test('licenses publish takes no address with a secret from the command line, and says what to do', async () => {
  const { variables } = installed.environment;
  for (const address of [
    'https://data.example/file.csv?token=individualtoken',
    'sftp://usersecret:passwordsecret@data.example/file.csv',
  ]) {
    const given = ['--individual', address, '--business', 'https://data.example/business.csv'];
    const { code, stdout, stderr } = await command(variables, 'publish', ...given);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^--individual .*DATASET_INDIVIDUAL.*\n$/);
    expect(stderr).not.toMatch(/secret|token/);
  }
  await expectNoSecretAnywhere();
});

// What a download that fails says: portal.test.ts, download.test.ts. What is no address: unit/config.test.ts.
test('a worker with other settings says so in place of asking without the secrets', async () => {
  const { variables } = installed.environment;
  const elsewhere = {
    ...settings,
    DATASET_INDIVIDUAL: settings.DATASET_INDIVIDUAL?.replace('file.csv', 'other.csv') ?? '',
  };
  const { code, stdout } = await command(
    { ...variables, ...elsewhere },
    'publish',
    '--json',
    '--force',
    'a test',
  );
  expect([code, stdout]).toEqual([1, expect.stringContaining('DATASET_INDIVIDUAL of the worker')]);
  await expectNoSecretAnywhere();
});

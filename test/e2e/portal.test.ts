import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { selfSigned } from '../support/certificate.ts';
import { licensesOf } from '../support/day-files.ts';
import { describeUnless, missing } from '../support/describe-unless.ts';
import { documentsIn } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { served } from '../support/file-server.ts';
import { command } from '../support/in-process.ts';
import { webServer } from '../support/proxy.ts';
import { filesOf, nurses } from '../support/publication-days.ts';
import { rawRequest } from '../support/raw-http.ts';
import { type Installation, installation } from '../support/worker-installation.ts';

/** Of the two addresses of the dataset: they differ in nothing but their queries. */
const SECRETS = ['annsecret', 'passwordsecret', 'individualtoken', 'businesstoken'] as const;
const BASIC = `Basic ${Buffer.from('annsecret:passwordsecret').toString('base64')}`;
/** What the file store calls the file of each address. */
const STORED = new Map([
  ['/file.csv?token=individualtoken', '/individual.csv'],
  ['/file.csv?token=businesstoken', '/business.csv.gz'],
]);
type Asked = { readonly url: string; readonly headers: IncomingHttpHeaders };

/** What the portal and its file store are asked, in order. */
const asked: { portal: Asked[]; store: Asked[] } = { portal: [], store: [] };
let installed: Installation;
let settings: Record<string, string>;
let worker: RunningProcess;
let api: RunningProcess;
let isDown = false;

/** How the content of a key in Redis is read, by its type. */
const READ = new Map([
  ['string', ['get']],
  ['hash', ['hgetall']],
  ['list', ['lrange', '0', '-1']],
  ['set', ['smembers']],
  ['zset', ['zrange', '0', '-1']],
  ['stream', ['xrange', '-', '+']],
]);

/** Everything that Redis has of this installation, as text. */
async function inRedis(): Promise<string> {
  const { REDIS_URL, INDEX_PREFIX } = installed.environment.config;
  const redis = new Redis(REDIS_URL);
  const kept: unknown[] = [];
  for (const key of await redis.keys(`${INDEX_PREFIX}*`)) {
    const [command = '', ...more] = READ.get(await redis.type(key)) ?? [];
    kept.push([key, await redis.call(command, [key, ...more])]);
  }
  redis.disconnect();
  return JSON.stringify(kept);
}

/** Everything that OpenSearch has of this installation, as text. */
async function inOpenSearch(): Promise<string> {
  const { client, store } = installed.environment;
  const index = `${store.prefix}*`;
  const { body: mappings } = await client.indices.getMapping({ index });
  return JSON.stringify([await documentsIn(store, index), mappings]);
}

const get = (port: number, path: string): Promise<string> =>
  rawRequest(port, path, { headers: { host: 'localhost' } }).then(({ text }) => text);

describeUnless(missing('openssl'), 'a portal with a password that redirects to a file store', () => {
  beforeAll(async () => {
    installed = await installation();
    const { environment } = installed;
    const usual = { individual: nurses(200), business: licensesOf('Board of Pharmacy', '02', 3) };
    const day = await filesOf(environment, '2026-11-20', usual);
    const contents = new Map([
      ['/individual.csv', await readFile(day.individual)],
      ['/business.csv.gz', gzipSync(await readFile(day.business))],
    ]);
    const pem = await selfSigned(environment.folder);

    const fileStore: RequestListener = (request, response) => {
      const { url = '', headers } = request;
      asked.store.push({ url, headers });
      const content = contents.get(url) ?? Buffer.alloc(0);
      served({ content, headers: { etag: `"${url}"` } })(request, response);
    };
    const { url: store } = await webServer(fileStore, { pem });
    const redirects: RequestListener = ({ url = '', headers }, response) => {
      asked.portal.push({ url, headers });
      if (isDown) return void response.end('<html><body>We are back at six.</body></html>');
      const path = headers.authorization === BASIC ? STORED.get(url) : undefined;
      const location = path === undefined ? {} : { location: store + path };
      response.writeHead(path === undefined ? 401 : 302, location).end();
    };
    const { url: portal } = await webServer(redirects, { pem });
    const addressOf = (token: string) =>
      `${portal.replace('//', '//annsecret:passwordsecret@')}/file.csv?token=${token}`;
    settings = {
      ...environment.variables,
      ...{ STATE_DIR: environment.folder, NODE_EXTRA_CA_CERTS: pem.certificate },
      ...{ DATASET_INDIVIDUAL: addressOf('individualtoken'), DATASET_BUSINESS: addressOf('businesstoken') },
      WORKER_ADMIN_PORT: String(await freePort()),
    };
    worker = await installed.startWorker({ ...settings, PUBLISH_SCHEDULE: '0 6 29 2 *' });
    api = await startApi(environment.variables);
  });

  /** No secret is anywhere, whatever was done. */
  afterEach(async () => {
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
      ['the file store', JSON.stringify(asked.store)],
    ]);
    expect(places.get('Redis')).toContain('file.csv');
    expect(places.get('the file store')).not.toContain('"authorization"');
    for (const [place, text] of places)
      for (const secret of [...SECRETS, encodeURIComponent(BASIC.slice(6))])
        expect([place, secret, text.includes(secret)]).toEqual([place, secret, false]);
  });

  test('is published from, and is not asked twice for the same files, by the schedule either', async () => {
    const says = expect.stringMatching(/^Live: publication \w+, dataset of 2026-11-20: 203 rows/m);
    expect(await command(settings, 'publish')).toMatchObject({ code: 0, stdout: says, stderr: '' });
    for (const { headers } of asked.portal) expect(headers.authorization).toBe(BASIC);
    const shown = expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/file\.csv\?…$/);
    expect((await publicationHistory(installed.environment.store)).live).toMatchObject({
      ...{ sources: { individual: shown, business: shown }, seconds: { downloading: expect.any(Number) } },
    });

    const conditions = ['"/individual.csv"', '"/business.csv.gz"'];
    const before = asked.store.length;
    const again = await command(settings, 'publish');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Skipped: /m) });
    const [scheduler] = await installed.queue.getJobSchedulers();
    expect(scheduler?.next).toBeGreaterThan(0);
    const jobId = 'repeat:publish-schedule:1795251600000';
    await installed.queue.add('publish', scheduler?.template?.data, { jobId });
    await eventually('it is skipped, too', async () => {
      const [latest] = (await publicationHistory(installed.environment.store)).publications;
      return latest?.state === 'skipped' && latest.publication.endsWith('scheduled');
    });
    const asking = asked.store.slice(before).map(({ headers }) => headers['if-none-match']);
    expect(asking).toEqual([...conditions, ...conditions]);
  });

  test('that sends a page in place of the file fails the publication, and says so without its secrets', async () => {
    isDown = true;
    const { code, stderr } = await command(settings, 'publish').finally(() => {
      isDown = false;
    });
    const says = /^Failed: https:\/\/127\.0\.0\.1:\d+\/file\.csv\?… could not .*the server sent a web page/m;
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
    expect(stderr).not.toMatch(/secret|token/);
  });

  test.each([
    'https://data.example/file.csv?token=individualtoken',
    'sftp://annsecret:passwordsecret@data.example/file.csv',
  ])('licenses publish does not take %s from the command line, and says what to do', async (address) => {
    const given = ['--individual', address, '--business', 'https://data.example/business.csv'];
    const { code, stdout, stderr } = await command(settings, 'publish', ...given);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^--individual .*DATASET_INDIVIDUAL.*\n$/);
    expect(stderr).not.toMatch(/secret|token/);
  });

  // What is no address: unit/config.test.ts.
  test('a worker with other settings says so in place of asking without the secrets', async () => {
    const elsewhere = settings.DATASET_INDIVIDUAL?.replace('file.csv', 'other.csv') ?? '';
    const other = { ...settings, DATASET_INDIVIDUAL: elsewhere };
    const { code, stdout } = await command(other, 'publish', '--json', '--force', 'a test');
    expect([code, stdout]).toEqual([1, expect.stringContaining('DATASET_INDIVIDUAL of the worker')]);
  });
});

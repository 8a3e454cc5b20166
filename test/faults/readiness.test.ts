/** @room publishing */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi, startScript, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { currentEpoch } from '../../src/publications/fence.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { apiClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { inLongFormOnly } from '../support/fault-form.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import { ownRedis } from '../support/own-servers.ts';
import { type ProxiedRequest, startProxy } from '../support/proxy.ts';
import { publishFiles } from '../support/publishing.ts';
import { rawRequest } from '../support/raw-http.ts';

const LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };
const NEXT_CHECK_MS = 1100;
const NO_REDIS = { REDIS_URL: 'redis://127.0.0.1:1' };

const unchanged = (text: string) => text;
/** What OpenSearch was asked since the test began. */
let asked: ProxiedRequest[] = [];
/** What becomes of its answers; where there is none, it is away. */
let change: typeof unchanged | undefined = unchanged;

const environment = await testEnvironment();
const proxy = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
  asked.push(request);
  if (change === undefined) return undefined;
  const answer = await request.forward();
  return { ...answer, body: change?.(answer.body) ?? answer.body };
});
await publishFiles(environment, FIXTURES);
const rest = await apiClient(environment);
const workerPort = await freePort();
const settings = { OPENSEARCH_URL: proxy.url, WORKER_ADMIN_PORT: String(workerPort) };
const variables = { ...environment.variables, ...settings };
await Promise.all([startApi(variables), startWorker(variables)]);

beforeEach(() => {
  asked = [];
});
afterEach(() => {
  change = unchanged;
});

const get = (port: number, path: string) => rawRequest(port, path, { headers: { host: 'localhost' } });

async function ready(port = environment.config.ADMIN_PORT): Promise<[number, unknown]> {
  const { status, body } = await get(port, '/readyz');
  return [status, body];
}

/** What is asked within a second is answered from the same. On a busy machine it may take longer: then again. */
async function withinASecond<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    await sleep(NEXT_CHECK_MS);
    asked = [];
    const begun = performance.now();
    const result = await ask();
    if (performance.now() - begun < 900) return result;
  }
}

const askedFor = (path: RegExp) => asked.filter((request) => path.test(request.path));
/** What was asked beside the alias: the API asks once a second which publication is live. */
const withoutAlias = () => asked.filter(({ path }) => !path.includes('_alias'));

const untilReady = (is: 200 | 503, port = environment.config.ADMIN_PORT) =>
  eventually(`/readyz is ${is}`, async () => (await ready(port))[0] === is);

describe('/readyz of the API', () => {
  beforeEach(() => untilReady(200));

  test('is 200 with the live index', async () => {
    const index = await liveIndex(environment.store);
    expect(await ready()).toEqual([200, { ready: true, index, stopping: false }]);
  });

  test('costs one small request, which probes of the same second share', async () => {
    const answers = await withinASecond(() => Promise.all(times(20, () => ready())));
    expect(answers.map(([status]) => status)).toEqual(Array(20).fill(200));
    expect(withoutAlias().map(({ method, path }) => `${method} ${path}`)).toEqual([
      expect.stringMatching(/^POST .*licenses-[^/]*\/_search/),
    ]);
  });

  test('is 503 while every lookup fails, and 200 again after that', async () => {
    change = (text) => text.replaceAll('"license_number":', '"number":');
    expect((await rest.verify(LOOKUP)).status).toBe(500);
    await untilReady(503);
    expect(await ready()).toEqual([503, { ready: false, index: null, stopping: false }]);
    change = unchanged;
    await untilReady(200);
  });

  test('is 503 while licenses of the live publication are not found', async () => {
    const index = (await liveIndex(environment.store)) ?? '';
    const { client } = environment;
    await client.indices.putSettings({ index, body: { 'index.blocks.write': false } });
    const body = { query: { match_all: {} } };
    await client.deleteByQuery({ index, conflicts: 'proceed', refresh: true, body });
    expect((await rest.verify(LOOKUP)).status).toBe(404);
    await untilReady(503);
    await publishFiles(environment, FIXTURES);
    await untilReady(200);
  });

  test('stays 200 while a publication goes live', async () => {
    let isSwitching = true;
    const statuses = new Set<number>();
    const probes = (async () => {
      while (isSwitching) statuses.add((await ready())[0]);
    })();
    await publishFiles(environment, FIXTURES);
    isSwitching = false;
    await probes;
    expect([...statuses]).toEqual([200]);
  });
});

/** The names of the series of a worker. */
const metrics = async (port = workerPort) =>
  (await get(port, '/metrics')).text.split('\n').map((line) => line.split(' ')[0]);

describe('the worker', () => {
  const sized = z.object({ size: z.number() });

  test('answers /readyz without reading the ledger', async () => {
    const answers = await withinASecond(() => Promise.all(times(20, () => ready(workerPort))));
    expect(answers).toEqual(Array(20).fill([200, { ready: true, opensearch: true, redis: true }]));
    expect(askedFor(/_search/)).toEqual([]);
    // Beside it, the API may still read the publication of the test before.
    expect(askedFor(/epoch/).length).toBeLessThanOrEqual(1);
  });

  test('answers a scrape from a few documents, and those of a second from the same', async () => {
    const { texts, read, readAgain, again } = await withinASecond(async () => {
      const texts = await Promise.all(times(5, async () => (await get(workerPort, '/metrics')).text));
      const read = withoutAlias().length;
      const again = (await get(workerPort, '/metrics')).text;
      return { texts, read, again, readAgain: withoutAlias().length };
    });
    expect(texts[0]).toMatch(/^licenses_last_publication_timestamp_seconds\{state="live"\} \d+/m);
    expect(texts[0]).toMatch(/^licenses_publication_age_days \d+$/m);
    const sizes = askedFor(/_search/).map(({ body }) => sized.parse(JSON.parse(body)).size);
    expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(20);
    expect(read).toBeLessThanOrEqual(4);
    expect(again).toMatch(/^licenses_withheld_columns 0$/m);
    expect(readAgain).toBe(read);
  });

  test('does not take OpenSearch for away where the epoch is not valid', async () => {
    const { client, store } = environment;
    const index = store.names.ledger;
    const { body: before } = await client.get({ index, id: 'epoch' });
    try {
      await client.index({ index, id: 'epoch', body: { epoch: 'x' }, refresh: true });
      await expect(currentEpoch(store)).rejects.toThrow('not valid');
      await sleep(NEXT_CHECK_MS);
      expect((await ready(workerPort))[1]).toEqual({ ready: true, opensearch: true, redis: true });
    } finally {
      await client.index({ index, id: 'epoch', body: before._source ?? {}, refresh: true });
    }
  });

  test('reports OpenSearch as away, and has no metrics from OpenSearch meanwhile', async () => {
    expect(await metrics()).toContain('licenses_publication_age_days');
    change = undefined;
    await untilReady(503, workerPort);
    expect(await ready(workerPort)).toEqual([503, { ready: false, opensearch: false, redis: true }]);
    // What was read may be used for a second more.
    const hasAge = async () => (await metrics()).includes('licenses_publication_age_days');
    await eventually('the age is absent', async () => !(await hasAge()));
    expect(await metrics()).toContain('licenses_queue_jobs{state="waiting"}');
  });

  inLongFormOnly(() => {
    test('reports Redis as away while it waits for it', async () => {
      const port = await freePort();
      const settings = { ...NO_REDIS, WORKER_ADMIN_PORT: String(port) };
      const away = startScript('workers/main.ts', { ...environment.variables, ...settings });
      const health = () => get(port, '/healthz').catch(() => undefined);
      await eventually('it listens', async () => (await health())?.status === 200);
      await untilReady(503, port);
      expect((await ready(port))[1]).toEqual({ ready: false, opensearch: true, redis: false });
      expect(await metrics(port)).not.toContain('licenses_queue_jobs{state="waiting"}');
      await away.kill();
    });
  });
});

inLongFormOnly(() =>
  describe('while Redis is away, the admin server', () => {
    /** Expects that the board reports Redis as away, and that the health check does not wait for a board that waits. */
    async function expectAway(port: number, boardWaits = true): Promise<void> {
      const answered: string[] = [];
      const ask = (path: string) => get(port, path).finally(() => answered.push(path));
      const [board, health] = await Promise.all([ask('/queues/api/queues'), ask('/healthz')]);
      expect([board.status, board.headers.get('retry-after'), health.status]).toEqual([503, '5', 200]);
      expect(board.body).toEqual({ detail: expect.stringContaining('Redis does not answer') });
      if (boardWaits) expect(answered).toEqual(['/healthz', '/queues/api/queues']);
      expect((await ready(port))[0]).toBe(503);
    }

    test('starts, answers the health check immediately and the board with an error, and stops cleanly', async () => {
      const { variables, config } = await testEnvironment(NO_REDIS);
      const api = await startApi(variables);
      await expectAway(config.ADMIN_PORT);
      expect((await get(config.ADMIN_PORT, '/queues')).status).toBe(503);
      expect(api.child.exitCode).toBeNull();
      await api.stop();
      expect(api.child.exitCode).toBe(0);
    });

    test('shows the queue again when Redis is back after a stop or a hang', async () => {
      const redis = await ownRedis();
      const { variables, config } = await testEnvironment({ REDIS_URL: redis.url });
      const api = await startApi(variables);
      const port = config.ADMIN_PORT;
      const status = async () => (await get(port, '/queues/api/queues')).status;
      const comesBack = () => eventually('the queue is shown', async () => (await status()) === 200, 200);
      await comesBack();
      for (const [stop, start, boardWaits] of [
        [redis.kill, redis.start, false],
        [async () => redis.pause(), async () => redis.resume(), true],
        [redis.kill, redis.start, false],
      ] as const) {
        await stop();
        await expectAway(port, boardWaits);
        await start();
        await comesBack();
      }
      redis.pause();
      await api.stop();
      redis.resume();
      expect(api.child.exitCode).toBe(0);
    });
  }),
);

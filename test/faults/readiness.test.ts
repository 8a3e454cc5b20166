import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { currentEpoch } from '../../src/publications/fence.ts';
import { publicationTimes } from '../../src/publications/ledger.ts';
import { liveIndex, readMetadata } from '../../src/publications/metadata.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { FIXTURES, FIXTURES_DATE, times } from '../support/fixtures.ts';
import { startProxy, type WebServer } from '../support/proxy.ts';
import { publishFiles } from '../support/publishing.ts';
import { rawRequest } from '../support/raw-http.ts';

const LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };
const NEXT_CHECK_MS = 1100;

let environment: TestEnvironment;
let proxy: WebServer;
let rest: ApiClient;
let workerPort: number;
const running: RunningProcess[] = [];
/** What OpenSearch was asked since the test began. */
let asked: { path: string; body: string }[] = [];
let change: (text: string) => string;

beforeAll(async () => {
  environment = await testEnvironment();
  proxy = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
    asked.push({ path: `${request.method} ${request.path}`, body: request.body });
    const answer = await request.forward();
    return { ...answer, body: change(answer.body) };
  });
  change = (text) => text;
  await publishFiles(environment, FIXTURES);
  rest = await apiClient(environment);
  workerPort = await freePort();
  const variables = {
    ...environment.variables,
    OPENSEARCH_URL: proxy.url,
    WORKER_ADMIN_PORT: String(workerPort),
  };
  running.push(await startApi(variables), await startWorker(variables));
});
beforeEach(() => {
  change = (text) => text;
  asked = [];
});

function get(port: number, path: string) {
  return rawRequest({ port, method: 'GET', path, headers: { host: 'localhost' } });
}

async function ready(): Promise<[number, unknown]> {
  const { status, body } = await get(environment.config.ADMIN_PORT, '/readyz');
  return [status, body];
}

/** What is asked within a second is answered from the same. On a busy machine it may take longer: then again. */
async function withinASecond<Result>(prepare: () => Promise<() => Promise<Result>>): Promise<Result> {
  for (;;) {
    const ask = await prepare();
    const begun = performance.now();
    const result = await ask();
    if (performance.now() - begun < 900) return result;
  }
}

/** What was asked beside the alias: the API asks once a second which publication is live. */
const withoutAlias = () => asked.filter(({ path }) => !path.includes('_alias'));

async function untilReady(is: 200 | 503): Promise<void> {
  await eventually(`/readyz is ${is}`, async () => (await ready())[0] === is);
}

describe('/readyz of the API', () => {
  test('is 200 with the live index', async () => {
    await untilReady(200);
    const index = await liveIndex(environment.store);
    expect(await ready()).toEqual([200, { ready: true, index, stopping: false }]);
  });

  test('costs one small request, which probes of the same second share', async () => {
    await untilReady(200);
    const statuses = await withinASecond(async () => {
      await new Promise((resolve) => setTimeout(resolve, NEXT_CHECK_MS));
      asked = [];
      return () => Promise.all(times(20, async () => (await ready())[0]));
    });
    expect(statuses).toEqual(Array(20).fill(200));
    expect(withoutAlias().map(({ path }) => path.replace(/licenses-[^/]*/, '…'))).toEqual([
      expect.stringMatching(/^POST .*…\/_mget/),
    ]);
  });

  test('is 503 while every lookup fails, and 200 again after that', async () => {
    await untilReady(200);
    change = (text) => text.replaceAll('"license_number":', '"number":');
    expect((await rest.verify(LOOKUP)).status).toBe(500);
    await untilReady(503);
    expect(await ready()).toEqual([503, { ready: false, index: null, stopping: false }]);
    change = (text) => text;
    await untilReady(200);
  });

  test('is 503 while licenses of the live publication are not found', async () => {
    await untilReady(200);
    const index = (await liveIndex(environment.store)) ?? '';
    await environment.client.indices.putSettings({ index, body: { 'index.blocks.write': false } });
    await environment.client.deleteByQuery({
      index,
      conflicts: 'proceed',
      refresh: true,
      body: { query: { match_all: {} } },
    });
    expect((await rest.verify(LOOKUP)).status).toBe(404);
    await untilReady(503);
    await publishFiles(environment, FIXTURES);
    await untilReady(200);
  });

  test('stays 200 while a publication goes live', async () => {
    await untilReady(200);
    let isSwitching = true;
    const probes = (async () => {
      const statuses = new Set<number>();
      while (isSwitching) statuses.add((await ready())[0]);
      return statuses;
    })();
    await publishFiles(environment, FIXTURES);
    isSwitching = false;
    expect([...(await probes)]).toEqual([200]);
  });
});

describe('the worker', () => {
  const sized = z.object({ size: z.number() });

  /** The most documents that a request asked for. */
  function largestSize(): number {
    const sizes = asked
      .filter(({ path }) => path.includes('_search'))
      .map(({ body }) => sized.parse(JSON.parse(body)).size);
    return Math.max(0, ...sizes);
  }

  test('answers /readyz without reading the ledger', async () => {
    const answers = await withinASecond(async () => {
      asked = [];
      return () => Promise.all(times(20, () => get(workerPort, '/readyz')));
    });
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers[0]?.body).toEqual({ ready: true, opensearch: true, redis: true });
    expect(asked.filter(({ path }) => path.includes('_search'))).toEqual([]);
    expect(withoutAlias().length).toBeLessThanOrEqual(1);
  });

  test('answers a scrape from a few documents, and those of a second from the same', async () => {
    const { texts, read, readAgain, again } = await withinASecond(async () => {
      await new Promise((resolve) => setTimeout(resolve, NEXT_CHECK_MS));
      asked = [];
      return async () => {
        const texts = await Promise.all(times(5, async () => (await get(workerPort, '/metrics')).text));
        const read = withoutAlias().length;
        const again = (await get(workerPort, '/metrics')).text;
        return { texts, read, again, readAgain: withoutAlias().length };
      };
    });
    expect(texts[0]).toMatch(/^licenses_last_publication_timestamp_seconds\{state="live"\} \d+/m);
    expect(texts[0]).toMatch(/^licenses_publication_age_days \d+$/m);
    expect(largestSize()).toBeLessThanOrEqual(20);
    expect(read).toBeLessThanOrEqual(4);
    expect(again).toMatch(/^licenses_withheld_columns 0$/m);
    expect(readAgain).toBe(read);
  });

  test('has the metrics of the ledger beside events of which a part is not valid', async () => {
    const { client, store } = environment;
    const index = store.names.ledger;
    const publication = (await readMetadata(store, (await liveIndex(store)) ?? '')).publication;
    const inTheFuture = Date.now() + 60_000;
    const bad = [
      { publication, event: 'refused', at: inTheFuture },
      { publication, event: 'verifying', at: new Date().toISOString(), checks: 'all' },
    ];
    for (const [at, body] of bad.entries())
      await client.index({ index, id: `bad-${at}`, body, refresh: true });
    try {
      const { live, lastEvents } = await publicationTimes(store);
      expect(live).toEqual({ date: FIXTURES_DATE, withheld: 0 });
      expect([...lastEvents.keys()]).toEqual(expect.arrayContaining(['live', 'verifying']));
    } finally {
      for (const at of bad.keys()) await client.delete({ index, id: `bad-${at}`, refresh: true });
    }
  });

  test('does not take OpenSearch for away where the epoch is not valid', async () => {
    const { client, store } = environment;
    const index = store.names.ledger;
    const { body: before } = await client.get({ index, id: 'epoch' });
    const answered = async () => (await get(workerPort, '/readyz')).body;
    try {
      await client.index({ index, id: 'epoch', body: { epoch: 'x' }, refresh: true });
      await expect(currentEpoch(store)).rejects.toThrow('not valid');
      await new Promise((resolve) => setTimeout(resolve, NEXT_CHECK_MS));
      expect(await answered()).toEqual({ ready: true, opensearch: true, redis: true });
    } finally {
      await client.index({ index, id: 'epoch', body: before._source ?? {}, refresh: true });
    }
  });
});

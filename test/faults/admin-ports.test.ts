/** @room publishing @long */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi, startScript, startWorker } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { eventually } from '../support/eventually.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { ownRedis } from '../support/own-servers.ts';
import { startProxy } from '../support/proxy.ts';
import { publishByCommand } from '../support/publishing.ts';

/** Far longer than a response takes, so that a request without a response fails. */
const ANSWERED_WITHIN_MS = 30_000;
const BACK_WITHIN_MS = 60_000;

/** The admin server's response at this path. */
async function asked(port: number, path: string) {
  const signal = AbortSignal.timeout(ANSWERED_WITHIN_MS);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('while Redis is away, the admin server', () => {
  /** Expects that the board reports Redis as away and the health check succeeds. */
  async function expectBoardAway(port: number): Promise<void> {
    const away = await asked(port, '/queues/api/queues');
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    expect(JSON.parse(away.text)).toEqual({ detail: expect.stringContaining('Redis does not answer') });
    const [health, ready] = [await asked(port, '/healthz'), await asked(port, '/readyz')];
    expect([health.status, ready.status]).toEqual([200, 503]);
  }

  /** Expects that the health check succeeds while the board still waits for Redis. */
  async function expectHealthFirst(port: number): Promise<void> {
    const answered: string[] = [];
    const ask = (path: string) => asked(port, path).finally(() => answered.push(path));
    await Promise.all([ask('/queues/api/queues'), ask('/healthz')]);
    expect(answered).toEqual(['/healthz', '/queues/api/queues']);
  }

  test('starts, answers the health check immediately and the board with an error, and stops cleanly', async () => {
    const elsewhere = await testEnvironment({ REDIS_URL: 'redis://127.0.0.1:1' });
    const running = await startApi(elsewhere.variables);
    try {
      const { ADMIN_PORT: port } = elsewhere.config;
      await expectBoardAway(port);
      await expectHealthFirst(port);
      expect((await asked(port, '/queues')).status).toBe(503);
      expect(running.child.exitCode).toBeNull();
    } finally {
      await running.stop();
      await elsewhere.cleanUp();
    }
    expect(running.child.exitCode).toBe(0);
  });

  test('shows the queue again when Redis is back after a stop or a hang', async () => {
    const redis = await ownRedis();
    const elsewhere = await testEnvironment({ REDIS_URL: redis.url });
    const running = await startApi(elsewhere.variables);
    try {
      const { ADMIN_PORT: port } = elsewhere.config;
      const isShown = async () => (await asked(port, '/queues/api/queues')).status === 200;
      async function comesBack(): Promise<void> {
        const deadline = Date.now() + BACK_WITHIN_MS;
        while (!(await isShown()) && Date.now() < deadline) await sleep(200);
        expect(await isShown()).toBe(true);
      }
      await comesBack();

      await redis.kill();
      await running.printed('Redis is away');
      await expectBoardAway(port);
      await redis.start();
      await comesBack();

      redis.pause();
      await expectBoardAway(port);
      await expectHealthFirst(port);
      redis.resume();
      await comesBack();

      await redis.kill();
      await expectBoardAway(port);
      await redis.start();
      await comesBack();
      redis.pause();
      await running.stop();
      expect(running.child.exitCode).toBe(0);
    } finally {
      await running.stop();
      redis.resume();
      await elsewhere.cleanUp();
      await redis.stop();
    }
  });
});

describe("the worker's admin port", () => {
  let environment: TestEnvironment;

  beforeEach(async () => {
    environment = await testEnvironment();
  });
  afterEach(() => environment.cleanUp());

  async function metrics(origin: string): Promise<string[]> {
    const response = await fetch(`${origin}/metrics`);
    return (await response.text()).split('\n').map((line) => line.split(' ')[0] ?? '');
  }

  async function expectReady(origin: string, status: number, answer: object): Promise<void> {
    let readiness = await fetch(`${origin}/readyz`);
    const deadline = Date.now() + 60_000;
    // What was known may be used for a second more.
    while (readiness.status !== status && Date.now() < deadline) readiness = await fetch(`${origin}/readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([status, answer]);
  }

  test('reports OpenSearch as away, and has no metrics from OpenSearch meanwhile', async () => {
    const proxy = await startProxy(environment.config.OPENSEARCH_URL, (request) => request.forward());
    const [port = 0] = await freePorts(1);
    const settings = { WORKER_ADMIN_PORT: String(port), OPENSEARCH_URL: proxy.url };
    const worker = await startWorker({ ...environment.variables, ...settings });
    const origin = `http://127.0.0.1:${port}`;
    await publishByCommand(environment.variables, FIXTURES, '--force', 'a test of something else');
    await expectReady(origin, 200, { ready: true, opensearch: true, redis: true });
    expect(await metrics(origin)).toContain('licenses_publication_age_days');

    await proxy.close();
    await expectReady(origin, 503, { ready: false, opensearch: false, redis: true });
    // What was read may be used for a second more.
    await eventually(
      'the age is absent',
      async () => !(await metrics(origin)).includes('licenses_publication_age_days'),
    );
    expect(await metrics(origin)).toContain('licenses_queue_jobs{state="waiting"}');
    await worker.stop();
  });

  test('reports Redis as away while the worker waits for it', async () => {
    const [port = 0] = await freePorts(1);
    const nowhere = { WORKER_ADMIN_PORT: String(port), REDIS_URL: 'redis://127.0.0.1:1' };
    const away = startScript('workers/main.ts', { ...environment.variables, ...nowhere });
    const origin = `http://127.0.0.1:${port}`;
    try {
      while (!(await fetch(`${origin}/healthz`).catch(() => undefined))?.ok) {
        expect(away.child.exitCode).toBeNull();
        await sleep(50);
      }
      await expectReady(origin, 503, { ready: false, opensearch: true, redis: false });
      expect(await metrics(origin)).not.toContain('licenses_queue_jobs{state="waiting"}');
    } finally {
      await away.kill();
    }
  });
});

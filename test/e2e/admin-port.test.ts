import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { readConfig } from '../../src/config.ts';
import { httpApp } from '../../src/http/app.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { queueBoard } from '../../src/service-status/queue-board.ts';
import { daysBetween, onOneDay } from '../support/days.ts';
import { FIXTURES, FIXTURES_DATE } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { listening, startProxy, webServer } from '../support/proxy.ts';
import { rawRequest } from '../support/raw-http.ts';
import { seriesAt, valueAt } from '../support/series.ts';

/** A loopback address other than the default one. */
const OTHER_ADDRESS = '127.0.0.2';
const PASSWORD = 'a password of the operators';

const environment = await testEnvironment();

/** A worker on a known admin port. */
async function worker({ variables }: TestEnvironment, settings: Record<string, string> = {}) {
  const port = await freePort();
  const process = await startWorker({ ...variables, WORKER_ADMIN_PORT: String(port), ...settings });
  return { process, port };
}

const FILES = ['--individual', FIXTURES.individual, '--business', FIXTURES.business];
/** The fixtures have more rejected rows than the guards allow. */
const FORCE = ['--force', 'a test of something else'];

async function publish({ variables }: TestEnvironment, ...options: string[]): Promise<string> {
  const { stdout } = await command(variables, 'publish', ...FILES, '--json', ...options);
  return z.object({ state: z.string() }).parse(JSON.parse(stdout)).state;
}

test('the admin ports listen on ADMIN_HOST, and have metrics of publications from the first on', async () => {
  const ofWorker = await worker(environment, { ADMIN_HOST: OTHER_ADDRESS });
  await startApi({ ...environment.variables, ADMIN_HOST: OTHER_ADDRESS });
  const ports = [ofWorker.port, environment.config.ADMIN_PORT] as const;
  const healthOf = async (host: string, port: number) =>
    (await fetch(`http://${host}:${port}/healthz`).catch(() => undefined))?.status;
  for (const port of ports) {
    const statuses = [await healthOf(OTHER_ADDRESS, port), await healthOf('127.0.0.1', port)];
    expect(statuses).toEqual([200, undefined]);
  }

  const series = (port: number) => seriesAt(port, OTHER_ADDRESS);
  const before = await series(ofWorker.port);
  expect(before.get('licenses_queue_jobs{state="waiting"}')).toBe(0);
  expect([...before.keys()].filter((name) => /publication_|withheld/.test(name))).toEqual([]);
  // An age of 0 would mean that the data is current.
  const ofApi = [...(await series(environment.config.ADMIN_PORT)).keys()];
  expect(ofApi).toContain('licenses_lookups_in_flight');
  expect(ofApi.filter((name) => /publication_(?:age_days|licenses)/.test(name))).toEqual([]);

  expect(await publish(environment, ...FORCE)).toBe('live');
  const live = Date.now() / 1000;
  const { today, answer: after } = await onOneDay(() => series(ofWorker.port));
  expect(Object.fromEntries(after)).toMatchObject({
    'licenses_publications_total{state="live"}': 1,
    licenses_publication_age_days: daysBetween(FIXTURES_DATE, today),
    ...{ licenses_withheld_columns: 0, licenses_published_not_found: 0 },
  });
  const last = after.get('licenses_last_publication_timestamp_seconds{state="live"}') ?? 0;
  expect(Math.abs(live - last)).toBeLessThan(60);

  expect(await publish(environment)).toBe('skipped');
  expect((await series(ofWorker.port)).get('licenses_publications_total{state="skipped"}')).toBe(1);
});

test('a lookup after the switch that finds nothing has a metric and a line of the log', async () => {
  const own = await testEnvironment();
  let isSwitched = false;
  const proxy = await startProxy(own.config.OPENSEARCH_URL, async (request) => {
    const answer = await request.forward();
    isSwitched ||= request.path.startsWith('/_aliases') && request.method === 'POST';
    const isLookup = /licenses-.*\/_(m?search|mget)\b/.test(request.path);
    return isSwitched && isLookup ? { status: 500, body: '{"error":"broken"}' } : answer;
  });
  const { process, port } = await worker(own, { OPENSEARCH_URL: proxy.url });
  expect(await publish(own, ...FORCE)).toBe('live');
  await process.printed('lookups find nothing; licenses rollback makes');
  expect(await valueAt(port, 'licenses_published_not_found')).toBe(1);
});

// `npm start` and the image run what these two run.
test.each([
  ['ADMIN_PORT', 'serve'],
  ['WORKER_ADMIN_PORT', 'work'],
])('a port of %s that is in use makes licenses %s fail with one line', async (setting, name) => {
  const { port } = new URL((await webServer(() => undefined)).url);
  const settings = { ...environment.variables, PORT: '0', ADMIN_PORT: '0', [setting]: port };
  const { code, output } = await licenses(settings, name);
  const says = new RegExp(`^Can't listen on 127\\.0\\.0\\.1:${port}: [^\\n]*EADDRINUSE[^\\n]*$`, 'm');
  expect([code, output]).toEqual([1, expect.stringMatching(says)]);
  expect(output).not.toContain('    at ');
});

/** What it answers at an address from which its client seems to come. */
async function asked(address: string, headers: Record<string, string> = {}, password?: string) {
  const queue = publishQueue(readConfig());
  const app = httpApp(pino({ level: 'silent' }));
  app.use(queueBoard(async () => queue, password));
  const server = createServer(app.callback());
  server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: address }));
  const port = await listening(server);
  const all = { host: 'localhost', connection: 'close', ...headers };
  const answer = await rawRequest(port, '/queues/api/queues', { headers: all });
  server.close();
  void queue.disconnect().catch(() => undefined);
  return answer;
}

const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

test.each([
  ['127.0.0.1', 200],
  ['::1', 200],
  ['::ffff:127.0.0.1', 200],
  ['192.0.2.7', 403],
  ['::ffff:192.0.2.7', 403],
  ['fd00::2', 403],
])('the queue board without a password gives %s status %i', async (address, status) => {
  expect((await asked(address)).status).toBe(status);
});

test.each<[string, string, Record<string, string>, number]>([
  ['a request without a password', '127.0.0.1', {}, 401],
  ['a wrong password', '192.0.2.7', basic('ada', `${PASSWORD}.`), 401],
  ['an empty Authorization header', '192.0.2.7', { authorization: 'Basic' }, 401],
  ['a bearer token', '192.0.2.7', { authorization: `Bearer ${PASSWORD}` }, 401],
  ['the right password', '192.0.2.7', basic('ada', PASSWORD), 200],
  ['the right password without a user', '127.0.0.1', basic('', PASSWORD), 200],
])('the queue board with a password: %s from %s', async (_what, address, headers, status) => {
  const response = await asked(address, headers, PASSWORD);
  expect(response.status).toBe(status);
  const challenge = status === 401 ? 'Basic realm="Publish queue", charset="UTF-8"' : null;
  expect(response.headers.get('www-authenticate')).toBe(challenge);
});

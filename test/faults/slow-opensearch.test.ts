import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import type { ApiAnswer, ApiClient } from '../support/api.ts';
import type { ProxyStep } from '../support/proxy.ts';
import { valueAt } from '../support/series.ts';
import { startService } from '../support/service.ts';

const GOOD = { board: 'Nursing Board', license_number: 'RN.700001' };
/** The time limit at the client, which may be busy. The service's own histogram is checked, too. */
const ANSWERS_WITHIN_MS = 30_000;
/** The histogram bucket of the service that is next above its limit of three seconds. */
const SERVED_WITHIN_SECONDS = '5';
const RECOVERS_WITHIN_MS = 30_000;
/** The maximum of simultaneous lookups (src/lookup/service.ts), and more than that. */
const TAKEN = 1000;
const TOO_MANY = 1500;

/** The maximum of simultaneous MCP requests (src/mcp/endpoint.ts), and more than that. */
const MCP_TAKEN = 200;
const MCP_TOO_MANY = 300;

/** On a slow machine the first requests time out before the last ones are sent: then all are sent again. */
const MAX_BURSTS = 5;

/**
 * What the proxy does: it forwards all requests, holds all, holds all except those about keys, or closes the
 * connection.
 */
let mode: 'answers' | 'hangs' | 'lookups hang' | 'away' = 'answers';
/** The API's requests to OpenSearch without a response since the test started. */
let broken: number;
let held: { keys: number; others: number };
let environment: TestEnvironment;
let rest: ApiClient;

beforeAll(async () => {
  const proxied: ProxyStep = async ({ path, forward }) => {
    const isAboutKeys = /(api-keys|accounts)\/_doc\//.test(path);
    if (mode === 'away') {
      broken += 1;
      return undefined;
    }
    const isHeld = () => mode === 'hangs' || (mode === 'lookups hang' && !isAboutKeys);
    if (isHeld()) held[isAboutKeys ? 'keys' : 'others'] += 1;
    while (isHeld()) await sleep(50);
    return forward();
  };
  ({ environment, rest } = await startService({ settings: { TRUSTED_PROXIES: '1' }, proxied }));
});
beforeEach(async () => {
  mode = 'answers';
  broken = 0;
  held = { keys: 0, others: 0 };
  await recovered();
});
afterAll(async () => {
  mode = 'answers';
});

interface Timed {
  readonly answer: ApiAnswer;
  readonly ms: number;
}

async function asked(): Promise<Timed> {
  const begun = Date.now();
  return { answer: await rest.verify(GOOD), ms: Date.now() - begun };
}

/** Expects 503 from each, in time. */
function expectUnavailable(all: readonly Timed[]): void {
  for (const { answer, ms } of all) {
    expect([answer.status, Number(answer.headers.get('retry-after')) >= 1]).toEqual([503, true]);
    expect(answer.body).toEqual({
      detail: expect.stringContaining('try again'),
      data_age_days: expect.any(Number),
    });
    expect(ms).toBeLessThan(ANSWERS_WITHIN_MS);
  }
}

/** Expects that no request took the service longer than its limit. */
async function expectServedInTime(): Promise<void> {
  const labels = 'interface="rest",outcome="unavailable"';
  const port = environment.config.ADMIN_PORT;
  const all = await valueAt(port, `licenses_request_seconds_count{${labels}}`);
  const bucket = `le="${SERVED_WITHIN_SECONDS}",${labels}`;
  expect(all).toBeGreaterThan(0);
  expect(await valueAt(port, `licenses_request_seconds_bucket{${bucket}}`)).toBe(all);
}

/** Waits until lookups succeed. */
async function recovered(): Promise<void> {
  const begun = Date.now();
  for (;;) {
    const { answer } = await asked();
    if (answer.status === 200) return;
    expect(Date.now() - begun).toBeLessThan(RECOVERS_WITHIN_MS);
    await sleep(50);
  }
}

/** Opens connections that are kept, so that requests over them start at the same time. */
async function openConnections(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => rest.get('/favicon.svg')));
}

async function expectStatusKnown(): Promise<void> {
  const status = await rest.get('/status');
  expect(status.status).toBe(200);
  expect(status.body).toMatchObject({ publication: { id: expect.any(String) } });
}

test('lookups while OpenSearch breaks every connection', async () => {
  mode = 'away';
  expectUnavailable([await asked()]);
  await expectStatusKnown();
  expect(broken).toBeGreaterThan(0);
  mode = 'answers';
  await recovered();
  await expectServedInTime();
});

test('lookups while OpenSearch hangs', async () => {
  mode = 'hangs';
  const first = await Promise.all(Array.from({ length: 10 }, asked));
  expect(held.others).toBeGreaterThan(0);
  await sleep(6000);
  // The key is now read again, which hangs too.
  expectUnavailable([...first, await asked()]);
  expect(held.keys).toBeGreaterThan(0);
  await expectStatusKnown();
  mode = 'answers';
  await recovered();
  await expectServedInTime();
});

/** The results of simultaneous requests. */
interface Burst<Answer> {
  readonly answers: readonly Answer[];
  /** The service's own count of the most lookups in progress at a time. */
  readonly mostUnderWay: number;
}

async function burst<Answer>(count: number, ask: () => Promise<Answer>): Promise<Burst<Answer>> {
  let hasEnded = false;
  const answering = Promise.all(Array.from({ length: count }, ask)).finally(() => {
    hasEnded = true;
  });
  let mostUnderWay = 0;
  while (!hasEnded) {
    mostUnderWay = Math.max(
      mostUnderWay,
      await valueAt(environment.config.ADMIN_PORT, 'licenses_lookups_in_flight'),
    );
    await sleep(20);
  }
  return { answers: await answering, mostUnderWay };
}

/** Sends many requests at the same time, again if needed, until some are refused because there are too many. */
async function burstUntil<Answer>(
  count: number,
  ask: () => Promise<Answer>,
  hasRefused: (burst: Burst<Answer>) => boolean,
): Promise<Burst<Answer>> {
  for (let bursts = 0; bursts < MAX_BURSTS; bursts += 1) {
    const seen = await burst(count, ask);
    if (hasRefused(seen)) return seen;
  }
  throw new Error(`In ${MAX_BURSTS} bursts the service was never asked for more than it takes at once.`);
}

test('more lookups than the limit while OpenSearch hangs', async () => {
  await openConnections(TOO_MANY);
  mode = 'lookups hang';
  const isRefused = ({ answer }: Timed) => answer.headers.get('retry-after') === '1';
  const { answers, mostUnderWay } = await burstUntil(
    TOO_MANY,
    asked,
    ({ mostUnderWay: most, answers: all }) => most > TAKEN || (most === TAKEN && all.some(isRefused)),
  );
  expectUnavailable(answers);
  expect(mostUnderWay).toBe(TAKEN);
  expect(held.others).toBeGreaterThan(0);
  mode = 'answers';
  await recovered();
  const after = await Promise.all(Array.from({ length: 100 }, asked));
  expect(after.filter(({ answer }) => answer.status !== 200)).toEqual([]);
});

let calls = 0;

/** Calls a tool of the MCP server, from one of so many addresses that none has all of its part. */
function called(): Promise<ApiAnswer> {
  calls += 1;
  const from = { 'x-forwarded-for': `198.51.100.${calls % 30}` };
  return rest.callTool('verify_license', { license_number: GOOD.license_number }, from);
}

test('more MCP calls than the limit while OpenSearch hangs', async () => {
  await openConnections(MCP_TOO_MANY);
  mode = 'lookups hang';
  const { answers, mostUnderWay } = await burstUntil(MCP_TOO_MANY, called, (seen) =>
    seen.answers.some(({ status }) => status === 503),
  );
  const refused = answers.filter(({ status }) => status === 503);
  for (const { headers, body } of refused) {
    expect([headers.get('retry-after'), body]).toEqual([
      '1',
      { detail: expect.stringContaining('try again') },
    ]);
  }
  const taken = answers.filter(({ status }) => status !== 503);
  for (const { body } of taken) {
    expect(body).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('try again') }] },
    });
  }
  expect(mostUnderWay).toBeGreaterThan(0);
  expect(mostUnderWay).toBeLessThanOrEqual(MCP_TAKEN);
  expect(held.others).toBeGreaterThan(0);
  mode = 'answers';
  await recovered();
  const after = await Promise.all(Array.from({ length: 100 }, called));
  expect(after.filter(({ status }) => status !== 200)).toEqual([]);
});

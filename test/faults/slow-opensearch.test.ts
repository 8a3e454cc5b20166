import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import type { ApiAnswer } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { times } from '../support/fixtures.ts';
import { valueAt } from '../support/series.ts';
import { startService } from '../support/service.ts';

const GOOD = { board: 'Nursing Board', license_number: 'RN.700001' };
/** The histogram bucket of the service that is next above its limit of three seconds. */
const SERVED_WITHIN_SECONDS = '5';
/** The maximum of simultaneous lookups (src/lookup/service.ts), and more than that. */
const TAKEN = 1000;
const TOO_MANY = 1500;
/** The maximum of simultaneous MCP requests (src/mcp/endpoint.ts), and more than that. */
const MCP_TAKEN = 200;
const MCP_TOO_MANY = 300;

/** On a slow machine the first requests time out before the last ones are sent: then all are sent again. */
const MAX_BURSTS = 5;

/** What the proxy does: it forwards all requests, holds all, or holds all except those about keys. */
let mode: 'answers' | 'hangs' | 'lookups hang' = 'answers';
/** The API's requests to OpenSearch without a response since the test started. */
let broken = { keys: 0, others: 0 };

const { environment, rest } = await startService({
  settings: { TRUSTED_PROXIES: '1' },
  proxied: async ({ path, forward }) => {
    const isAboutKeys = /(api-keys|accounts)\/_doc\//.test(path);
    const isHeld = () => mode === 'hangs' || (mode === 'lookups hang' && !isAboutKeys);
    if (isHeld()) broken[isAboutKeys ? 'keys' : 'others'] += 1;
    while (isHeld()) await sleep(50);
    return forward();
  },
});
beforeEach(async () => {
  await recovered();
  broken = { keys: 0, others: 0 };
});

const lookUp = () => rest.verify(GOOD);

const series = (name: string) => valueAt(environment.config.ADMIN_PORT, name);

/** Expects 503 from each. */
function expectUnavailable(...answers: readonly ApiAnswer[]): void {
  const body = { detail: expect.stringContaining('try again'), data_age_days: expect.any(Number) };
  for (const answer of answers) {
    expect([answer.status, answer.body]).toEqual([503, body]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
}

/** Waits until lookups succeed when OpenSearch answers again. */
async function recovered(): Promise<void> {
  mode = 'answers';
  await eventually('lookups succeed', async () => (await lookUp()).status === 200);
}

test('lookups while OpenSearch hangs', async () => {
  mode = 'hangs';
  const first = await Promise.all(times(10, lookUp));
  expect(broken.others).toBeGreaterThan(0);
  await sleep(6000);
  // The key is now read again, which hangs too.
  expectUnavailable(...first, await lookUp());
  expect(broken.keys).toBeGreaterThan(0);
  const { status, body } = await rest.get('/status');
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ publication: expect.objectContaining({ id: expect.any(String) }) }),
  ]);
  await recovered();
  // No request took the service longer than its limit.
  const labels = 'interface="rest",outcome="unavailable"';
  const all = await series(`licenses_request_seconds_count{${labels}}`);
  expect(all).toBeGreaterThan(0);
  expect(await series(`licenses_request_seconds_bucket{le="${SERVED_WITHIN_SECONDS}",${labels}}`)).toBe(all);
});

/**
 * Sends many requests at the same time while lookups hang, again if needed, until some are refused because there are
 * too many, and so many were in progress.
 *
 * @returns also the service's own count of the most lookups in progress at a time
 */
async function burst(
  count: number,
  ask: () => Promise<ApiAnswer>,
  isRefused: (answer: ApiAnswer) => boolean,
  least: number,
) {
  // Connections that are kept, so that requests over them start at the same time.
  await Promise.all(times(count, () => rest.get('/favicon.svg')));
  mode = 'lookups hang';
  for (let bursts = 0; bursts < MAX_BURSTS; bursts += 1) {
    let hasEnded = false;
    const answering = Promise.all(times(count, ask)).finally(() => {
      hasEnded = true;
    });
    let most = 0;
    for (; !hasEnded; await sleep(20)) most = Math.max(most, await series('licenses_lookups_in_flight'));
    const { refused = [], taken = [] } = Object.groupBy(await answering, (answer) =>
      isRefused(answer) ? 'refused' : 'taken',
    );
    if (refused.length > 0 && most >= least) return { refused, taken, most };
  }
  throw new Error(`In ${MAX_BURSTS} bursts the service was never asked for more than it takes at once.`);
}

/** Expects that all of many requests are answered again. */
async function expectRecovered(ask: () => Promise<ApiAnswer>): Promise<void> {
  expect(broken.others).toBeGreaterThan(0);
  await recovered();
  const after = await Promise.all(times(100, ask));
  expect(after.filter(({ status }) => status !== 200)).toEqual([]);
}

test('more lookups than the limit while OpenSearch hangs', async () => {
  const isRefused = ({ headers }: ApiAnswer) => headers.get('retry-after') === '1';
  const { refused, taken, most } = await burst(TOO_MANY, lookUp, isRefused, TAKEN);
  expectUnavailable(...refused, ...taken);
  expect(most).toBe(TAKEN);
  await expectRecovered(lookUp);
});

let calls = 0;

/** Calls a tool of the MCP server, from one of so many addresses that none has all of its part. */
function called(): Promise<ApiAnswer> {
  calls += 1;
  const from = { 'x-forwarded-for': `198.51.100.${calls % 30}` };
  return rest.callTool('verify_license', { license_number: GOOD.license_number }, from);
}

test('more MCP calls than the limit while OpenSearch hangs', async () => {
  const { refused, taken, most } = await burst(MCP_TOO_MANY, called, ({ status }) => status === 503, 1);
  const tryAgain = expect.stringContaining('try again');
  for (const { headers, body } of refused)
    expect([headers.get('retry-after'), body]).toEqual(['1', { detail: tryAgain }]);
  const result = { isError: true, content: [{ text: tryAgain }] };
  for (const { body } of taken) expect(body).toMatchObject({ result });
  expect(most).toBeLessThanOrEqual(MCP_TAKEN);
  await expectRecovered(called);
});

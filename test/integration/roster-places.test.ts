import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { MAX_ROSTERS_WAITING_WITHOUT_KEY } from '../../src/rosters/service.ts';
import { type ApiAnswer, type ApiClient, apiClient } from '../support/api.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import { startProxy, type WebServer } from '../support/proxy.ts';
import { publishFiles } from '../support/publishing.ts';
import { rawRequest } from '../support/raw-http.ts';
import { sendRoster } from '../support/rosters.ts';
import { until } from '../support/worker-installation.ts';

/** One is under way, the others wait. */
const PLACES_WITHOUT_KEY = 1 + MAX_ROSTERS_WAITING_WITHOUT_KEY;

let environment: TestEnvironment;
let proxy: WebServer;
let api: RunningProcess;
let rest: ApiClient;
const held = Promise.withResolvers<void>();

beforeAll(async () => {
  environment = await testEnvironment({ MCP_REQUESTS_PER_MINUTE: '1000' });
  // Lookups by number are held; those by name are answered.
  proxy = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
    if (request.path.includes('/_mget')) await held.promise;
    return request.forward();
  });
  await publishFiles(environment, FIXTURES);
  rest = await apiClient(environment);
  api = await startApi({ ...environment.variables, OPENSEARCH_URL: proxy.url });
});
afterAll(async () => {
  held.resolve();
  await api.stop();
  await proxy.close();
  await environment.cleanUp();
});

function withoutKey(): Promise<ApiAnswer> {
  return rest.request('POST', '/mcp', {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'verify_roster',
        arguments: { items: [{ board: 'Nursing Board', license_number: 'RN.700001' }] },
      },
    }),
  });
}

async function itemsInFlight(): Promise<number> {
  const { text } = await rawRequest({
    port: environment.config.ADMIN_PORT,
    method: 'GET',
    path: '/metrics',
    headers: { host: 'localhost' },
  });
  return Number(/^licenses_roster_items_in_flight (\d+)$/m.exec(text)?.[1]);
}

test('rosters without a key never take the places of those with one', async () => {
  const waiting = times(PLACES_WITHOUT_KEY, withoutKey);
  await until('all wait', async () => (await itemsInFlight()) === PLACES_WITHOUT_KEY);
  expect((await withoutKey()).text).toContain('The service is overloaded');

  const begun = Date.now();
  const answer = await sendRoster(rest, { items: [{ board: 'Nursing Board', last_name: 'Smith' }] });
  expect(answer.status).toBe(200);
  expect(Date.now() - begun).toBeLessThan(6000);
  expect(await itemsInFlight()).toBe(PLACES_WITHOUT_KEY);
  held.resolve();
  await Promise.all(waiting);
});

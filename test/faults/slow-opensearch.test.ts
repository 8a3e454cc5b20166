import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { type ApiAnswer, type ApiClient, apiClient } from '../support/api.ts';
import { type TestEnvironment, testEnvironment } from '../support/environment.ts';
import { faultTest } from '../support/fault-form.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { type OpenSearchProxy, openSearchProxy } from '../support/open-search-proxy.ts';
import { type RunningProcess, startApi } from '../support/processes.ts';
import { publishFiles } from '../support/publishing.ts';

const GOOD = { board: 'Nursing Board', license_number: 'RN.700001' };
const ANSWERS_WITHIN_MS = 3000;
/** As many are taken at once (src/lookups.ts), and more. */
const TAKEN = 1000;
const TOO_MANY = 1500;

/** As many MCP requests are taken at once (src/mcp/endpoint.ts), and more. */
const MCP_TAKEN = 200;
const MCP_TOO_MANY = 300;

/** What becomes of OpenSearch's answers: they come, come too late, or the connection breaks. */
let mode: 'answers' | 'hangs' | 'away' = 'answers';
let proxy: OpenSearchProxy;
let environment: TestEnvironment;
let api: RunningProcess;
let rest: ApiClient;

beforeAll(async () => {
  environment = await testEnvironment({
    REST_REQUESTS_PER_MINUTE: '1000000',
    MCP_REQUESTS_PER_MINUTE: '1000000',
  });
  await publishFiles(environment, FIXTURES);
  proxy = await openSearchProxy(environment.config.OPENSEARCH_URL, async ({ forward }) => {
    if (mode === 'away') return undefined;
    while (mode === 'hangs') await sleep(50);
    return forward();
  });
  api = await startApi({ ...environment.variables, OPENSEARCH_URL: proxy.url });
  rest = await apiClient(environment);
});
beforeEach(async () => {
  mode = 'answers';
  await recovered();
});
afterAll(async () => {
  mode = 'answers';
  await api.stop();
  await proxy.close();
  await environment.cleanUp();
});

interface Timed {
  readonly answer: ApiAnswer;
  readonly ms: number;
}

async function asked(): Promise<Timed> {
  const begun = Date.now();
  return { answer: await rest.verify(GOOD), ms: Date.now() - begun };
}

function expectUnavailable({ answer, ms }: Timed): void {
  expect([answer.status, Number(answer.headers.get('retry-after')) >= 1]).toEqual([503, true]);
  expect(answer.body).toEqual({ detail: expect.stringContaining('try again') });
  expect(ms).toBeLessThan(ANSWERS_WITHIN_MS);
}

/** Until lookups are answered; how long that took. */
async function recovered(): Promise<number> {
  const begun = Date.now();
  for (;;) {
    const { answer } = await asked();
    if (answer.status === 200) return (Date.now() - begun) / 1000;
    expect(Date.now() - begun).toBeLessThan(10_000);
    await sleep(50);
  }
}

/** So many that are kept, so that those who ask over them do it at once: the first must not be given up by the last. */
async function openConnections(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => rest.get('/openapi.json')));
}

async function expectStatusKnown(): Promise<void> {
  const status = await rest.get('/status');
  expect(status.status).toBe(200);
  expect(status.body).toMatchObject({ publication: { id: expect.any(String) } });
}

faultTest(
  'lookups while OpenSearch breaks every connection',
  '',
  async () => {
    mode = 'away';
    expectUnavailable(await asked());
    await expectStatusKnown();
    mode = 'answers';
    return { seconds: await recovered(), outcome: '503 at once; the answers come back by themselves' };
  },
  60_000,
);

faultTest(
  'lookups while OpenSearch hangs',
  '',
  async () => {
    mode = 'hangs';
    for (const each of await Promise.all(Array.from({ length: 10 }, asked))) expectUnavailable(each);
    await sleep(6000);
    // The key is read anew now, which hangs too.
    expectUnavailable(await asked());
    await expectStatusKnown();
    mode = 'answers';
    return { seconds: await recovered(), outcome: '503 within 3 s; the answers come back by themselves' };
  },
  60_000,
);

faultTest(
  'more lookups than are taken while OpenSearch hangs',
  '',
  async () => {
    await openConnections(TOO_MANY);
    mode = 'hangs';
    const all = await Promise.all(Array.from({ length: TOO_MANY }, asked));
    const statuses = new Set(all.map(({ answer }) => answer.status));
    expect([...statuses]).toEqual([503]);
    const atOnce = all.filter(({ answer }) => answer.headers.get('retry-after') === '1');
    expect(atOnce.length).toBeGreaterThanOrEqual(TOO_MANY - TAKEN);
    mode = 'answers';
    const seconds = await recovered();
    const after = await Promise.all(Array.from({ length: 100 }, asked));
    expect(after.filter(({ answer }) => answer.status !== 200)).toEqual([]);
    return { seconds, outcome: 'those beyond 1,000 get 503 at once; no line builds up' };
  },
  60_000,
);

/** A call of the tool server. */
function called(): Promise<ApiAnswer> {
  return rest.callTool('verify_license', { license_number: GOOD.license_number });
}

faultTest(
  'more MCP calls than are taken while OpenSearch hangs',
  '',
  async () => {
    await openConnections(MCP_TOO_MANY);
    mode = 'hangs';
    const all = await Promise.all(Array.from({ length: MCP_TOO_MANY }, called));
    const refused = all.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThanOrEqual(MCP_TOO_MANY - MCP_TAKEN);
    for (const { headers, body } of refused) {
      expect([headers.get('retry-after'), body]).toEqual([
        '1',
        { detail: expect.stringContaining('try again') },
      ]);
    }
    for (const { body } of all.filter(({ status }) => status !== 503)) {
      expect(body).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringContaining('try again') }] },
      });
    }
    mode = 'answers';
    const seconds = await recovered();
    const after = await Promise.all(Array.from({ length: 100 }, called));
    expect(after.filter(({ status }) => status !== 200)).toEqual([]);
    return {
      seconds,
      outcome: 'those beyond 200 get 503 at once, the others a tool error; REST keeps its share',
    };
  },
  60_000,
);

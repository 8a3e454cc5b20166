import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';

const NURSING = 'Nursing Board';

let service: TestService;

beforeAll(async () => {
  service = await startService({ settings: { MCP_REQUESTS_PER_MINUTE: '2' } });
});
afterAll(() => service.stop());

/** What the admin port tells Prometheus, each series by its name and labels. */
async function series(): Promise<ReadonlyMap<string, number>> {
  const answer = await rawRequest({
    port: service.environment.config.ADMIN_PORT,
    method: 'GET',
    path: '/metrics',
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = answer.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

async function toolCall(name: string, parameters: object): Promise<void> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: parameters },
  });
  await rawRequest({
    port: service.environment.config.PORT,
    method: 'POST',
    path: '/mcp',
    headers: {
      host: `127.0.0.1:${service.environment.config.PORT}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  });
}

describe('the metrics tell', () => {
  test('how requests ended, by door', async () => {
    const { rest } = service;
    await rest.verify({ board: NURSING, license_number: 'RN.700001' });
    await rest.verify({ board: NURSING, license_number: 'RN.0700001' });
    await rest.verify({ board: NURSING, last_name: 'Nobodywhoisthere' });
    await rest.verify({ board: 'Nursing' });
    await rest.get('/api/v1/lookup/boards');
    await rest.request('GET', '/api/v1/lookup/boards', { headers: { 'x-api-key': 'wrong' } });
    for (const _ of [1, 2, 3]) {
      await toolCall('verify_license', { license_number: 'RN.700001' });
    }

    const told = await series();
    const requests = (door: string, outcome: string) =>
      told.get(`licenses_request_seconds_count{door="${door}",outcome="${outcome}"}`) ?? 0;
    expect({
      found: requests('rest', 'found'),
      none: requests('rest', 'none'),
      refused: requests('rest', 'refused'),
      answered: requests('rest', 'answered'),
      unauthorized: requests('rest', 'unauthorized'),
    }).toEqual({ found: 1, none: 2, refused: 1, answered: 1, unauthorized: 1 });
    expect([requests('mcp', 'answered'), requests('mcp', 'limited')]).toEqual([2, 1]);
    expect(told.get('licenses_tool_calls_total{tool="verify_license",outcome="found"}')).toBe(2);
  });

  test('how lookups shared requests to OpenSearch, and how long those took', async () => {
    const before = await series();
    const numbers = Array.from({ length: 20 }, (_, at) => `RN.${700_001 + at}`);
    await Promise.all(
      numbers.map((number) => service.rest.verify({ board: NURSING, license_number: number })),
    );
    const after = await series();
    const more = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(more('licenses_shared_request_size_sum{asks="ids"}')).toBe(20);
    const requests = more('licenses_shared_request_size_count{asks="ids"}');
    expect(requests).toBeLessThan(20);
    expect(more('licenses_opensearch_seconds_count{asks="ids",answered="yes"}')).toBe(requests);
  });

  test('the state of the data, of the limits and of the process', async () => {
    const told = await series();
    expect(told.get('licenses_publication_licenses')).toBeGreaterThan(0);
    expect(told.get('licenses_publication_age_days')).toEqual(expect.any(Number));
    expect(told.get('licenses_limits_shared')).toBe(1);
    expect(told.get('licenses_lookups_in_flight')).toBe(0);
    expect(told.get('process_resident_memory_bytes')).toBeGreaterThan(0);
  });

  test('nothing of a key, a name or a number', async () => {
    await service.rest.verify({ board: NURSING, last_name: 'Secretive' });
    const text = [...(await series()).keys()].join('\n');
    expect(text).not.toMatch(/secretive|700001|olv_|nursing/i);
    expect(text).not.toContain(service.rest.key.slice(-4));
  });
});

test('the metrics are on the admin port alone', async () => {
  expect((await service.rest.get('/metrics')).status).toBe(404);
});

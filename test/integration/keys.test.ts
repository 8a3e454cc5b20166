import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { apiKeyHash, createKey, KEY_CACHED_MS, newApiKey, revokeKey } from '../../src/access/api-keys.ts';
import { readConfig } from '../../src/config.ts';
import { numbersIn } from '../support/answers.ts';
import type { ApiAnswer } from '../support/api.ts';
import { GOOD_LOOKUP, requestWith } from '../support/keys.ts';
import { startProxy } from '../support/proxy.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const REFUSED = '{"detail":"Invalid or inactive API key"}';
const ENDPOINTS = [
  ['GET', '/api/v1/lookup/boards'],
  ['GET', '/api/v1/lookup/boards/Nursing%20Board/types'],
  ['POST', '/api/v1/lookup/verify'],
  ['POST', '/api/v1/lookup/cached'],
] as const;

let service: TestService;

beforeAll(async () => {
  // A twentieth of the limit, here 50,000, may be requests with a bad key.
  service = await startService();
});

function expectRefused(answer: ApiAnswer): void {
  expect([answer.status, answer.text]).toEqual([401, REFUSED]);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
}

describe('a request', () => {
  verifies(
    ['SERVICE-05', 'REST-01', 'KEYS-01', 'KEYS-03', 'ERRORS-03'],
    'without a key is refused on every path, valid or not',
    async () => {
      for (const [method, path] of ENDPOINTS) {
        expectRefused(await requestWith(service, method, path, {}));
        const { key } = service.rest;
        expect((await requestWith(service, method, path, { 'x-api-key': key })).status).toBe(200);
        for (const elsewhere of [{ authorization: `Bearer ${key}` }, { 'api-key': key }, { cookie: key }]) {
          expectRefused(await requestWith(service, method, path, elsewhere));
        }
        expectRefused(await requestWith(service, method, `${path}?x-api-key=${key}&api_key=${key}`, {}));
      }
      expectRefused(await requestWith(service, 'DELETE', '/api/v1/lookup/verify', {}));
      expectRefused(await requestWith(service, 'GET', '/api/v1/nothing', {}));
    },
  );

  verifies(
    ['KEYS-03', 'ERRORS-03', 'ERRORS-07'],
    'with a malformed key gets the same error as one with an unknown key',
    async () => {
      const { key } = service.rest;
      const swapped = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
      const bad = [
        ...['', ' ', 'x', 'olv_', 'olv_KEY', '*', '{}', 'null', 'undefined', key.slice(0, -1), `${key}x`],
        ...[
          swapped,
          key.toUpperCase(),
          key.slice(4),
          `xyz${key.slice(3)}`,
          `${key},${key}`,
          'a'.repeat(5000),
        ],
        ...[newApiKey('olv'), newApiKey('xyz'), apiKeyHash(key), `olv_${apiKeyHash(key)}`],
      ];
      for (const each of bad) {
        expectRefused(await requestWith(service, 'POST', '/api/v1/lookup/verify', { 'x-api-key': each }));
      }
    },
  );

  verifies(
    ['KEYS-03', 'KEYS-08'],
    'with a revoked key is refused on every path within 10 seconds, while the owner’s other key works',
    async () => {
      const { store, config } = service.environment;
      const given = { account: 'Twofold Staffing', verifiedBy: 'Ada Operator' };
      const [first, second] = [
        await createKey(store, config.API_KEY_PREFIX, given),
        await createKey(store, config.API_KEY_PREFIX, given),
      ];
      const tried = (method: string, path: string, { key }: { key: string }) =>
        requestWith(service, method, path, { 'x-api-key': key });
      const [[method, path]] = ENDPOINTS;
      expect((await tried(method, path, first)).status).toBe(200);
      await revokeKey(store, first.stored.id);
      // Within this time, a process may answer by what it has read before.
      expect(KEY_CACHED_MS).toBeLessThan(10_000);
      await sleep(KEY_CACHED_MS + 100);
      for (const [method, path] of ENDPOINTS) {
        expectRefused(await tried(method, path, first));
        expect((await tried(method, path, second)).status).toBe(200);
      }
    },
  );
});

test('a key in use keeps working while it is read again, even if its address is over the limit for bad keys', async () => {
  let isHeld = false;
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const proxy = await startProxy(readConfig().OPENSEARCH_URL, async (request) => {
    if (isHeld && /api-keys\/_doc\//.test(request.path)) {
      held.resolve();
      await released.promise;
    }
    return request.forward();
  });
  const settings = { OPENSEARCH_URL: proxy.url, REST_REQUESTS_PER_MINUTE: '200' };
  const limited = await startService({ settings });
  try {
    const bad = { 'x-api-key': newApiKey('olv') };
    const spent = () => limited.rest.request('GET', '/api/v1/lookup/boards', { headers: bad });
    expect((await limited.rest.verify(GOOD_LOOKUP)).status).toBe(200);
    while ((await spent()).status !== 429);
    await sleep(KEY_CACHED_MS + 100);
    isHeld = true;
    const first = limited.rest.verify(GOOD_LOOKUP);
    await held.promise;
    const second = limited.rest.verify(GOOD_LOOKUP);
    // What is sent after the second one is answered after it has been let in or refused.
    expect((await spent()).status).toBe(429);
    released.resolve();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  } finally {
    released.resolve();
    await limited.stop();
    await proxy.close();
  }
});

test('the log has no keys, no searched names and no data about holders', async () => {
  const { rest, environment, api } = service;
  const unknown = newApiKey('olv');
  await requestWith(service, 'POST', '/api/v1/lookup/verify', { 'x-api-key': unknown });
  await requestWith(service, 'GET', `/api/v1/lookup/boards?key=${unknown}`, { 'x-api-key': unknown });
  const search = { board: 'Nursing Board', last_name: 'De la Cruz', first_name: 'Mario' };
  expect(numbersIn(await rest.verify(search))).toEqual(['RN.700002']);
  await rest.verify({ ...search, search_type: 'business', business_name: 'Secretive Salon' });
  await rest.verify({ board: 'Bord of Secrets', last_name: 'Secretive' });
  await rest.verify({ board: 'Nursing Board', license_number: 'RN.5ecret' });
  await rest.request('POST', '/api/v1/lookup/verify', {
    headers: { 'content-type': 'application/json' },
    body: 'Secretive { "last_name": "Secretive" ',
  });
  const mcp = { host: `127.0.0.1:${environment.config.PORT}`, accept: 'application/json, text/event-stream' };
  for (const body of [
    'Secretive { "last_name": "Secretive" ',
    '{"jsonrpc":"2.0","id":1,"method":"Secretive","params":{"Secretive":"Secretive"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_licenses_by_name","arguments":{"last_name":"Secretive","board":7}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_licenses_by_name","arguments":{"last_name":"Secretive","board":"Nursing Board"}}}',
    '{"Secretive":"Secretive"}',
  ]) {
    const headers = { ...mcp, 'content-type': 'application/json', 'content-length': String(body.length) };
    await rawRequest({ port: environment.config.PORT, method: 'POST', path: '/mcp', headers, body });
  }

  await rest.request('GET', '/status', { headers: { 'x-request-id': 'last-of-the-log' } });
  await api.printed('last-of-the-log');
  // Timestamps may have any digits.
  const log = api.output().replaceAll(/"time":\d+/g, '');
  expect(log).toContain('"path":"/api/v1/lookup/verify"');
  expect(log).toContain('"path":"/mcp"');
  for (const secret of [rest.key, rest.key.slice(4, 20), unknown, unknown.slice(4, 20)]) {
    expect(log).not.toContain(secret);
  }
  expect(log).not.toMatch(/cruz|mario|secretive|bord of secrets|5ecret|700002/i);
});

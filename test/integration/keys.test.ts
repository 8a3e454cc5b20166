import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { licenses, startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { revokeKey } from '../../src/access/api-keys.ts';
import { KEY_BELIEVED_MS } from '../../src/access/key-check.ts';
import { apiKeyHash, isWellFormedKey, newApiKey } from '../../src/access/key-format.ts';
import { readConfig } from '../../src/config.ts';
import { todayInOhio } from '../../src/licenses/dates.ts';
import { numbersIn, recordIn } from '../support/answers.ts';
import { type ApiAnswer, apiClient } from '../support/api.ts';
import { openSearchProxy } from '../support/open-search-proxy.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const REFUSED = '{"detail":"Invalid or inactive API key"}';
const GOOD = { board: 'Nursing Board', license_number: 'RN.700001' };
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
afterAll(() => service.stop());

/** A request with only these headers. */
function asked(method: string, path: string, headers: Record<string, string>): Promise<ApiAnswer> {
  const body = method === 'POST' ? JSON.stringify(GOOD) : '';
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
  const length = { 'content-length': String(body.length) };
  const { PORT: port } = service.environment.config;
  return rawRequest({ port, method, path, headers: { ...headers, ...type, ...length }, body });
}

function expectRefused(answer: ApiAnswer): void {
  expect([answer.status, answer.text]).toEqual([401, REFUSED]);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
}

describe('a request', () => {
  verifies(
    ['SPEC-1-05', 'SPEC-4-01', 'SPEC-5-01', 'SPEC-5-03', 'SPEC-7-03'],
    'without a key is refused on every path, valid or not',
    async () => {
      for (const [method, path] of ENDPOINTS) {
        expectRefused(await asked(method, path, {}));
        const { key } = service.rest;
        expect((await asked(method, path, { 'x-api-key': key })).status).toBe(200);
        for (const elsewhere of [{ authorization: `Bearer ${key}` }, { 'api-key': key }, { cookie: key }]) {
          expectRefused(await asked(method, path, elsewhere));
        }
        expectRefused(await asked(method, `${path}?x-api-key=${key}&api_key=${key}`, {}));
      }
      expectRefused(await asked('DELETE', '/api/v1/lookup/verify', {}));
      expectRefused(await asked('GET', '/api/v1/nothing', {}));
    },
  );

  verifies(
    ['SPEC-5-03', 'SPEC-7-03', 'DESIGN-ERRORS-01'],
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
        expectRefused(await asked('POST', '/api/v1/lookup/verify', { 'x-api-key': each }));
      }
    },
  );

  verifies(
    'SPEC-5-03',
    'with a revoked key is refused on every path, while the owner’s other key works',
    async () => {
      const first = await issued('Twofold Staffing');
      const second = await issued('Twofold Staffing');
      await revokeKey(service.environment.store, first.id);
      for (const [method, path] of ENDPOINTS) {
        expectRefused(await asked(method, path, { 'x-api-key': first.key }));
        expect((await asked(method, path, { 'x-api-key': second.key })).status).toBe(200);
      }
    },
  );

  verifies(
    'DESIGN-KEYS-03',
    'with a revoked key is refused within 10 seconds, even if it worked just before',
    async () => {
      const { key, id } = await issued('Shortlived Inc');
      const tried = () => asked('GET', '/api/v1/lookup/boards', { 'x-api-key': key });
      expect((await tried()).status).toBe(200);
      await revokeKey(service.environment.store, id);
      const deadline = Date.now() + 10_000;
      let answer = await tried();
      while (answer.status === 200 && Date.now() < deadline) {
        await sleep(200);
        answer = await tried();
      }
      expectRefused(answer);
    },
  );

  test('with a new key succeeds immediately', async () => {
    const { environment } = service;
    const newcomer = await apiClient(environment);
    expect(recordIn(await newcomer.verify(GOOD)).license_number).toBe('RN.700001');
  });
});

const VERIFIED = ['--verified-by', 'Ada Operator'];

const issuedKey = z.object({
  id: z.string(),
  key: z.string(),
  account: z.string(),
  contact: z.string().nullable(),
  verified_by: z.string(),
});

/** A key issued by the operator's command. */
async function issued(account: string, ...options: string[]) {
  const { code, stdout } = await licenses(
    service.environment.variables,
    ...['keys', 'create', account, '--verified-by', 'Ada Operator', '--json', ...options],
  );
  expect(code).toBe(0);
  return issuedKey.parse(JSON.parse(stdout));
}

test('a key in use keeps working while it is read again, even if its address is over the limit for bad keys', async () => {
  let isHeld = false;
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const proxy = await openSearchProxy(readConfig().OPENSEARCH_URL, async (request) => {
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
    expect((await limited.rest.verify(GOOD)).status).toBe(200);
    while ((await spent()).status !== 429);
    await sleep(KEY_BELIEVED_MS + 100);
    isHeld = true;
    const first = limited.rest.verify(GOOD);
    await held.promise;
    const second = limited.rest.verify(GOOD);
    // Long enough for the second to be refused, and less than the time limit for reading a key.
    await sleep(300);
    released.resolve();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  } finally {
    released.resolve();
    await limited.stop();
    await proxy.close();
  }
});

describe('a key', () => {
  verifies(
    ['SPEC-5-02', 'DESIGN-KEYS-01'],
    'starts with the prefix and belongs to an account that a named person verified',
    async () => {
      const { key, account, verified_by } = await issued('Acme Staffing LLC');
      expect(key).toMatch(/^olv_[0-9A-Za-z]{49}$/);
      expect(isWellFormedKey('olv', key)).toBe(true);
      expect([account, verified_by]).toEqual(['Acme Staffing LLC', 'Ada Operator']);
      expect((await asked('GET', '/api/v1/lookup/boards', { 'x-api-key': key })).status).toBe(200);
    },
  );

  test('belongs to an account with a contact; account names ignore case', async () => {
    const first = await issued('Contacted  Care Inc', '--contact', 'grace@care.example');
    const second = await issued(' contacted care inc', '--verified-by', 'Somebody Else');
    expect(second.id).not.toBe(first.id);
    const expected = {
      account: 'Contacted Care Inc',
      contact: 'grace@care.example',
      verified_by: 'Ada Operator',
    };
    for (const { key: _, ...each } of [first, second]) expect(each).toMatchObject(expected);
    const moved = await issued('Contacted Care Inc', '--contact', 'alan@care.example');
    expect(moved).toMatchObject({ ...expected, contact: 'alan@care.example' });
  });

  test.each([
    ['without a name', ['', ...VERIFIED], 'The name of the account must have 1 to 200 characters.'],
    [
      'with a long name',
      ['x'.repeat(201), ...VERIFIED],
      'The name of the account must have 1 to 200 characters.',
    ],
    [
      'with a blank contact',
      ['Blank Inc', '--contact', ' ', ...VERIFIED],
      'The contact must have 1 to 200 characters.',
    ],
    [
      'with a blank verifier',
      ['Blank Inc', '--verified-by', ' '],
      'Who verified the account must have 1 to 200 characters.',
    ],
  ])('is not issued %s', async (_what, options, message) => {
    const { code, stderr } = await licenses(service.environment.variables, 'keys', 'create', ...options);
    expect([code, stderr]).toEqual([1, `${message}\n`]);
  });

  test('is not issued without the name of who verified the business', async () => {
    const { code, stdout, stderr } = await licenses(
      service.environment.variables,
      ...['keys', 'create', 'Unverified Inc', '--json'],
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain("required option '--verified-by <name>' not specified");
  });

  test('keeps working after rotation, next to the new key, until it is revoked', async () => {
    const first = await issued('Rotating Inc');
    const rotated = await licenses(service.environment.variables, 'keys', 'rotate', first.id, '--json');
    const second = issuedKey.parse(JSON.parse(rotated.stdout));
    expect([second.account, second.verified_by]).toEqual([first.account, first.verified_by]);
    const tried = (key: string) => asked('GET', '/api/v1/lookup/boards', { 'x-api-key': key });
    for (const { key } of [first, second]) expect((await tried(key)).status).toBe(200);
    const { code } = await licenses(service.environment.variables, 'keys', 'revoke', first.id);
    expect(code).toBe(0);
    expect((await tried(second.key)).status).toBe(200);
  });

  test('has its usage counted by day and outcome, and the time of its last use', async () => {
    const { variables } = service.environment;
    const [port = 0, adminPort = 0] = await freePorts(2);
    const own = { ...variables, PORT: String(port), ADMIN_PORT: String(adminPort) };
    const used = await issued('Counted Inc');
    const unused = await issued('Idle Inc');
    const api = await startApi(own);
    const lookUp = (content: object) => {
      const body = JSON.stringify(content);
      return rawRequest({
        ...{ port, method: 'POST', path: '/api/v1/lookup/verify', body },
        headers: {
          'x-api-key': used.key,
          'content-type': 'application/json',
          'content-length': String(body.length),
        },
      });
    };
    for (const content of [GOOD, GOOD, { ...GOOD, license_number: 'RN.0700001' }, { board: 'x' }]) {
      await lookUp(content);
    }
    await api.stop();
    const again = await startApi(own);
    await lookUp(GOOD);
    await again.stop();

    const usage = await licenses(variables, 'keys', 'usage', used.id, '--days', '2', '--json');
    const today = todayInOhio();
    expect(JSON.parse(usage.stdout)).toEqual([
      { key: used.id, day: today, counts: { found: 3, none: 1, refused: 1 } },
    ]);
    const shown = await licenses(variables, 'keys', 'usage', used.id);
    expect(shown.stdout).toMatch(new RegExp(`${today} +${used.id} +5 +found 3, none 1, refused 1\\n`));

    const listed = z
      .array(z.object({ id: z.string(), last_used: z.string().nullable() }))
      .parse(JSON.parse((await licenses(variables, 'keys', 'list', '--json')).stdout));
    const lastUsed = (id: string) => listed.find((key) => key.id === id)?.last_used;
    expect([lastUsed(used.id), lastUsed(unused.id)]).toEqual([today, null]);
  });

  verifies('DESIGN-KEYS-02', 'is stored only as its SHA-256', async () => {
    const { store, client } = service.environment;
    const { key, id } = await issued('Hashed Inc');
    const found = await client.search({
      index: store.names.apiKeys,
      body: { size: 100, query: { match_all: {} } },
    });
    const stored = JSON.stringify(found.body);
    expect(stored).toContain(apiKeyHash(key));
    expect(apiKeyHash(key).startsWith(id)).toBe(true);
    for (const secret of [key, key.slice(4), key.slice(4, 30), service.rest.key]) {
      expect(stored).not.toContain(secret);
    }
  });
});

test('the log has no keys, no searched names and no data about holders', async () => {
  const { rest, environment, api } = service;
  const unknown = newApiKey('olv');
  await asked('POST', '/api/v1/lookup/verify', { 'x-api-key': unknown });
  await asked('GET', `/api/v1/lookup/boards?key=${unknown}`, { 'x-api-key': unknown });
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

describe('an account', () => {
  const account = z.object({
    account: z.string(),
    contact: z.string().nullable(),
    verified_by: z.string(),
    keys: z.int(),
    deactivated_at: z.iso.datetime().nullable(),
  });

  function accounts(...parameters: string[]) {
    return licenses(service.environment.variables, 'accounts', ...parameters);
  }

  async function listed(name: string) {
    const { stdout } = await accounts('list', '--json');
    return z
      .array(account)
      .parse(JSON.parse(stdout))
      .find((each) => each.account === name);
  }

  async function statusAfterAtMost(seconds: number, key: string, expected: number): Promise<number> {
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const { status } = await asked('GET', '/api/v1/lookup/boards', { 'x-api-key': key });
      if (status === expected || Date.now() > deadline) return status;
      await sleep(200);
    }
  }

  verifies(
    'DESIGN-KEYS-04',
    'has no working key 10 seconds after it is deactivated, and all of them again when it is activated',
    async () => {
      const first = await issued('Leaving Inc', '--contact', 'lee@leaving.example');
      const second = await issued('Leaving Inc');
      const other = await issued('Staying Inc');
      for (const { key } of [first, second, other]) expect(await statusAfterAtMost(0, key, 200)).toBe(200);

      const ended = await accounts('deactivate', ' leaving  INC ');
      expect(ended).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Account Leaving Inc is deactivated since /),
      });
      for (const { key } of [first, second]) expect(await statusAfterAtMost(10, key, 401)).toBe(401);
      expect(await statusAfterAtMost(0, other.key, 200)).toBe(200);
      expect(await listed('Leaving Inc')).toEqual({
        account: 'Leaving Inc',
        contact: 'lee@leaving.example',
        verified_by: 'Ada Operator',
        keys: 2,
        deactivated_at: expect.any(String),
      });
      expect((await listed('Staying Inc'))?.deactivated_at).toBeNull();
      for (const again of [
        ['create', 'Leaving Inc', ...VERIFIED],
        ['rotate', first.id],
      ]) {
        const { code, stderr } = await licenses(service.environment.variables, 'keys', ...again);
        expect([code, stderr]).toEqual([
          1,
          expect.stringMatching(/^The account "Leaving Inc" is deactivated;/),
        ]);
      }

      expect((await accounts('activate', 'Leaving Inc')).stdout).toBe('Account Leaving Inc is active.\n');
      for (const { key } of [first, second]) expect(await statusAfterAtMost(10, key, 200)).toBe(200);
      const table = await accounts('list');
      expect(table.stdout).toMatch(/^ACCOUNT +CONTACT +VERIFIED BY +VERIFIED +KEYS +DEACTIVATED\n/);
      expect(table.stdout).toMatch(/Leaving Inc +lee@leaving\.example +Ada Operator +\S+ +2\n/);
    },
  );

  test('that does not exist cannot be deactivated', async () => {
    expect(await accounts('deactivate', 'Nobody Inc')).toMatchObject({
      code: 1,
      stderr: 'There is no account "Nobody Inc".\n',
    });
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { accountId } from '../../src/access/accounts.ts';
import { apiKeyHash, isWellFormedKey, KEY_CACHED_MS, newApiKey } from '../../src/access/api-keys.ts';
import { deleteOldUsage, KEY_USAGE, keyUsage, readKeyUsage } from '../../src/access/usage.ts';
import { daysBefore, todayInOhio } from '../../src/licenses/dates.ts';
import { numbersIn } from '../support/answers.ts';
import type { ApiAnswer } from '../support/api.ts';
import { documentsIn } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { command } from '../support/in-process.ts';
import { cut, type ProxyStep, throughProxy } from '../support/proxy.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const ANY_TIME = expect.stringMatching(/^\d{4}-.*Z$/);
const VERIFIED = ['--verified-by', 'Ada Operator'];
/** A run of this many characters of a key does not occur elsewhere by chance. */
const PART_LENGTH = 8;

const { api, environment, rest } = await startService({ settings: { LOG_LEVEL: 'trace' } });
const { config, store } = environment;

const licenses = (...parameters: readonly string[]) => command(environment.variables, ...parameters);

/** A lookup that finds one license of the fixtures. */
const GOOD_LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };

/** Sends a request with only these headers. A POST has the body of a lookup that finds a license. */
function requestWith(method: string, path: string, headers: Record<string, string>): Promise<ApiAnswer> {
  const body = method === 'POST' ? JSON.stringify(GOOD_LOOKUP) : '';
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
  const { PORT } = config;
  return rawRequest(PORT, path, { method, headers: { ...headers, ...type }, body });
}

/** What `licenses keys create --json` prints. */
const issuedKey = z.object({
  ...{ id: z.string(), key: z.string(), account: z.string(), contact: z.string().nullable() },
  verified_by: z.string(),
});

/** Issues a key with `licenses keys create`. */
async function issueKey(account: string, ...options: string[]) {
  const { code, stdout } = await licenses('keys', 'create', account, ...VERIFIED, '--json', ...options);
  expect(code).toBe(0);
  return issuedKey.parse(JSON.parse(stdout));
}

/** Until no process answers any more by what it has read of a key before. */
async function untilReadAgain(): Promise<void> {
  expect(KEY_CACHED_MS).toBeLessThan(10_000);
  await sleep(KEY_CACHED_MS + 100);
}

const statusFor = (key: string) =>
  requestWith('GET', '/api/v1/lookup/boards', { 'x-api-key': key }).then(({ status }) => status);

describe('a key', () => {
  verifies(['KEYS-02', 'KEYS-06'], 'belongs to an account that a named person verified', async () => {
    const first = await issueKey('Contacted  Care Inc', '--contact', 'grace@care.example');
    expect(first.key).toMatch(/^olv_[0-9A-Za-z]{49}$/);
    expect([isWellFormedKey('olv', first.key), await statusFor(first.key)]).toEqual([true, 200]);
    const second = await issueKey(' contacted care inc', '--verified-by', 'Somebody Else');
    expect(second.id).not.toBe(first.id);
    const expected = { account: 'Contacted Care Inc', verified_by: 'Ada Operator' };
    for (const each of [first, second])
      expect(each).toMatchObject({ ...expected, contact: 'grace@care.example' });
    const moved = await issueKey('Contacted Care Inc', '--contact', 'alan@care.example');
    expect(moved).toMatchObject({ ...expected, contact: 'alan@care.example' });
  });

  const [NAME, CONTACT, VERIFIER] = ['The name of the account', 'The contact', 'Who verified the account'];

  test.each([
    [['keys', 'create', '', ...VERIFIED], `${NAME} must have 1 to 200 characters.`],
    [['keys', 'create', 'x'.repeat(201), ...VERIFIED], `${NAME} must have 1 to 200 characters.`],
    [['keys', 'create', 'A', '--contact', ' ', ...VERIFIED], `${CONTACT} must have 1 to 200 characters.`],
    [['keys', 'create', 'A', '--verified-by', ' '], `${VERIFIER} must have 1 to 200 characters.`],
    [['keys', 'create', 'A'], "error: required option '--verified-by <name>' not specified"],
    [['keys', 'revoke', 'nobody'], 'No key has the id "nobody".'],
    [['accounts', 'deactivate', 'Nobody Inc'], 'There is no account "Nobody Inc".'],
  ])('is not issued or revoked with %j', async (parameters, message) => {
    expect(await licenses(...parameters)).toMatchObject({ code: 1, stderr: `${message}\n` });
  });

  test('gives no access where its document, or that of its account, is not valid or missing', async () => {
    const { client, names } = store;
    const [broken, ofBroken] = [await issueKey('Broken Key Inc'), await issueKey('Broken Inc')];
    // As after the index of accounts was deleted, and created again.
    const ofMissing = await issueKey('Missing Inc');
    await client.delete({ index: names.accounts, id: accountId('Missing Inc'), refresh: true });
    const documents = [
      { index: names.apiKeys, id: apiKeyHash(broken.key), body: { sha256: 'x' } },
      { index: names.accounts, id: accountId('Broken Inc'), body: { deactivated_at: null } },
    ];
    for (const document of documents) await client.index(document);
    for (const { key } of [broken, ofBroken, ofMissing]) expect(await statusFor(key)).toBe(401);
    const { stdout } = await licenses('keys', 'list');
    expect(stdout).toMatch(new RegExp(`^${ofMissing.id} .* account missing\\s*$`, 'm'));
    for (const { index, id } of documents) await client.delete({ index, id, refresh: true });
  });

  verifies(['KEYS-03', 'KEYS-08'], 'works after rotation; revoked, nowhere after 10 seconds', async () => {
    const first = await issueKey('Rotating Inc');
    const rotated = await licenses('keys', 'rotate', first.id, '--json');
    const second = issuedKey.parse(JSON.parse(rotated.stdout));
    expect([second.account, second.verified_by]).toEqual([first.account, first.verified_by]);
    for (const { key } of [first, second]) expect(await statusFor(key)).toBe(200);
    expect(await licenses('keys', 'revoke', first.id)).toMatchObject({
      ...{ code: 0, stdout: expect.stringMatching(/^revoked at +\d/m) },
    });
    await untilReadAgain();
    for (const [method, path] of ENDPOINTS) {
      expectRefused(await requestWith(method, path, { 'x-api-key': first.key }));
      expect((await requestWith(method, path, { 'x-api-key': second.key })).status).toBe(200);
    }
    const { stdout } = await licenses('keys', 'list');
    expect(stdout).toMatch(/^ID +KEY +ACCOUNT +CREATED AT +LAST USED +STATE$/m);
    expect(stdout).toMatch(new RegExp(`^${first.id} +olv_…${first.key.slice(-4)} .* revoked `, 'm'));
    const active = `^${second.id} +olv_…${second.key.slice(-4)} +Rotating Inc .* active\\s*$`;
    expect(stdout).toMatch(new RegExp(active, 'm'));
  });
});

describe('an account', () => {
  const accounts = (...parameters: string[]) => licenses('accounts', ...parameters);
  const statusesFor = (...keys: { key: string }[]) => Promise.all(keys.map(({ key }) => statusFor(key)));

  verifies('KEYS-09', 'has no working key 10 seconds after it is deactivated, and all later', async () => {
    const first = await issueKey('Leaving Inc', '--contact', 'lee@leaving.example');
    const second = await issueKey('Leaving Inc');
    const other = await issueKey('Staying Inc');
    expect(await statusesFor(first, second, other)).toEqual([200, 200, 200]);

    const ended = await accounts('deactivate', ' leaving  INC ');
    expect(ended.stdout).toMatch(/^account +Leaving Inc\n(.*\n)*deactivated at +\d/);
    await untilReadAgain();
    expect(await statusesFor(first, second, other)).toEqual([401, 401, 200]);
    const contact = { contact: 'lee@leaving.example', verified_by: 'Ada Operator' };
    expect(JSON.parse((await accounts('list', '--json')).stdout)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ account: 'Leaving Inc', ...contact, keys: 2, deactivated_at: ANY_TIME }),
        expect.objectContaining({ account: 'Staying Inc', deactivated_at: null }),
      ]),
    );
    const { stdout } = await licenses('keys', 'list');
    expect(stdout).toMatch(new RegExp(`^${first.id} .* account deactivated\\s*$`, 'm'));
    for (const again of [
      ['create', 'Leaving Inc', ...VERIFIED],
      ['rotate', first.id],
    ]) {
      const { code, stderr } = await licenses('keys', ...again);
      expect([code, stderr.split(';')[0]]).toEqual([1, 'The account "Leaving Inc" is deactivated']);
    }

    expect((await accounts('activate', 'Leaving Inc')).stdout).not.toContain('deactivated');
    await untilReadAgain();
    expect(await statusesFor(first, second)).toEqual([200, 200]);
    const table = await accounts('list');
    expect(table.stdout).toMatch(/^ACCOUNT +CONTACT +VERIFIED BY +VERIFIED AT +KEYS +STATE\n/);
    expect(table.stdout).toMatch(/Leaving Inc +lee@leaving\.example +Ada Operator +\S+ \S+ \S+ +2 +active\n/);
  });
});

/** Every document in OpenSearch. */
const everythingStored = async () => JSON.stringify(await documentsIn(store, `${config.INDEX_PREFIX}*`));

/** What `licenses` printed. */
async function printed(...parameters: string[]): Promise<string> {
  const { code, output } = await licenses(...parameters);
  expect([parameters, code]).toEqual([parameters, 0]);
  return output;
}

verifies(['KEYS-04', 'KEYS-07'], 'a key is printed once, and no part of it is kept or logged', async () => {
  const keyIn = (text: string) => /olv_[0-9A-Za-z]{49}/.exec(text)?.[0] ?? '';
  const idOf = (key: string) => apiKeyHash(key).slice(0, 12);
  const issue = ['keys', 'create', 'Secretive Inc', ...VERIFIED];
  const first = keyIn(await printed(...issue));
  const second = keyIn(await printed(...issue, '--json'));
  const keys = [
    ...[first, second],
    keyIn(await printed('keys', 'rotate', idOf(first))),
    keyIn(await printed('keys', 'rotate', idOf(second), '--json')),
  ];
  expect(new Set(keys).size).toBe(4);
  for (const key of keys) expect(await statusFor(key)).toBe(200);
  const unused = await issueKey('Idle Inc');
  // The website answers that there is nothing.
  await requestWith('GET', '/api/v1/nothing', { 'x-api-key': first });
  let used = '';
  await eventually('the counts are written', async () => {
    used = await printed('keys', 'usage', idOf(first), '--days', '2', '--json');
    return used.includes('refused');
  });

  const backup = join(environment.folder, 'licenses.backup');
  const listed = await printed('keys', 'list', '--json');
  const shown = [
    ...[listed, used, await printed('keys', 'list'), await printed('keys', 'usage')],
    await printed('keys', 'revoke', idOf(first)),
    await printed('keys', 'revoke', idOf(second), '--json'),
    await printed('publications', '--json'),
    await printed('backup', backup),
    await readFile(backup, 'utf8'),
  ];
  const stored = await everythingStored();
  for (const key of keys) {
    expect(stored).toContain(`"sha256":"${apiKeyHash(key)}"`);
    const secret = key.slice('olv_'.length);
    const parts = Array.from(secret, (_, at) => secret.slice(at, at + PART_LENGTH));
    for (const text of [...shown, stored, api.output()])
      expect(parts.filter((part) => part.length === PART_LENGTH && text.includes(part))).toEqual([]);
  }

  // How often each was used, by day and outcome, and when last.
  const today = todayInOhio();
  expect(JSON.parse(used)).toEqual([{ key: idOf(first), day: today, counts: { answered: 1, refused: 1 } }]);
  expect(shown[3]).toMatch(new RegExp(`${today} +${idOf(first)} +2 +answered 1; refused 1\\n`));
  const keysListed = z
    .array(z.object({ id: z.string(), last_used: z.string().nullable() }))
    .parse(JSON.parse(listed));
  const lastUsed = (id: string) => keysListed.find((key) => key.id === id)?.last_used;
  expect([lastUsed(idOf(first)), lastUsed(unused.id)]).toEqual([today, null]);
});

test('counts of keys that could not be written are written the next time; those of 401 days ago are deleted', async () => {
  const today = todayInOhio();
  const errors: unknown[] = [];
  let isAway = true;
  const step: ProxyStep = (request) => (isAway ? cut(request) : request.forward());
  await throughProxy(environment, step, async (through) => {
    const usage = keyUsage(through.store, (error) => errors.push(error));
    usage.count('counted', 'found');
    await usage.stop();
    await usage.stop();
    expect(errors).toHaveLength(1);
    isAway = false;
    await usage.stop();
  });
  expect(await readKeyUsage(store, today, 'counted')).toEqual([
    { key: 'counted', day: today, counts: { found: 1 } },
  ]);
  const [kept, tooOld] = [daysBefore(today, 400), daysBefore(today, 401)];
  for (const day of [kept, tooOld])
    await KEY_USAGE.put(store, day, { key: 'old', day, counts: { found: 1 } });
  expect((await readKeyUsage(store, tooOld, 'old')).map(({ day }) => day)).toEqual([kept, tooOld]);
  await deleteOldUsage(store);
  expect((await readKeyUsage(store, tooOld, 'old')).map(({ day }) => day)).toEqual([kept]);
});

const REFUSED = '{"detail":"Invalid or inactive API key"}';
const ENDPOINTS = [
  ['GET', '/api/v1/lookup/boards'],
  ['GET', '/api/v1/lookup/boards/Nursing%20Board/types'],
  ['POST', '/api/v1/lookup/verify'],
  ['POST', '/api/v1/lookup/cached'],
] as const;

function expectRefused(answer: ApiAnswer): void {
  expect([answer.status, answer.text]).toEqual([401, REFUSED]);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
}

describe('a request', () => {
  verifies(
    ['SERVICE-05', 'REST-01', 'KEYS-01', 'KEYS-03', 'ERRORS-03'],
    'needs a key everywhere',
    async () => {
      for (const [method, path] of ENDPOINTS) {
        expectRefused(await requestWith(method, path, {}));
        const { key } = rest;
        expect((await requestWith(method, path, { 'x-api-key': key })).status).toBe(200);
        for (const elsewhere of [{ authorization: `Bearer ${key}` }, { 'api-key': key }, { cookie: key }])
          expectRefused(await requestWith(method, path, elsewhere));
        expectRefused(await requestWith(method, `${path}?x-api-key=${key}&api_key=${key}`, {}));
      }
      expectRefused(await requestWith('DELETE', '/api/v1/lookup/verify', {}));
      expectRefused(await requestWith('GET', '/api/v1/nothing', {}));
    },
  );

  verifies(['KEYS-03', 'ERRORS-03', 'ERRORS-07'], 'gets the same error for every bad key', async () => {
    const { key } = rest;
    const swapped = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
    const bad = [
      ...'| |x|"|\u00f1|olv_|olv_KEY|*|{}|null|undefined'.split('|'),
      ...[key.slice(0, -1), `${key}x`, swapped, key.toUpperCase(), key.slice(4), `xyz${key.slice(3)}`],
      ...[`${key},${key}`, 'a'.repeat(5000), newApiKey('olv'), newApiKey('xyz')],
      ...[apiKeyHash(key), `olv_${apiKeyHash(key)}`],
    ];
    for (const each of bad)
      expectRefused(await requestWith('POST', '/api/v1/lookup/verify', { 'x-api-key': each }));
  });
});

test('a key in use keeps working while it is read again, and after that has failed, even if its address is over the limit for bad keys', async () => {
  let isHeld = false;
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const proxied: ProxyStep = async (request) => {
    if (isHeld && /api-keys\/_doc\//.test(request.path)) {
      held.resolve();
      await released.promise;
      isHeld = false;
      return cut(request);
    }
    return request.forward();
  };
  const limited = await startService({ settings: { REST_REQUESTS_PER_MINUTE: '200' }, proxied });
  const bad = { 'x-api-key': newApiKey('olv') };
  const spent = () => limited.rest.request('GET', '/api/v1/lookup/boards', { headers: bad });
  expect((await limited.rest.verify(GOOD_LOOKUP)).status).toBe(200);
  while ((await spent()).status !== 429);
  await untilReadAgain();
  isHeld = true;
  const first = limited.rest.verify(GOOD_LOOKUP);
  await held.promise;
  const second = limited.rest.verify(GOOD_LOOKUP);
  // What is sent after the second one is answered after it has been let in or refused.
  expect((await spent()).status).toBe(429);
  released.resolve();
  // Both were let in.
  expect([(await first).status, (await second).status]).toEqual([503, 503]);
  expect((await limited.rest.verify(GOOD_LOOKUP)).status).toBe(200);
  await limited.stop();
});

test('the log has no keys, no searched names and no data about holders', async () => {
  const unknown = newApiKey('olv');
  await requestWith('POST', '/api/v1/lookup/verify', { 'x-api-key': unknown });
  await requestWith('GET', `/api/v1/lookup/boards?key=${unknown}`, { 'x-api-key': unknown });
  const search = { board: 'Nursing Board', last_name: 'De la Cruz', first_name: 'Mario' };
  expect(numbersIn(await rest.verify(search))).toEqual(['RN.700002']);
  await rest.verify({ ...search, search_type: 'business', business_name: 'Secretive Salon' });
  await rest.verify({ board: 'Bord of Secrets', last_name: 'Secretive' });
  await rest.verify({ board: 'Nursing Board', license_number: 'RN.5ecret' });
  const unreadable = 'Secretive { "last_name": "Secretive" ';
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  for (const [path, body] of [
    ['/api/v1/lookup/verify', unreadable],
    ['/mcp', unreadable],
    ['/mcp', '{"jsonrpc":"2.0","id":1,"method":"Secretive","params":{"Secretive":"Secretive"}}'],
    ['/mcp', '{"Secretive":"Secretive"}'],
  ] as const)
    await rest.request('POST', path, { headers, body });
  for (const board of [7, 'Nursing Board'])
    await rest.callTool('search_licenses_by_name', { last_name: 'Secretive', board });

  await rest.request('GET', '/status', { headers: { 'x-request-id': 'last-of-the-log' } });
  await api.printed('last-of-the-log');
  // Timestamps may have any digits.
  const log = api.output().replaceAll(/"time":\d+/g, '');
  expect(log).toContain('"path":"/api/v1/lookup/verify"');
  expect(log).toContain('"path":"/mcp"');
  for (const secret of [rest.key, rest.key.slice(4, 20), unknown, unknown.slice(4, 20)])
    expect(log).not.toContain(secret);
  expect(log).not.toMatch(/cruz|mario|secretive|bord of secrets|5ecret|700002/i);
});

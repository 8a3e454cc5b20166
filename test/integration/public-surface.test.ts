import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { appendEvent } from '../../src/publications/ledger.ts';
import { SAVED_RECORD_DAYS } from '../../src/records/saved-records.ts';
import { eventually } from '../support/eventually.ts';
import { times } from '../support/fixtures.ts';
import { ownRedis } from '../support/own-servers.ts';
import { rawRequest } from '../support/raw-http.ts';
import { addRecords, deleteRecords, recordForm } from '../support/saved-records.ts';
import { seriesAt } from '../support/series.ts';
import { startService } from '../support/service.ts';

const WEB_LIMIT = 6;
const SAVES = 20;
const NURSE = { board: 'Nursing Board', license_number: 'RN.700001' };

let lastAddress = 0;

const redis = await ownRedis();
const ofWeb = { WEB_REQUESTS_PER_MINUTE: String(WEB_LIMIT), SAVED_RECORDS_PER_DAY: String(SAVES) };
const settings = { REDIS_URL: redis.url, TRUSTED_PROXIES: '1', ...ofWeb };
const { environment, api, rest } = await startService({ settings });
const { store } = environment;
const ended = { at: '2026-11-21T09:00:00.000Z' };
const failed = ["ENOENT: no such file, open '/srv/data/individual.csv'"];
const noRows = 'no_rows: The file https://data.example/a/b.csv?sig=topsecret has no rows.';
const refused = [noRows, 'older: see /srv/data/x.csv'];
await appendEvent(store, { ...ended, publication: 'one', event: 'failed', reasons: failed });
await appendEvent(store, { ...ended, publication: 'two', event: 'refused', reasons: refused });
// The first request loads code, so its count in Redis may come too late: then this process counts it alone.
await get('/nothing');

function newAddress(): string {
  lastAddress += 1;
  return `198.51.100.${lastAddress}`;
}

function get(path: string, headers: Record<string, string> = {}, port = environment.config.PORT) {
  const all = { host: 'localhost', 'x-forwarded-for': newAddress(), ...headers };
  return rawRequest(port, path, { headers: all });
}

const series = () => seriesAt(environment.config.ADMIN_PORT);

test.each([
  ...['/', '/data', '/status', '/openapi.json', '/docs/swagger-ui-bundle.js', '/favicon.svg', '/nothing'],
  ...['/mcp/x', '//x'],
])('%s counts against the limit of the website before it is answered', async (path) => {
  const from = { 'x-forwarded-for': newAddress() };
  for (const left of times(WEB_LIMIT, (number) => WEB_LIMIT - number)) {
    const answer = await get(path, from);
    expect([answer.status < 429, answer.headers.get('x-ratelimit-remaining')]).toEqual([true, String(left)]);
  }
  expect((await get(path, from)).status).toBe(429);
  expect((await get('/nothing', { ...from, accept: `a;b="${',""'.repeat(5000)}` })).status).toBe(429);
});

test('a search that comes too soon is a page with what was typed', async () => {
  const from = { 'x-forwarded-for': newAddress(), accept: 'text/html' };
  for (const _ of times(WEB_LIMIT, Number)) await get('/data', from);
  const { status, text, headers } = await get('/?q=Maria+Garcia&board=NUR', from);
  expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
  for (const part of ['Too many requests', 'name="q" value="Maria Garcia"', '<option value="NUR" selected>'])
    expect(text).toContain(part);
  // REST has a limit of its own.
  expect((await rest.get('/api/v1/lookup/boards')).status).toBe(200);
});

test('files of the documentation are sent compressed', async () => {
  const plain = await get('/docs/swagger-ui-bundle.js');
  const response = await fetch(`http://127.0.0.1:${environment.config.PORT}/docs/swagger-ui-bundle.js`, {
    headers: { 'accept-encoding': 'br, gzip', 'x-forwarded-for': newAddress() },
  });
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(response.headers.get('vary')).toBe('Accept-Encoding');
  expect(response.headers.get('cache-control')).toBe('public, max-age=86400');
  expect(Number(response.headers.get('content-length'))).toBeLessThan(plain.text.length / 3);
  expect(await response.text()).toBe(plain.text);
});

test('/data and /status say nothing of addresses and failures', async () => {
  for (const page of ['/data', '/status'])
    expect((await get(page)).text).not.toMatch(/ENOENT|srv\/data|topsecret|data\.example/);
  expect((await get('/data')).text).toContain('6 rows and endorsements in the State’s files');
});

test.each([
  ['rest', 'none', '/api/v1/history?board=Nursing+Board&license_number=RN.999999'],
  ['rest', 'found', '/api/v1/history?board=Nursing+Board&license_number=RN.700001'],
  ['rest', 'refused', '/api/v1/history?board=x'],
  ['web', 'none', '/licenses/NUR/RN.999999'],
  ['web', 'none', '/records/0000-0000-0000-0000'],
  ['web', 'found', '/licenses/NUR/RN.700001'],
])('what was asked for and is not there is counted as none by %s as %s: %s', async (name, outcome, path) => {
  const key = `licenses_request_seconds_count{interface="${name}",outcome="${outcome}"}`;
  const before = (await series()).get(key) ?? 0;
  await get(path, { 'x-api-key': rest.key });
  expect((await series()).get(key)).toBe(before + 1);
});

test('what was asked for and is not there is counted as none license_history of a number that was never seen', async () => {
  const key = 'licenses_tool_calls_total{tool="license_history",outcome="none"}';
  const answer = await rest.callTool('license_history', { ...NURSE, license_number: 'RN.999999' });
  expect([answer.status, (await series()).get(key)]).toEqual([200, 1]);
});

async function save(address: string) {
  const from = { 'x-forwarded-for': address };
  const page = await get('/licenses/NUR/RN.700001', from);
  return rawRequest(environment.config.PORT, '/records', {
    ...{ method: 'POST', body: String(recordForm(page.text)) },
    headers: {
      ...{ ...from, host: 'localhost', origin: 'http://localhost' },
      'content-type': 'application/x-www-form-urlencoded',
    },
  });
}

test('records that are saved are bounded altogether, and by the day: by address, and for all visitors together, without what was refused', async () => {
  await addRecords(environment.store, SAVES * SAVED_RECORD_DAYS, '2026-01-01T00:00:00.000Z');
  const limited = async () =>
    (await series()).get('licenses_request_seconds_count{interface="rest",outcome="limited"}') ?? 0;
  const before = await limited();
  const refused = await rest.verify(NURSE, '/api/v1/records');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '3600']);
  expect(refused.text).toContain('There is no more room for saved records');
  expect(await limited()).toBe(before + 1);
  expect((await series()).get('licenses_saved_records_stored_ratio')).toBe(1);
  for (const _ of times(3, Number)) {
    const { status, text } = await save(newAddress());
    expect([status, text]).toEqual([503, expect.stringContaining('No more records can be saved')]);
  }
  await deleteRecords(environment.store);

  const greedy = newAddress();
  const answers = await Promise.all(times(3, () => save(greedy)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 303, 429]);
  expect(answers.find(({ status }) => status === 429)?.text).toContain('Lookups still work');

  // The other half is for accounts.
  const left = SAVES / 2 - 2;
  const saved: number[] = [];
  for (const _ of times(left, Number)) saved.push((await save(newAddress())).status);
  expect(saved).toEqual(Array(left).fill(303));
  expect((await series()).get('licenses_saved_records_used_ratio')).toBe(0.5);
  expect((await save(newAddress())).status).toBe(429);
  const unavailable = 'licenses_request_seconds_count{interface="web",outcome="unavailable"}';
  expect((await series()).get(unavailable)).toBe(0);
});

test('limits are said to be counted apart while the memory of Redis is full', async () => {
  const shared = async () => (await series()).get('licenses_limits_shared');
  await eventually('limits are counted together', async () => (await shared()) === 1);
  const direct = new Redis(redis.url);
  try {
    await direct.config('SET', 'maxmemory', '1');
    expect((await get('/status')).status).toBe(200);
    expect(await shared()).toBe(0);
    await api.printed('limits count in memory: Redis takes no counts');
    const from = { 'x-forwarded-for': newAddress() };
    const statuses: number[] = [];
    for (const _ of times(WEB_LIMIT + 1, Number)) statuses.push((await get('/status', from)).status);
    expect(statuses.at(-1)).toBe(429);
  } finally {
    await direct.config('SET', 'maxmemory', '0');
    direct.disconnect();
  }
});

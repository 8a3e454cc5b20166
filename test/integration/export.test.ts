import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { liveIndex } from '../../src/publications/metadata.ts';
import { MAX_EXPORTS } from '../../src/rest/export.ts';
import { apiClient } from '../support/api.ts';
import { changesPage } from '../support/changes.ts';
import { eventually } from '../support/eventually.ts';
import { EXPORT, exported } from '../support/exports.ts';
import { licensesInIndex } from '../support/feed-copy.ts';
import { times } from '../support/fixtures.ts';
import { heldScroll } from '../support/held-scroll.ts';
import { startService } from '../support/service.ts';

const EXPORTS = 3;

const scroll = await heldScroll();
const settings = { EXPORTS_PER_DAY: String(EXPORTS), OPENSEARCH_URL: scroll.url };
const { environment, rest } = await startService({ settings });
const { store } = environment;
afterEach(() => scroll.release());

const clientOf = (account: string) => apiClient(environment, account);

test('an export has every record of the live publication, a line each, and the cursor of now', async () => {
  const { licenses, cursor, publication } = await exported(await clientOf('Whole'));
  expect(licenses).toEqual(await licensesInIndex(store, (await liveIndex(store)) ?? ''));
  expect(cursor).toBe((await changesPage(rest, { since: 'latest' })).next);
  expect((await rest.get('/status')).body).toMatchObject({ publication: { id: publication } });
});

test('an export is a file with the date of its dataset, whatever the client accepts', async () => {
  const { headers } = await rest.request('GET', EXPORT, {
    headers: { 'accept-encoding': 'identity', accept: 'text/html' },
  });
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
    'content-disposition': 'attachment; filename="ohio-licenses-2026-11-20.ndjson.gz"',
    'x-last-scraped': '2026-11-20T00:00:00',
    'transfer-encoding': 'chunked',
  });
});

test('an export is described by HEAD, which reads nothing and does not count', async () => {
  const client = await clientOf('Head');
  for (const { status, headers, text } of await Promise.all(
    times(EXPORTS + 1, () => client.request('HEAD', EXPORT)),
  )) {
    expect([status, text, headers.get('content-encoding')]).toEqual([200, '', 'gzip']);
    expect(headers.get('x-record-count')).toMatch(/^\d\d$/);
  }
  await exported(client);
  expect(scroll.open).toBe(0);
});

test('an export has an ETag; a client that has it gets 304, which does not count', async () => {
  const client = await clientOf('Conditional');
  const etag = (await client.request('HEAD', EXPORT)).headers.get('etag') ?? '';
  expect(etag).toMatch(/^W\/"\w+-\d+\.\d+\.\d+"$/);
  const asked = (condition: string) =>
    client.request('GET', EXPORT, { headers: { 'if-none-match': condition } });
  for (const { status, text, headers } of await Promise.all(times(EXPORTS + 1, () => asked(etag))))
    expect([status, text, headers.get('etag')]).toEqual([304, '', etag]);
  const { status, headers, text } = await asked('W/"another"');
  expect([status, headers.get('etag'), text.length > 1000]).toEqual([200, etag, true]);
});

test('an account exports so often a day, whichever of its keys it sends', async () => {
  const [one, other] = [await clientOf('Day'), await clientOf('day')];
  for (const client of [one, other, one]) await exported(client);
  for (const client of [one, other]) {
    const { status, headers, body } = await client.get(EXPORT);
    expect([status, body]).toEqual([
      429,
      { detail: expect.stringMatching(/^Too many requests; try again in/) },
    ]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(80_000);
  }
  await exported(await clientOf('Another'));
});

test('an account exports one at a time', async () => {
  const client = await clientOf('One');
  scroll.hold();
  const underWay = exported(client);
  await scroll.reached(1);
  const { status, headers } = await client.get(EXPORT);
  expect([status, headers.get('retry-after')]).toEqual([429, '60']);
  scroll.release();
  await underWay;
  // What was refused has not counted.
  for (let at = 2; at <= EXPORTS; at += 1) await exported(client);
  expect((await client.get(EXPORT)).status).toBe(429);
});

test('an account exports as often as if one that broke off had not been', async () => {
  const client = await clientOf('Broken off');
  for (let at = 1; at <= EXPORTS + 1; at += 1) {
    scroll.hold();
    const leaving = new AbortController();
    // The export before gives its place back a moment after its scroll is cleared.
    const begun = async () => {
      while ((await client.request('GET', EXPORT, { signal: leaving.signal })).status === 429)
        await sleep(50);
    };
    const underWay = begun().catch(() => 'broken off');
    await scroll.reached(1);
    leaving.abort();
    expect(await underWay).toBe('broken off');
    scroll.release();
    await eventually('the export has ended', async () => scroll.open === 0);
  }
  for (let at = 1; at <= EXPORTS; at += 1) await exported(client);
  expect((await client.get(EXPORT)).status).toBe(429);
});

test('an account exports as often as if one that could not begin or go on had not been; what has begun is cut off', async () => {
  const client = await clientOf('Failed');
  scroll.beforeNext(() => Promise.reject(new Error('by the test')));
  const { status, headers } = await client.get(EXPORT);
  expect([status, headers.get('retry-after')]).toEqual([503, '5']);
  scroll.hold();
  const underWay = expect(client.get(EXPORT)).rejects.toThrow('terminated');
  await scroll.reached(1);
  scroll.release(async () => ({ status: 500, body: '{}' }));
  await underWay;
  for (let at = 1; at <= EXPORTS; at += 1) await exported(client);
  expect((await client.get(EXPORT)).status).toBe(429);
});

test('an account exports while the process sends few others', async () => {
  const clients = await Promise.all(times(MAX_EXPORTS, (at) => clientOf(`Few ${at}`)));
  const oneMore = await clientOf('One more');
  scroll.hold();
  const underWay = Promise.all(clients.map((client) => exported(client)));
  await scroll.reached(MAX_EXPORTS);
  const { status, headers } = await oneMore.get(EXPORT);
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  scroll.release();
  await underWay;
  for (let at = 1; at <= EXPORTS; at += 1) await exported(oneMore);
});

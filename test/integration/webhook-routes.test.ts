import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { accountId } from '../../src/access/accounts.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { type Webhook as StoredWebhook, WEBHOOKS } from '../../src/subscriptions/webhook.ts';
import { type ApiAnswer, type ApiClient, apiClient } from '../support/api.ts';
import { changesPage } from '../support/changes.ts';
import { answerChecker, openApiIn } from '../support/openapi.ts';
import { webServer } from '../support/proxy.ts';
import { startService } from '../support/service.ts';

const PATH = '/api/v1/webhook';

let accounts = 0;
/** Each test has an account of its own. */
let account: string;
let rest: ApiClient;
let received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
let answer: () => number | Promise<number>;

const service = await startService({
  settings: {
    WEBHOOK_SECRET_KEY: 'a secret key of the tests, of 32 characters and more',
    WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  },
});
const { api, environment } = service;
const { client, store } = environment;
const check = answerChecker(openApiIn(await service.rest.get('/openapi.json')));
const receiver = await webServer(async (request, response) => {
  received.push({ headers: request.headers, body: await text(request) });
  response.writeHead(await answer()).end('the answer of the receiver');
});
const url = `${receiver.url}/hook?token=a-secret-token`;

beforeEach(async () => {
  received = [];
  answer = () => 204;
  accounts += 1;
  account = accountId(`Business ${accounts}`);
  rest = await apiClient(environment, `Business ${accounts}`);
});

/** Asks, and checks the answer against the OpenAPI document. */
async function ask(method: string, path = PATH, body?: unknown): Promise<ApiAnswer> {
  const given = await rest.request(method, path, { json: body });
  if (given.status !== 204) check(method.toLowerCase(), path, given);
  return given;
}

const withSecret = z.object({ secret: z.string() });

async function put(to = url): Promise<string> {
  const { status, body } = await ask('PUT', PATH, { url: to });
  expect(status).toBe(201);
  return withSecret.parse(body).secret;
}

async function stored(): Promise<StoredWebhook> {
  const found = await WEBHOOKS.read(store, account);
  if (found === undefined) throw new Error('There is no webhook.');
  return found.document;
}

async function change(parts: Partial<StoredWebhook>): Promise<void> {
  await WEBHOOKS.put(store, account, { ...(await stored()), ...parts });
}

/** Whether what was received last is signed with this secret. */
function isSignedWith(secret: string): boolean {
  const { headers, body } = received.at(-1) ?? { headers: {}, body: '' };
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  try {
    new Webhook(secret).verify(body, texts);
    return true;
  } catch {
    return false;
  }
}

const FAILING_SINCE = '2026-11-01T00:00:00.000Z';
const PAUSED = { paused: 'failing', failing_since: FAILING_SINCE } as const;
const RESUMED = { paused: null, failing_since: null };

const askTest = async () => (await ask('POST', `${PATH}/test`)).body;

test('PUT makes a webhook that begins at the feed’s latest place', async () => {
  const { next } = await changesPage(rest, { since: 'latest' });
  await put();
  expect(await stored()).toMatchObject({ delivered_cursor: next });
});

test.each([
  { state: 'paused', paused: 'failing' },
  { state: 'gone', paused: 'gone' },
  { state: 'failing', paused: null },
] as const)('PUT of the same url resumes a webhook that is $state', async ({ state, paused }) => {
  await put();
  await change({ paused, failing_since: FAILING_SINCE });
  expect((await ask('GET')).body).toMatchObject({ state });
  const resumed = await ask('PUT', PATH, { url });
  expect(resumed).toMatchObject({ status: 200, body: { state: 'active', failing_since: null } });
});

test('PUT of another url makes another webhook, with another secret, that goes on at the same place', async () => {
  const secret = await put();
  const { id } = await stored();
  await change({ ...PAUSED, delivered_cursor: 'an earlier place' });
  const other = await put(`${receiver.url}/other`);
  expect(await stored()).toMatchObject({ ...RESUMED, delivered_cursor: 'an earlier place' });
  expect((await stored()).id).not.toBe(id);
  await askTest();
  expect([secret, other].map(isSignedWith)).toEqual([false, true]);
});

test.each([
  ['a list', 400, []],
  ['no url', 400, {}],
  ['a number as its url', 400, { url: 1 }],
  ['more than 4 KB', 413, { url: 'x'.repeat(5000) }],
])('PUT of %s is %i', async (_what, status, body) => {
  expect((await ask('PUT', PATH, body)).status).toBe(status);
  expect((await ask('GET')).status).toBe(404);
});

test('PUT of what is not JSON is 415', async () => {
  const plain = { body: url, headers: { 'content-type': 'text/plain' } };
  expect((await rest.request('PUT', PATH, plain)).status).toBe(415);
});

test('DELETE removes the webhook of its account, and no other', async () => {
  const secret = await put();
  const other = await apiClient(environment, 'Another business');
  expect([(await other.get(PATH)).status, (await other.request('DELETE', PATH)).status]).toEqual([404, 404]);
  const statuses = [];
  for (const [method, path] of [['GET'], ['DELETE'], ['GET'], ['POST', `${PATH}/rotate`]] as const)
    statuses.push((await ask(method, path)).status);
  expect(statuses).toEqual([200, 204, 404, 404]);
  expect(await put()).not.toBe(secret);
});

test('rotate gives a new secret; for a day, all of them sign, and at most 20 are made', async () => {
  const secrets = [await put()];
  const rotate = () => ask('POST', `${PATH}/rotate`);
  for (let times = 0; times < 2; times += 1) secrets.push(withSecret.parse((await rotate()).body).secret);
  await askTest();
  expect(secrets.map(isSignedWith)).toEqual([true, true, true]);
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  await change({ rotated_at: hoursAgo(1), rotations: [hoursAgo(25), hoursAgo(1)] });
  await askTest();
  expect(secrets.map(isSignedWith)).toEqual([false, true, true]);
  await change({ rotations: Array.from({ length: 20 }, () => hoursAgo(1)) });
  expect((await rotate()).status).toBe(429);

  // Nothing secret is stored or logged, and the address is not logged. The log is written in pieces.
  await api.printed(`${PATH}/rotate`);
  const kept = JSON.stringify(await stored()) + api.output();
  for (const secret of secrets) expect(kept).not.toContain(secret.slice('whsec_'.length));
  expect(api.output()).not.toContain('a-secret-token');
});

test('a test sends a signed message', async () => {
  const secret = await put();
  expect(await askTest()).toEqual({ delivered: true, status: 204 });
  expect(received.map(({ body }) => JSON.parse(body))).toEqual([
    { type: 'webhook.test', timestamp: expect.any(String), data: {} },
  ]);
  expect(received[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': expect.stringMatching(/^msg_[0-9a-f]{32}$/),
  });
  expect(isSignedWith(secret)).toBe(true);
});

test('a test that is delivered resumes a paused webhook; another does not', async () => {
  await put();
  await change(PAUSED);
  answer = () => 500;
  expect([await askTest(), await stored()]).toMatchObject([{ delivered: false, status: 500 }, PAUSED]);
  answer = () => 200;
  expect([await askTest(), await stored()]).toMatchObject([{ delivered: true, status: 200 }, RESUMED]);
});

test('a test does not resume the webhook that took its place meanwhile', async () => {
  await put();
  const another = { id: 'wh_another', paused: 'gone' } as const;
  answer = () => change(another).then(() => 200);
  await askTest();
  expect(await stored()).toMatchObject(another);
});

test('a test waits longer for a receiver than an idle connection is kept', async () => {
  await put();
  answer = () => new Promise(() => undefined);
  expect(await askTest()).toEqual({ delivered: false, reason: 'timeout' });
  // The connection is kept for further requests.
  expect((await ask('GET')).status).toBe(200);
});

test('a test runs one at a time, and five in a minute', async () => {
  await put();
  const [asked, replied] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
  answer = () => {
    asked.resolve();
    return replied.promise;
  };
  const first = ask('POST', `${PATH}/test`);
  await asked.promise;
  const second = await ask('POST', `${PATH}/test`);
  expect([second.status, Number(second.headers.get('retry-after')) > 0]).toEqual([429, true]);
  replied.resolve(204);
  const statuses = [(await first).status];
  for (let times = 0; times < 5; times += 1) statuses.push((await ask('POST', `${PATH}/test`)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});

test('an API that is newer than the worker answers 503, and creates no index without its template', async () => {
  const index = [store.names.webhooks, store.names.subscriptions];
  await client.indices.delete({ index });
  const put = await rest.request('PUT', PATH, { json: { url } });
  const [webhook, subscriptions] = await Promise.all([rest.get(PATH), rest.get('/api/v1/subscriptions')]);
  expect([put.status, webhook.status, subscriptions.status]).toEqual([503, 503, 503]);
  expect((await client.indices.exists({ index })).body).toBe(false);
  await prepareIndices(store);
});

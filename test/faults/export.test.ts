/** @room lookups @long */
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { type RunningProcess, runProgram } from '../../scripts/processes.ts';
import { licensesIndices, liveIndex, newId } from '../../src/publications/metadata.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { licensesOf } from '../support/day-files.ts';
import { daysAfter } from '../support/days.ts';
import { describeUnless, missing } from '../support/describe-unless.ts';
import { eventually } from '../support/eventually.ts';
import { EXPORT, exported } from '../support/exports.ts';
import { PHARMACIES } from '../support/feed-service.ts';
import { heldScroll } from '../support/held-scroll.ts';
import { ownOpenSearch } from '../support/own-servers.ts';
import type { ProxyStep } from '../support/proxy.ts';
import { published } from '../support/publication-days.ts';
import { NO_PYTHON } from '../support/python.ts';

/** Several pages of an export, each more than gzip holds back. */
const NURSES = licensesOf('Nursing Board', 'RN.', 700).map((nurse) => ({
  ...nurse,
  name: `HOLDER, ${randomBytes(450).toString('base64url')}`,
}));

const openSearch = await ownOpenSearch();
const scroll = await heldScroll(openSearch.url);
const settings = { EXPORTS_PER_DAY: '1000', DRAIN_SECONDS: '0', KEEP_PUBLICATIONS: '3' };
const environment = await testEnvironment({ OPENSEARCH_URL: scroll.url, ...settings });
let api: RunningProcess;
let days = 0;
await publishDay();

beforeEach(restart);
afterEach(async () => {
  scroll.release();
  await api.stop();
});

/** Publishes the next day. */
async function publishDay(): Promise<void> {
  days += 1;
  const day = { individual: NURSES, business: PHARMACIES };
  await published(environment, daysAfter('2026-10-31', days), day);
}

/** How a client that was sent only the first page has ended. */
type Ended = Awaited<ReturnType<typeof runClient>>;

/** Reads an export as a program of its own, which keeps what comes in a file. */
async function runClient(command: (file: string) => readonly [string, ...string[]]) {
  const file = join(environment.folder, newId());
  const { code, stderr } = await runProgram(command(file));
  expect((await stat(file)).size).toBeGreaterThan(0);
  return { isGood: code === 0, said: `${code} ${stderr.trim().split('\n').at(-1)}` };
}

/** Reads the body as it is, and decompresses it as far as it goes. */
const PYTHON = `
import sys, urllib.request, zlib
address, key, path = sys.argv[1:]
request = urllib.request.Request(address, headers={"X-API-Key": key})
unzip = zlib.decompressobj(31)
with urllib.request.urlopen(request) as response, open(path, "wb") as file:
    while chunk := response.read1():
        file.write(unzip.decompress(chunk))
assert unzip.eof, "the compressed text is cut off"
`;

type Client = (rest: ApiClient) => Promise<Ended>;

const address = () => `http://127.0.0.1:${environment.config.PORT}${EXPORT}`;

const byFetch: Client = (rest) =>
  rest.get(EXPORT).then(
    () => ({ isGood: true, said: '' }),
    (error: unknown) => ({ isGood: false, said: String(error) }),
  );
const byCurl: Client = ({ key }) =>
  runClient((to) => ['curl', '-sS', '--compressed', '-H', `X-API-Key: ${key}`, '-o', to, address()]);
const byPython: Client = ({ key }) => runClient((to) => ['python3', '-c', PYTHON, address(), key, to]);

/** Answers a page with fewer records than it has. */
const shorter: ProxyStep = async ({ forward }) => {
  const { status, body } = await forward();
  const page: { hits: { hits: unknown[] } } = JSON.parse(body);
  return { status, body: JSON.stringify({ ...page, hits: { ...page.hits, hits: page.hits.hits.slice(1) } }) };
};

const partial: ProxyStep = async ({ forward }) => {
  const { status, body } = await forward();
  const _shards = { total: 2, successful: 1, skipped: 0, failed: 0 };
  return { status, body: JSON.stringify({ ...JSON.parse(body), _shards }) };
};

async function deleteLive(): Promise<void> {
  await environment.client.indices.delete({ index: (await liveIndex(environment.store)) ?? '' });
}

/** What breaks an export while it is held, what becomes of its next page, and what repairs it. */
interface Broken {
  readonly act?: () => Promise<unknown>;
  readonly page?: ProxyStep;
  readonly repair?: () => Promise<unknown>;
}

const BROKEN: readonly (readonly [what: string, Broken])[] = [
  ['OpenSearch is killed', { act: () => openSearch.kill(), repair: () => openSearch.start() }],
  ['a page lacks a record', { page: shorter }],
  ['a page is not of all shards', { page: partial }],
  ['its index is deleted', { act: deleteLive, repair: publishDay }],
  ['the API process is killed', { act: () => api.kill(), repair: restart }],
];

async function restart(): Promise<void> {
  api = await startApi(environment.variables);
}

const NOT_INSTALLED = missing('curl') ?? NO_PYTHON;

describeUnless(NOT_INSTALLED, 'fetch, curl and Python notice that an export is cut off', () => {
  test.each(BROKEN)('while three clients read an export, %s', async (what, { act, page, repair }) => {
    const one = await apiClient(environment, 'fetch');
    const [other, third] = [await apiClient(environment, 'curl'), await apiClient(environment, 'python')];
    scroll.hold();
    const reading = Promise.all([byFetch(one), byCurl(other), byPython(third)]);
    await scroll.reached(3);
    await act?.();
    scroll.release(page);
    const ended = await reading;
    process.stdout.write(`${what}: ${ended.map(({ said }) => said).join(' | ')}\n`);
    expect(ended.map(({ isGood }) => isGood)).toEqual([false, false, false]);
    await repair?.();
    await eventually('an export is whole', () => exported(one).then(Boolean, () => false));
  });
});

test('an export is of the publication that is live when it begins, though the one before was deleted', async () => {
  const { client, store } = environment;
  await publishDay();
  const [before, index] = (await licensesIndices(store)).slice(-2);
  if (before === undefined || index === undefined) throw new Error('There are no two publications.');
  scroll.beforeNext(async () => {
    const alias = store.names.alias;
    const actions = [{ remove: { index: index.index, alias } }, { add: { index: before.index, alias } }];
    await client.indices.updateAliases({ body: { actions } });
    await client.indices.delete({ index: index.index });
  });
  const { publication, licenses } = await exported(await apiClient(environment));
  expect(publication).toBe(before.metadata.publication);
  expect(licenses.size).toBe(NURSES.length + PHARMACIES.length);
});

test('characters at which some programs end a line are escaped', async () => {
  const rest = await apiClient(environment, 'Line breaks');
  scroll.hold();
  const reading = rest.get(EXPORT);
  await scroll.reached(1);
  scroll.release(async ({ forward }) => {
    const { status, body } = await forward();
    return { status, body: body.replace('HOLDER, ', 'HOLDER, \u2028\u2029\u0085') };
  });
  const { text } = await reading;
  expect(text).not.toMatch(/[\u2028\u2029\u0085]/);
  expect(text).toContain('"HOLDER, \\u2028\\u2029\\u0085');
});

test('a client that leaves ends the reading', async () => {
  const rest = await apiClient(environment);
  const leaving = new AbortController();
  // A process that was killed has left its own.
  const before = scroll.open;
  scroll.hold();
  const reading = rest.request('GET', EXPORT, { signal: leaving.signal });
  await scroll.reached(1);
  leaving.abort();
  await expect(reading).rejects.toThrow('aborted');
  const pages = scroll.pages();
  scroll.release();
  await eventually('the scroll is cleared', () => scroll.open === before);
  expect(scroll.pages()).toBe(pages);
  expect(api.output()).not.toContain('request failed');
  // OpenSearch has cleared the scroll before the process knows it.
  await eventually('its account may export again', async () => (await rest.get(EXPORT)).status !== 429);
  await exported(rest);
});

test('a process that is asked to stop cuts it off and ends well', async () => {
  const rest = await apiClient(environment);
  scroll.hold();
  const reading = byFetch(rest);
  await scroll.reached(1);
  api.child.kill('SIGTERM');
  expect(await reading).toMatchObject({ isGood: false });
  scroll.release();
  await api.ended;
  expect(api.child.exitCode).toBe(0);
});

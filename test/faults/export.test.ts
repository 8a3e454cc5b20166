/** @room lookups @long */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { type RunningProcess, runProgram } from '../../scripts/processes.ts';
import { licensesIndices, liveIndex } from '../../src/publications/metadata.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { NO_CURL } from '../support/curl.ts';
import { licensesOf } from '../support/day-files.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { eventually } from '../support/eventually.ts';
import { EXPORT, exported } from '../support/exports.ts';
import { inForm } from '../support/fault-form.ts';
import { PHARMACIES } from '../support/feed-service.ts';
import { type HeldScroll, heldScroll } from '../support/held-scroll.ts';
import { type OwnServer, ownOpenSearch } from '../support/own-servers.ts';
import type { ProxyStep } from '../support/proxy.ts';
import { published } from '../support/publication-days.ts';
import { pythonIsMissing } from '../support/python.ts';

/** Several pages of an export, each more than gzip holds back. */
const NURSES = licensesOf('Nursing Board', 'RN.', 700).map((nurse) => ({
  ...nurse,
  name: `HOLDER, ${randomBytes(450).toString('base64url')}`,
}));

/** In the long form alone, which kills it. */
let openSearch: OwnServer | undefined;
let scroll: HeldScroll;
let environment: TestEnvironment;
let api: RunningProcess;
let folder: string;
let days = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'licenses-export-'));
  openSearch = await inForm<() => Promise<OwnServer | undefined>>({
    short: async () => undefined,
    long: ownOpenSearch,
  })();
  scroll = await heldScroll(openSearch?.url);
  environment = await testEnvironment({
    ...{ OPENSEARCH_URL: scroll.url, EXPORTS_PER_DAY: '1000', DRAIN_SECONDS: '0' },
    KEEP_PUBLICATIONS: '3',
  });
  await publishDay();
}, 400_000);
beforeEach(async () => {
  api = await startApi(environment.variables);
});
afterEach(async () => {
  scroll.release();
  await api.stop();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Publishes the next day. */
async function publishDay(): Promise<void> {
  days += 1;
  const date = `2026-11-${String(days).padStart(2, '0')}`;
  await published(environment, date, { individual: NURSES, business: PHARMACIES });
}

async function liveNow(): Promise<string> {
  const index = await liveIndex(environment.store);
  if (index === undefined) throw new Error('Nothing is live.');
  return index;
}

/** How a client that was sent only the first page has ended. */
interface Ended {
  readonly isGood: boolean;
  readonly said: string;
}

/** Reads an export as a program of its own, which keeps what comes in a file. */
async function runClient(command: readonly [string, ...string[]], file: string): Promise<Ended> {
  const { code, stderr } = await runProgram(command, { variables: { PATH: process.env.PATH ?? '' } });
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
const byCurl: Client = ({ key }) => {
  const file = join(folder, 'curl');
  return runClient(['curl', '-sS', '--compressed', '-H', `X-API-Key: ${key}`, '-o', file, address()], file);
};
const byPython: Client = ({ key }) => {
  const file = join(folder, 'python');
  return runClient(['python3', '-c', PYTHON, address(), key, file], file);
};

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

const nothing = async () => undefined;

type Broken = readonly [
  what: string,
  act: () => Promise<ProxyStep | undefined>,
  repair: () => Promise<unknown>,
];

const OPENSEARCH_KILLED: Broken = [
  'OpenSearch is killed',
  async () => {
    await openSearch?.kill();
    return undefined;
  },
  async () => openSearch?.start(),
];

const BROKEN: readonly Broken[] = [
  ...inForm({ short: [], long: [OPENSEARCH_KILLED] }),
  ['a page lacks a record', async () => shorter, nothing],
  ['a page is not of all shards', async () => partial, nothing],
  [
    'its index is deleted',
    async () => {
      await environment.client.indices.delete({ index: await liveNow() });
      return undefined;
    },
    publishDay,
  ],
  [
    'the API process is killed',
    async () => {
      await api.kill();
      return undefined;
    },
    async () => {
      api = await startApi(environment.variables);
    },
  ],
];

describeUnless(
  NO_CURL ?? pythonIsMissing(),
  'fetch, curl and Python notice that an export is cut off',
  () => {
    for (const [what, act, repair] of BROKEN) {
      test(`while three clients read an export, ${what}`, async () => {
        const names = ['fetch', 'curl', 'python'];
        const [one, other, third] = await Promise.all(names.map((name) => apiClient(environment, name)));
        if (one === undefined || other === undefined || third === undefined) throw new Error('no clients');
        scroll.hold();
        const reading = Promise.all([byFetch(one), byCurl(other), byPython(third)]);
        await scroll.reached(3);
        scroll.release(await act());
        const ended = await reading;
        process.stdout.write(`${what}: ${ended.map(({ said }) => said).join(' | ')}\n`);
        expect(ended.map(({ isGood }) => isGood)).toEqual([false, false, false]);
        await repair();
        await eventually('an export is whole', () => exported(one).then(Boolean, () => false));
      });
    }
  },
);

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
  expect([publication, licenses.size]).toEqual([
    before.metadata.publication,
    NURSES.length + PHARMACIES.length,
  ]);
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
  const { pages } = scroll;
  scroll.release();
  await eventually('the scroll is cleared', () => scroll.open === before);
  expect(scroll.pages).toBe(pages);
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
  api = await startApi(environment.variables);
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { publishResult } from '../../src/publications/result.ts';
import { openStore } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { openSearchProxy, type ProxyHandler } from '../support/open-search-proxy.ts';
import { publishFiles } from '../support/publishing.ts';

/** How many boards of the catalog the fixtures have; the canary looks up each by number and by name. */
const FIXTURE_BOARDS = 10;

const environments: TestEnvironment[] = [];
let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
  environments.push(environment);
  await prepareIndices(environment.store);
});
afterAll(async () => {
  for (const each of environments) await each.cleanUp();
});

/** Publishes the fixtures; after the alias has switched, this handles the requests to OpenSearch. */
async function publishedWith(afterSwitch: ProxyHandler) {
  let isSwitched = false;
  const proxy = await openSearchProxy(environment.config.OPENSEARCH_URL, async (request) => {
    if (isSwitched) return afterSwitch(request);
    const answer = await request.forward();
    isSwitched = request.path.startsWith('/_aliases') && request.method === 'POST';
    return answer;
  });
  const store = openStore({ ...environment.config, OPENSEARCH_URL: proxy.url }, 30_000);
  try {
    const result = publishResult.parse(await publishFiles({ ...environment, store }, FIXTURES));
    if (result.state !== 'live') throw new Error(`The publication is ${result.state}.`);
    const { publication } = result;
    const details = await publicationDetails(environment.store, publication);
    return { differences: result.canary_differences, ...details };
  } finally {
    await store.client.close();
    await proxy.close();
  }
}

/** Whether a request to this path is a lookup. */
function isLookup(path: string): boolean {
  return /\/_(m?search|mget)\b/.test(path) && path.includes('licenses-');
}

test('the canary tries a lookup again that OpenSearch did not answer', async () => {
  let lookups = 0;
  const { differences } = await publishedWith(async (request) => {
    if (!isLookup(request.path)) return request.forward();
    lookups += 1;
    return lookups <= 2 ? undefined : request.forward();
  });
  expect(lookups).toBeGreaterThan(2);
  expect(differences).toEqual([]);
});

test('the canary looks up known licenses when a publication has gone live', async () => {
  const lookups: string[] = [];
  const { differences, summary } = await publishedWith((request) => {
    if (isLookup(request.path)) lookups.push(request.path);
    return request.forward();
  });
  expect(differences).toEqual([]);
  expect(lookups).not.toEqual([]);
  expect(summary).toMatchObject({ state: 'live' });
  expect(summary.differences).toBeUndefined();
});

test('a result that differs from the files is recorded in the ledger, and the publication stays live', async () => {
  const { differences, summary, events } = await publishedWith(async (request) => {
    const answer = await request.forward();
    if (!isLookup(request.path)) return answer;
    return { ...answer, body: answer.body.replaceAll('"city":"', '"city":"NEW ') };
  });
  expect(differences).toContainEqual(
    expect.stringMatching(/^Nursing Board \S+, by number: the answer differs from the files$/),
  );
  expect(differences).toContainEqual(expect.stringMatching(/^Nursing Board \S+, by person: /));
  expect(summary).toMatchObject({ state: 'live', differences: differences });
  expect(events.map(({ event }) => event)).toContain('canary_failed');
});

test('failed lookups, one by number and one by name per board, count as differences, and the publication stays live', async () => {
  const { differences, summary } = await publishedWith((request) =>
    isLookup(request.path)
      ? Promise.resolve({ status: 500, body: '{"error":"broken","status":500}' })
      : request.forward(),
  );
  expect(differences).toHaveLength(2 * FIXTURE_BOARDS);
  expect(summary.state).toBe('live');
});

import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { publicationDetails, publishResult } from '../../src/publications/history.ts';
import { newId } from '../../src/publications/metadata.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { writeDay } from '../support/day-files.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { type ProxyStep, throughProxy } from '../support/proxy.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

/** How many boards of the catalog the fixtures have; the canary looks up each by number and by name. */
const FIXTURE_BOARDS = 10;

const environments: TestEnvironment[] = [];
let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
  environments.push(environment);
  await prepareIndices(environment.store);
});

interface Published {
  readonly files?: DatasetFiles;
  readonly publication?: string;
  /** Whether an earlier attempt has switched the alias. */
  readonly isLive?: boolean;
}

/** Publishes the fixtures; after the alias has switched, this handles the requests to OpenSearch. */
async function publishedWith(
  afterSwitch: ProxyStep,
  { files = FIXTURES, publication = newId(), isLive = false }: Published = {},
) {
  let isSwitched = isLive;
  const result = await throughProxy(
    environment,
    async (request) => {
      if (isSwitched) return afterSwitch(request);
      const answer = await request.forward();
      isSwitched = request.path.startsWith('/_aliases') && request.method === 'POST';
      return answer;
    },
    async (through) => publishResult.parse(await publishFiles(through, files, { publication })),
  );
  if (result.state !== 'live') throw new Error(`The publication is ${result.state}.`);
  const details = await publicationDetails(environment.store, publication);
  return { result, differences: result.canary_differences, ...details };
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

test.each([
  'SMITH,MARY',
  'SMITH , MARY',
  'SMITH JR, MARY',
  'SMITH',
  'SMITH, -',
  '-, MARY',
  `${'X'.repeat(900)}, MARY`,
])('the canary finds the holder %j', async (name) => {
  const files = await writeDay(environment.folder, newId(), {
    date: '2026-11-20',
    individual: [{ board: 'Nursing Board', number: 'RN.1', name }],
    business: [],
  });
  await writeFile(files.business, await readFile(FIXTURES.business));
  const { differences } = await publishedWith((request) => request.forward(), { files });
  expect(differences).toEqual([]);
});

test('a publication that was killed right after the switch is completed: canary, statuses and unknown labels', async () => {
  const publication = newId();
  const killed = publishedWith(async () => undefined, { publication });
  await expect(killed).rejects.toThrow();
  const lookups: string[] = [];
  const { result, summary, events } = await publishedWith(
    async (request) => {
      // The canary reads a license of each board from the index, since the process that sent them is gone.
      const isSample = request.body.includes('"query":{"term":{"board"');
      if (!isLookup(request.path) || isSample) return request.forward();
      lookups.push(request.path);
      const answer = await request.forward();
      return { ...answer, body: answer.body.replaceAll('"city":"', '"city":"NEW ') };
    },
    { publication, isLive: true },
  );
  expect(lookups).not.toEqual([]);
  expect(events.map(({ event }) => event)).toEqual([
    ...['reading', 'loading', 'verifying', 'live', 'canary_failed'],
  ]);
  const differs = expect.stringMatching(/^Nursing Board \S+, by number: the answer differs from the files$/);
  expect(result.canary_differences).toContainEqual(differs);
  expect(summary).toMatchObject({
    state: 'live',
    statuses: { ACTIVE: expect.any(Number) },
    unknown_labels: result.unknown_labels,
    forced: 'a test of something else',
  });
  expect(Object.keys(result.unknown_labels)).not.toEqual([]);
  expect(result.seconds).toBeGreaterThan(0);
});

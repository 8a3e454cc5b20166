import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { errors } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { freePort } from '../../scripts/ports.ts';
import { readConfig } from '../../src/config.ts';
import { bulk, countDocuments, documentsById, search } from '../../src/storage/checked-search.ts';
import { isDenied, SearchUnavailableError, trouble } from '../../src/storage/errors.ts';
import { openStore } from '../../src/storage/store.ts';
import { openSearchError, openSearchTimeout } from '../support/open-search-errors.ts';
import { webServer } from '../support/proxy.ts';

const COMPLETE = { timed_out: false, _shards: { total: 2, successful: 2, failed: 0 } };

/** What stands for OpenSearch answers this to every request. */
let answer: { readonly status?: number; readonly body: object; readonly afterMs?: number };
const { url } = await webServer(async (request, response) => {
  request.resume();
  await sleep(answer.afterMs ?? 0);
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer.body));
});

const clientOf = (nodes: string, triesOtherNodes = false, timeoutMs = 60_000) =>
  openStore(readConfig({ OPENSEARCH_URL: nodes }), timeoutMs, { triesOtherNodes }).client;
const client = clientOf(url);

beforeEach(() => {
  answer = { body: { ...COMPLETE, hits: { hits: [] } } };
});

test('the client gives each response as an object of its own, without the getter of its own one', async () => {
  const response = await client.search({ index: 'licenses' });
  expect(Object.getOwnPropertyNames(response).toSorted()).toEqual([
    ...'body headers meta statusCode'.split(' '),
  ]);
  expect(response).toMatchObject({ statusCode: 200, body: { hits: { hits: [] } } });
});

test('the client fails for a status of 400 and above', async () => {
  answer = { status: 404, body: {} };
  await expect(client.search({ index: 'lost' })).rejects.toMatchObject({ statusCode: 404 });
});

test('the client waits for a response no longer than it was told', async () => {
  answer = { ...answer, afterMs: 10_000 };
  const impatient = clientOf(url, false, 200);
  await expect(impatient.search({ index: 'licenses' })).rejects.toThrow(errors.TimeoutError);
});

test('the client asks another node only where it was told so', async () => {
  const nodes = `http://127.0.0.1:${await freePort()},${url}`;
  const both = await Promise.allSettled([1, 2].map(() => clientOf(nodes).search({ index: 'licenses' })));
  expect(both.map(({ status }) => status)).toContain('rejected');
  const all = [1, 2, 3, 4].map(() => clientOf(nodes, true).search({ index: 'licenses' }));
  expect((await Promise.all(all)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
});

describe.each([
  ['of which a shard failed', { _shards: { total: 2, successful: 2, failed: 1 } }, 'failed'],
  ['of which a shard is not assigned', { _shards: { total: 2, successful: 1, failed: 0 } }, '1 of 2 shards'],
])('an answer %s is none', (_what, part, message) => {
  test.each([
    ['a search', () => search(client, z.unknown(), { index: 'licenses' })],
    ['a count', () => countDocuments(client, 'licenses')],
  ])('to %s', async (_asked, ask) => {
    answer = { body: { ...COMPLETE, hits: { total: { value: 1 } }, ...part } };
    await expect(ask()).rejects.toThrow(SearchUnavailableError);
    await expect(ask()).rejects.toThrow(message);
  });
});

test('a search that ran out of time has no answer', async () => {
  answer = { body: { ...COMPLETE, timed_out: true } };
  await expect(search(client, z.unknown(), { index: 'licenses' })).rejects.toThrow('ran out of time');
});

test('a document that is not there is undefined; one that could not be read fails the others', async () => {
  const docs = [
    { _id: 'a', found: true, _source: { x: 1 } },
    { _id: 'b', found: false },
  ];
  answer = { body: { docs } };
  const read = () => documentsById(client, { index: 'licenses', body: { ids: ['a', 'b', 'c'] } });
  expect(await read()).toEqual([docs[0], undefined]);
  answer = { body: { docs: [...docs, { _id: 'c', error: { type: 'no_shard_available' } }] } };
  await expect(read()).rejects.toThrow('did not read every document');
});

test('a bulk request fails with its first item that was not taken, but for the accepted statuses', async () => {
  const write = (accepted?: number[]) =>
    bulk(client, { index: 'licenses', body: [{ index: {} }, {}] }, accepted);
  const conflict = { status: 409, error: { type: 'conflict', reason: 'is there' } };
  answer = { body: { items: [{ index: { status: 200 } }, { create: conflict }] } };
  expect(await write([409])).toEqual([200, 409]);
  await expect(write()).rejects.toThrow('OpenSearch did not take every document: is there');
});

const full = Object.assign(openSearchError(429), { message: 'blocked by: flood-stage watermark' });
const blocked = Object.assign(openSearchError(403), { message: 'cluster_block_exception: [x]' });

test.each([
  ['a full disk', full, /^OpenSearch at one:9200, two:9200 refuses to write: its disk is full\./],
  ['a wrong password', openSearchError(401), /refuses the user or the password/],
  ['a missing permission', openSearchError(403), /does not permit this to its user OPENSEARCH_USERNAME/],
  ['too much load', openSearchError(429), /answered with status 429/],
  ['a failure', openSearchError(500), /answered with status 500/],
  ['a timeout', openSearchTimeout('slow'), /does not answer at one:9200, two:9200\. Is it running/],
  ['an invalid query', openSearchError(400), undefined],
  ['a bug', new TypeError('x'), undefined],
])('operators read of %s in one line without the password', (_what, error, line) => {
  const words = trouble(error, { OPENSEARCH_URL: 'http://ada:secret@one:9200,http://two:9200' });
  if (line === undefined) expect(words).toBeUndefined();
  else expect(words).toMatch(line);
  expect(words ?? '').not.toMatch(/secret|\n/);
});

test('operators read of a blocked index not as of a missing permission', () => {
  expect([isDenied(blocked), isDenied(openSearchError(403))]).toEqual([false, true]);
});

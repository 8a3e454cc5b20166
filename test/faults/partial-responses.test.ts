import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { testEnvironment } from '../../scripts/environment.ts';
import { REQUEST_WORDS } from '../../src/answers/words.ts';
import { errorResponse } from '../../src/http/errors.ts';
import { readLookup } from '../../src/licenses/lookup.ts';
import { liveLookups } from '../../src/lookup/service.ts';
import { appendEvent, readEvents } from '../../src/publications/ledger.ts';
import { trackLivePublication } from '../../src/publications/live.ts';
import { indicesUnderAlias, licensesIndices } from '../../src/publications/metadata.ts';
import { countDocuments, search } from '../../src/storage/checked-search.ts';
import { indexTemplate, prepareIndices } from '../../src/storage/templates.ts';
import type { ApiAnswer } from '../support/api.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import type { ProxyStep } from '../support/proxy.ts';
import { publishFiles } from '../support/publishing.ts';
import { startService } from '../support/service.ts';
import { unassignOneShard } from '../support/unassigned-shard.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const UNAVAILABLE = {
  detail: 'Lookups are not available right now; try again shortly.',
  data_age_days: expect.any(Number),
};

/** Lookups that search all shards, one for each kind of query. */
const SEARCHES = {
  'a number in another form': { board: NURSING, license_number: 'rn 0700001' },
  'a number that nobody has': { board: NURSING, license_number: 'RN.799999' },
  'a surname': { board: NURSING, last_name: 'Smith' },
  'a surname and a given name': { board: NURSING, last_name: 'Smith', first_name: 'Mary' },
  'a surname that nobody has': { board: NURSING, last_name: 'Smyth' },
  'a name with a filter': { board: NURSING, last_name: 'Smith', city: 'Lima' },
  'a business': { board: 'Board of Pharmacy', search_type: 'business', business_name: 'Best' },
};

function expectUnavailable(answer: ApiAnswer): void {
  expect([answer.status, answer.body]).toEqual([503, UNAVAILABLE]);
}

/** Expects that a request ends so: alone, and eight together. */
async function expectEach<Status>(what: string, ask: () => Promise<Status>, status: Status): Promise<void> {
  expect([what, await ask()]).toEqual([what, status]);
  expect([what, ...new Set(await Promise.all(times(8, ask)))]).toEqual([what, status]);
}

test('with an unassigned shard, every search is an error, and no licensed person is reported as not found', async () => {
  const { environment, restartApi, rest } = await startService({ settings: { INDEX_SHARDS: '2' } });
  const { store, client } = environment;
  const [index = ''] = await indicesUnderAlias(store);
  const { body: boards } = await rest.get('/api/v1/lookup/boards');
  const tracker = trackLivePublication(store, () => undefined);
  await tracker.refresh();
  tracker.stop();
  const lookups = liveLookups(store, tracker);
  const statusOf = (request: object) =>
    lookups.lookUp(readLookup(request, REQUEST_WORDS.rest)).then(
      ({ outcome }) => outcome.outcome,
      (error: unknown) => errorResponse(error).status,
    );
  const numbers = ['RN.700001', 'RN.700002', 'RN.700003', 'PN.700004', 'RN.700005'];
  const byNumber = numbers.map((number) => ({ board: NURSING, license_number: number }));
  for (const request of byNumber) expect(await statusOf(request)).toBe('found');

  await unassignOneShard(client, index);
  for (const [what, request] of Object.entries(SEARCHES))
    await expectEach(what, () => statusOf(request), 503);
  const found = await Promise.all(byNumber.map(statusOf));
  expect(new Set(found)).toEqual(new Set(['found', 503]));

  // A new process lists the boards as they were counted.
  await restartApi();
  expect(await rest.get('/api/v1/lookup/boards')).toMatchObject({ status: 200, body: boards });
  expectUnavailable(await rest.verify(SEARCHES['a surname']));
});

/** Turns a complete response from one shard into OpenSearch's response when that shard has failed. */
const failed = (text: string) =>
  text
    .replaceAll(/"successful":(\d+),"skipped":0,"failed":0/g, '"successful":0,"skipped":0,"failed":1')
    .replaceAll(/"failed":0/g, '"failed":1');

verifies('ERRORS-11', 'every search is an error, and every lookup once OpenSearch is gone', async () => {
  let isFailing = false;
  let isAway = false;
  const proxied: ProxyStep = async (request) => {
    if (isAway) return undefined;
    const answer = await request.forward();
    const isSearch = /_m?search/.test(request.path);
    return isFailing && isSearch ? { ...answer, body: failed(answer.body) } : answer;
  };
  const { rest } = await startService({ proxied });
  for (const [what, request] of Object.entries(SEARCHES)) {
    isFailing = true;
    await expectEach(what, async () => (await rest.verify(request)).status, 503);
    expectUnavailable(await rest.verify(request));
  }
  // Each lists persons and businesses, and counts them.
  for (const path of ['/?q=Smith', '/?q=Mary+Smith&city=Lima', '/?q=Best', '/?q=Nobody+Atall']) {
    const ask = async () => (await rest.request('GET', path, { headers: { accept: 'text/html' } })).status;
    isFailing = false;
    expect([path, await ask()]).toEqual([path, 200]);
    isFailing = true;
    await expectEach(path, ask, 503);
  }
  isAway = true;
  const away = await rest.verify({ board: NURSING, license_number: 'RN.700001' });
  expectUnavailable(away);
  expect(away.headers.get('retry-after')).toBe('5');
});

test('with an unassigned shard of the ledger, nothing is decided from the remaining shards', async () => {
  const environment = await testEnvironment();
  const { store, client } = environment;
  const index = store.names.ledger;
  const { mappings } = (await indexTemplate('publications')).template;
  const settings = { 'index.number_of_shards': 2, 'index.number_of_replicas': 0 };
  await client.indices.create({ index, body: { settings, mappings } });
  await prepareIndices(store);
  for (const publication of ['one', 'two', 'three', 'four', 'five', 'six'])
    await appendEvent(store, { publication, event: 'reading' });
  await publishFiles(environment, FIXTURES);
  const before = await licensesIndices(store);
  expect(before).toHaveLength(1);
  await unassignOneShard(client, index);
  await expect(readEvents(store)).rejects.toThrow();
  await expect(countDocuments(client, index)).rejects.toThrow();
  const everything = { index, body: { query: { match_all: {} } } };
  await expect(search(client, z.unknown(), everything)).rejects.toThrow();
  expect(await licensesIndices(store)).toEqual(before);
});

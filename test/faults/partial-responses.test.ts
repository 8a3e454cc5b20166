import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
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
import { FIXTURES } from '../support/fixtures.ts';
import type { ProxyStep } from '../support/proxy.ts';
import { publishFiles } from '../support/publishing.ts';
import { startService, type TestService } from '../support/service.ts';
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

describe('with an unassigned shard', () => {
  let service: TestService;
  let index: string;

  beforeAll(async () => {
    service = await startService({ settings: { INDEX_SHARDS: '2' } });
    const { store } = service.environment;
    [index = ''] = await indicesUnderAlias(store);
  });

  test('every search is an error, and no licensed person is reported as not found', async () => {
    const { environment, api, rest } = service;
    const { store, client } = environment;
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
    for (const [what, request] of Object.entries(SEARCHES)) {
      expect([what, await statusOf(request)]).toEqual([what, 503]);
      const together = await Promise.all(Array.from({ length: 8 }, () => statusOf(request)));
      expect([what, ...new Set(together)]).toEqual([what, 503]);
    }
    const found = await Promise.all(byNumber.map(statusOf));
    expect(new Set(found)).toEqual(new Set(['found', 503]));

    // A new process lists the boards as they were counted.
    await api.stop();
    const restarted = await startApi(environment.variables);
    try {
      expect(await rest.get('/api/v1/lookup/boards')).toMatchObject({ status: 200, body: boards });
      expectUnavailable(await rest.verify(SEARCHES['a surname']));
    } finally {
      await restarted.stop();
    }
  });
});

describe('with a failed shard', () => {
  let service: TestService;
  let isFailing = false;
  let isAway = false;

  /** Turns a complete response from one shard into OpenSearch's response when that shard has failed. */
  const failed = (text: string) =>
    text
      .replaceAll(/"successful":(\d+),"skipped":0,"failed":0/g, '"successful":0,"skipped":0,"failed":1')
      .replaceAll(/"failed":0/g, '"failed":1');

  beforeAll(async () => {
    const proxied: ProxyStep = async (request) => {
      if (isAway) return undefined;
      const answer = await request.forward();
      const isSearch = /_m?search/.test(request.path);
      return isFailing && isSearch ? { ...answer, body: failed(answer.body) } : answer;
    };
    service = await startService({ proxied });
  });

  verifies('ERRORS-11', 'every search is an error, and every lookup once OpenSearch is gone', async () => {
    const { environment, rest } = service;
    expect((await rest.verify(SEARCHES['a surname'])).status).toBe(200);
    isFailing = true;
    for (const [what, request] of Object.entries(SEARCHES)) {
      expect([what, (await rest.verify(request)).status]).toEqual([what, 503]);
      const together = await Promise.all(Array.from({ length: 8 }, () => rest.verify(request)));
      together.forEach(expectUnavailable);
    }
    const origin = `http://127.0.0.1:${environment.config.PORT}`;
    const statusOf = async (path: string) =>
      (await fetch(origin + path, { headers: { accept: 'text/html' } })).status;
    // Each lists persons and businesses, and counts them.
    for (const path of ['/?q=Smith', '/?q=Mary+Smith&city=Lima', '/?q=Best', '/?q=Nobody+Atall']) {
      isFailing = false;
      expect([path, await statusOf(path)]).toEqual([path, 200]);
      isFailing = true;
      expect([path, await statusOf(path)]).toEqual([path, 503]);
      const together = await Promise.all(Array.from({ length: 8 }, () => statusOf(path)));
      expect([path, ...new Set(together)]).toEqual([path, 503]);
    }
    isAway = true;
    const away = await rest.verify({ board: NURSING, license_number: 'RN.700001' });
    expectUnavailable(away);
    expect(away.headers.get('retry-after')).toBe('5');
  });
});

describe('with an unassigned shard of the ledger', () => {
  let environment: TestEnvironment;

  beforeEach(async () => {
    environment = await testEnvironment();
    const { store, client } = environment;
    const { mappings } = (await indexTemplate('publications')).template;
    await client.indices.create({
      index: store.names.ledger,
      body: {
        settings: { 'index.number_of_shards': 2, 'index.number_of_replicas': 0 },
        mappings,
      },
    });
    await prepareIndices(store);
    for (const publication of ['one', 'two', 'three', 'four', 'five', 'six']) {
      await appendEvent(store, { publication, event: 'reading' });
    }
  });

  test('nothing is decided from the remaining shards', async () => {
    const { store, client } = environment;
    await publishFiles(environment, FIXTURES);
    const before = await licensesIndices(store);
    expect(before).toHaveLength(1);
    await unassignOneShard(client, store.names.ledger);
    await expect(readEvents(store)).rejects.toThrow();
    await expect(countDocuments(client, store.names.ledger)).rejects.toThrow();
    await expect(
      search(client, z.unknown(), { index: store.names.ledger, body: { query: { match_all: {} } } }),
    ).rejects.toThrow();
    expect(await licensesIndices(store)).toEqual(before);
  });
});

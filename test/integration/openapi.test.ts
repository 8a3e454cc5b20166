import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { type ApiAnswer, apiClient } from '../support/api.ts';
import { documentText } from '../support/documented.ts';
import { ERRORS_PAGE, errorsPage } from '../support/errors-page.ts';
import { fixturesAnd, nurseRow, times } from '../support/fixtures.ts';
import {
  answerChecker,
  checkExamples,
  keyScheme,
  type OpenApi,
  openApiIn,
  requestExamples,
  responseExamples,
} from '../support/openapi.ts';
import { startService, type TestService } from '../support/service.ts';

const VERIFY = '/api/v1/lookup/verify';
const CACHED = '/api/v1/lookup/cached';
const BOARDS = '/api/v1/lookup/boards';
const TYPES = '/api/v1/lookup/boards/{board}/types';
const NURSING = 'Nursing Board';
/** More than a response lists. */
const MANY = 101;

/** In both files of the fixtures. */
const FIXTURE_ROWS = 28;

let service: TestService;
let document: OpenApi;
let check: ReturnType<typeof answerChecker>;

beforeAll(async () => {
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          ...times(MANY, (number) => nurseRow(`DOCUMENTED, D${number}`, `RN.${940_000 + number}`)),
        ],
      }),
  });
  document = openApiIn(await service.rest.get('/openapi.json'));
  check = answerChecker(document);
});

test(`${ERRORS_PAGE} has the errors of the OpenAPI document`, async () => {
  if (process.env.RECORD === '1') await writeFile(ERRORS_PAGE, errorsPage(document));
  expect(documentText(ERRORS_PAGE)).toBe(errorsPage(document));
});

function raw(path: string, body: string, headers: Record<string, string>): Promise<ApiAnswer> {
  return service.rest.request('POST', path, { body, headers });
}

const JSON_TYPE = { 'content-type': 'application/json' };

test('a blank query parameter counts as absent, and one that is sent twice is refused', async () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters }]) => ({ path, method, parameters })),
  );
  const queries = operations.flatMap(({ parameters, ...operation }) =>
    parameters.filter((each) => each.in === 'query').map(({ name }) => ({ ...operation, name })),
  );
  expect(queries.length).toBeGreaterThan(10);
  for (const { path, method, name } of queries) {
    const [example] = requestExamples(document, method, path);
    const options = example === undefined ? {} : { body: JSON.stringify(example), headers: JSON_TYPE };
    const ask = (query: string) => service.rest.request(method.toUpperCase(), `${path}?${query}`, options);
    const [without, blank, twice] = [
      await ask(''),
      await ask(`${name}=%20`),
      await ask(`${name}=1&${name}=1`),
    ];
    expect([path, name, blank.status, blank.body]).toEqual([path, name, without.status, without.body]);
    expect([path, name, twice.status, twice.body]).toMatchObject([
      ...[path, name, 400],
      { detail: `${name} is sent twice; send it once.` },
    ]);
  }
});

describe('the response matches the OpenAPI document:', () => {
  test.each<[string, number, object]>([
    ['a record', 200, { board: NURSING, license_number: 'RN.940001' }],
    [
      'a record with name_match',
      200,
      { board: NURSING, license_number: 'rn 940001', last_name: 'Documented' },
    ],
    ['too many matches', 200, { board: NURSING, last_name: 'Documented' }],
    ['some matches', 200, { board: NURSING, last_name: 'Documented', first_name: 'D1' }],
    ['one match', 200, { board: NURSING, last_name: 'Documented', first_name: 'D77' }],
    ['no match', 200, { board: NURSING, last_name: 'Documnted' }],
    ['a business', 200, { board: 'Board of Pharmacy', search_type: 'business', business_name: 'best' }],
    ['no business', 200, { board: 'Board of Pharmacy', search_type: 'business', business_name: 'zzz' }],
    ['a number that nobody has', 404, { board: NURSING, license_number: 'RN.0940001' }],
    ['a number at another board', 404, { board: 'Board of Pharmacy', license_number: 'RN.940001' }],
    ['an unknown board', 400, { board: 'Nursing', license_number: 'RN.940001' }],
    ['a body without search fields', 400, { board: NURSING }],
    ['a field that is not a string', 400, { board: NURSING, license_number: 940001 }],
  ])('%s', async (_what, status, body) => {
    for (const path of [VERIFY, CACHED]) {
      const answer = await service.rest.verify(body, path);
      expect(answer.status).toBe(status);
      check('post', path, answer);
    }
  });

  test('errors before the body is read', async () => {
    const good = JSON.stringify({ board: NURSING, license_number: 'RN.940001' });
    for (const path of [VERIFY, CACHED]) {
      const refused: [number, ApiAnswer][] = [
        [400, await raw(path, '{', JSON_TYPE)],
        [401, await raw(path, good, { ...JSON_TYPE, 'x-api-key': 'olv_wrong' })],
        [413, await raw(path, JSON.stringify({ board: 'x'.repeat(20_000) }), JSON_TYPE)],
        [415, await raw(path, good, { 'content-type': 'text/plain' })],
      ];
      for (const [status, answer] of refused) {
        expect(answer.status).toBe(status);
        check('post', path, answer);
      }
    }
  });

  test('the boards and their types', async () => {
    check('get', BOARDS, await service.rest.get(BOARDS));
    check('get', TYPES, await service.rest.get(TYPES.replace('{board}', encodeURIComponent(NURSING))));
    const unknown = await service.rest.get(TYPES.replace('{board}', 'Nursing'));
    expect(unknown.status).toBe(400);
    check('get', TYPES, unknown);
    const keyless = await service.rest.request('GET', BOARDS, { headers: { 'x-api-key': '' } });
    expect(keyless.status).toBe(401);
    check('get', BOARDS, keyless);
  });

  test('the status, with the live publication and the last runs', async () => {
    const answer = await service.rest.get('/status');
    check('get', '/status', answer);
    const { store, client } = service.environment;
    const { body: stored } = await client.count({
      index: store.names.alias,
      body: { query: { term: { board: NURSING } } },
    });
    expect(stored.count).toBeGreaterThan(MANY);
    expect(answer.body).toMatchObject({
      publication: { date: '2026-11-20', sample: false },
      licenses_by_board: { [NURSING]: stored.count },
      last_runs: [{ state: 'live', date: '2026-11-20', counts: { rows: FIXTURE_ROWS + MANY } }],
    });
  });

  test('nothing is published, and too many requests', async () => {
    const bare = await testEnvironment({ REST_REQUESTS_PER_MINUTE: '1' });
    const api = await startApi(bare.variables);
    try {
      const rest = await apiClient(bare);
      for (const status of [503, 429]) {
        const answer = await rest.verify({ board: NURSING, license_number: 'RN.940001' });
        expect(answer.status).toBe(status);
        check('post', VERIFY, answer);
      }
      const unpublished = await rest.get('/status');
      expect(unpublished.body).toMatchObject({ publication: null, licenses_by_board: {}, last_runs: [] });
      check('get', '/status', unpublished);
    } finally {
      await api.stop();
      await bare.cleanUp();
    }
  });
});

test('the page at /docs loads only files of this server, and only GET and HEAD are allowed', async () => {
  const page = await service.rest.get('/docs');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(page.text).toContain('href="/developers"');
  const files = [...page.text.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]*)"/g)].map(
    ([, address = '']) => address,
  );
  const [icon, ...own] = files;
  expect(icon).toBe('data:,');
  expect(own).toEqual(['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/page.js']);
  for (const file of own) {
    const { status, text, headers } = await service.rest.get(file);
    expect([file, status, headers.get('content-type')]).toEqual([
      file,
      200,
      expect.stringMatching(file.endsWith('.css') ? /^text\/css/ : /^text\/javascript/),
    ]);
    expect(text.length).toBeGreaterThan(50);
  }
  for (const path of ['/docs', ...own, '/openapi.json', '/status', '/']) {
    const refused = await service.rest.request('POST', path);
    expect([path, refused.status, refused.headers.get('allow')]).toEqual([path, 405, 'HEAD, GET']);
  }
});

describe('the documented example equals the response of the service:', () => {
  test.each<[number, () => Promise<ApiAnswer>]>([
    [401, () => raw(VERIFY, '{}', { ...JSON_TYPE, 'x-api-key': 'olv_wrong' })],
    [413, () => raw(VERIFY, JSON.stringify({ board: 'x'.repeat(20_000) }), JSON_TYPE)],
    [415, () => raw(VERIFY, '{}', { 'content-type': 'text/plain' })],
  ])('the error %d', async (status, ask) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    // The age of the data is of today.
    const { detail } = z.object({ detail: z.string() }).parse(answer.body);
    expect({ detail }).toEqual(responseExamples(document, 'post', VERIFY, String(status)).example);
  });

  test('some boards and their types', async () => {
    const boards = responseExamples(document, 'get', BOARDS, '200');
    expect((await service.rest.get(BOARDS)).body).toMatchObject({
      boards: expect.arrayContaining([NURSING]),
      board_details: {
        [NURSING]: { code: 'NUR', license_types: expect.arrayContaining(['Registered Nurse (RN)']) },
      },
    });
    expect(boards.example).toMatchObject({ boards: [NURSING] });
    const unknown = await service.rest.get(TYPES.replace('{board}', 'Nursing'));
    expect(unknown.body).toEqual(responseExamples(document, 'get', TYPES, '400').example);
    const nowhere = await service.rest.get('/api/v1/lookup/nothing');
    expect(nowhere.body).toEqual(responseExamples(document, 'get', TYPES, '404').example);
  });
});

test('the document says how to get a key, that it is free, what fair use is, and that it is not for client-side code', () => {
  const { description } = keyScheme(document);
  expect(description).toMatch(/free for every verified business: ask the operator/);
  expect(description).toMatch(/Fair use applies: 1,000,000 requests a minute/);
  expect(description).toMatch(/never belongs in client-side code/);
});

describe('generators of clients can read', () => {
  /** Each part of the document that is an object, with the names of the parts that it is in. */
  function* partsOf(
    part: unknown,
    place: readonly string[] = [],
  ): Generator<[string, Record<string, unknown>]> {
    if (typeof part !== 'object' || part === null) return;
    if (!Array.isArray(part)) yield [place.join(' '), z.record(z.string(), z.unknown()).parse(part)];
    for (const [name, inner] of Object.entries(part)) {
      // What is in there is data.
      if (name !== 'examples') yield* partsOf(inner, [...place, name]);
    }
  }

  function partsWith(isWrong: (part: Record<string, unknown>) => boolean): string[] {
    return [...partsOf(document)].filter(([, part]) => isWrong(part)).map(([place]) => place);
  }

  test('its version: 3.1 is new to some', () => {
    expect(document.openapi).toBe('3.0.3');
    expect(document).not.toHaveProperty('webhooks');
  });

  test('its patterns, which have no classes of Unicode and are not an alternation as a whole', () => {
    const wrong = partsWith(
      ({ pattern }) =>
        typeof pattern === 'string' &&
        (/\\[pP]/.test(pattern) || pattern.replaceAll(/\([^()]*\)/g, '').includes('|')),
    );
    expect(wrong).toEqual([]);
  });

  test('its nulls: a schema says nullable, and is never merged with another one that does not', () => {
    expect(partsWith(({ type }) => Array.isArray(type) || type === 'null')).toEqual([]);
    const merged = ({ allOf, properties }: Record<string, unknown>) =>
      Array.isArray(allOf) && (allOf.length > 1 || properties !== undefined);
    expect(partsWith(merged)).toEqual([]);
  });

  test('its alternatives and the values of its maps, which are schemas with a name', () => {
    const isNamed = (schema: unknown) =>
      typeof schema !== 'object' || schema === null || !('properties' in schema);
    const wrong = partsWith(
      ({ oneOf, anyOf, additionalProperties }) =>
        ![oneOf, anyOf].flat().filter(Boolean).every(isNamed) || !isNamed(additionalProperties ?? {}),
    );
    expect(wrong).toEqual([]);
  });

  test('its names, which differ across tags, schemas and operations, and end as no file of tests does', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const named = z.object({ operationId: z.string(), tags: z.tuple([z.string()]) });
    const ids = operations.map((operation) => named.parse(operation));
    const schemas = Object.keys(
      z.looseObject({ schemas: z.record(z.string(), z.unknown()) }).parse(document.components).schemas,
    );
    const tags = [...new Set(ids.map(({ tags: [tag] }) => tag))];
    const names = [...schemas, ...tags].map((name) => name.toLowerCase());
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(new Set(ids.map(({ operationId }) => operationId)).size).toBe(ids.length);
    expect(schemas.filter((name) => /test$|^New/i.test(name))).toEqual([]);
  });

  test('its bodies: requests are JSON, responses JSON first', () => {
    const types = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ requestBody, responses }) => [
        ...(requestBody === undefined ? [] : [Object.keys(requestBody.content).join()]),
        ...Object.values(responses).flatMap(({ content }) => Object.keys(content)[0] ?? []),
      ]),
    );
    expect([...new Set(types)]).toEqual(['application/json']);
  });
});

test('every example in the document fits its schema', () => {
  expect(checkExamples(document)).toBeGreaterThan(10);
});

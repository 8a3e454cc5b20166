import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { ApiAnswer } from '../support/api.ts';
import { documentedTables, documentText } from '../support/documented.ts';
import { ERRORS_PAGE, errorsPage } from '../support/errors-page.ts';
import {
  answerChecker,
  checkExamples,
  keyScheme,
  openApiIn,
  requestExamples,
  responseExamples,
} from '../support/openapi.ts';
import { sharedService } from '../support/shared-service.ts';

const VERIFY = '/api/v1/lookup/verify';
const NURSING = 'Nursing Board';

/** In both files of the fixtures. */
const FIXTURE_ROWS = 28;

const { environment, rest } = await sharedService();
const document = openApiIn(await rest.get('/openapi.json'));

test(`${ERRORS_PAGE} has the errors of the OpenAPI document`, async () => {
  if (process.env.RECORD === '1') await writeFile(ERRORS_PAGE, errorsPage(document));
  expect(documentText(ERRORS_PAGE)).toBe(errorsPage(document));
});

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
    const ask = (query: string) => rest.request(method.toUpperCase(), `${path}?${query}`, { json: example });
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

test('the status has the live publication and the last runs', async () => {
  const check = answerChecker(document);
  check('get', '/api/v1/lookup/boards', await rest.get('/api/v1/lookup/boards'));
  const answer = await rest.get('/status');
  check('get', '/status', answer);
  const { store, client } = environment;
  const { body: stored } = await client.count({
    index: store.names.alias,
    body: { query: { term: { board: NURSING } } },
  });
  expect(stored.count).toBeGreaterThan(5);
  expect(answer.body).toMatchObject({
    publication: { date: '2026-11-20', sample: false },
    licenses_by_board: { [NURSING]: stored.count },
    last_runs: [{ state: 'live', date: '2026-11-20', counts: { rows: FIXTURE_ROWS } }],
  });
});

test('responses have the headers that docs/api.md says, where it says', async () => {
  const nurse = { board: NURSING, license_number: 'RN.700001' };
  const answers = {
    lookup: await rest.verify(nurse),
    deprecated: await rest.verify(nurse, '/api/v1/lookup/cached'),
    method: await rest.get(VERIFY),
    status: await rest.get('/status'),
    mcp: await rest.callTool('list_ohio_boards', {}),
  };
  const [table] = documentedTables('docs/api.md', 'response header');
  const documented = (table?.rows ?? []).map(([name = '']) => name.replaceAll('`', ''));
  const have = (name: string) =>
    Object.entries<ApiAnswer>(answers).flatMap(([answer, { headers }]) =>
      headers.has(name) ? [answer] : [],
    );
  const all = Object.keys(answers);
  expect(Object.fromEntries(documented.map((name) => [name, have(name)]))).toEqual({
    ...{ 'X-Request-Id': all, 'X-RateLimit-Limit': all, 'X-RateLimit-Remaining': all },
    ...{ 'X-RateLimit-Reset': all, 'Retry-After': [], Allow: ['method'] },
    ...{ Deprecation: ['deprecated'], Link: ['deprecated'], 'Cache-Control': all },
  });
  expect(answers.lookup.headers.get('cache-control')).toBe('no-store');
  expect(answers.lookup.headers.get('access-control-allow-origin')).toBeNull();
  const since = Number(answers.deprecated.headers.get('deprecation')?.slice(1)) * 1000;
  expect(new Date(since).toISOString()).toMatch(/^2026-01-01T00:00:00/);
});

test('the page at /docs may load only files of this server', async () => {
  const page = await rest.get('/docs');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(page.text).toContain('href="/developers"');
});

test.each<[number, RequestInit & { json?: unknown }]>([
  [401, { json: {}, headers: { 'x-api-key': 'olv_wrong' } }],
  [413, { json: { board: 'x'.repeat(20_000) } }],
  [415, { body: '{}', headers: { 'content-type': 'text/plain' } }],
])('the documented example equals the response of the service: the error %d', async (status, sent) => {
  const answer = await rest.request('POST', VERIFY, sent);
  expect(answer.status).toBe(status);
  // The age of the data is of today.
  const { detail } = z.object({ detail: z.string() }).parse(answer.body);
  expect({ detail }).toEqual(responseExamples(document, 'post', VERIFY, String(status)).example);
});

test('the document says how to get a key, that it is free, what fair use is, and that it is not for client-side code', () => {
  const { description } = keyScheme(document);
  expect(description).toMatch(/free for every verified business: ask the operator/);
  expect(description).toMatch(/Fair use applies: 1,000,000 requests a minute/);
  expect(description).toMatch(/never belongs in client-side code/);
});

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

test('generators of clients can read its version: 3.1 is new to some', () => {
  expect(document.openapi).toBe('3.0.3');
  expect(document).not.toHaveProperty('webhooks');
});

const isNamed = (schema: unknown) =>
  typeof schema !== 'object' || schema === null || !('properties' in schema);

test.each<[what: string, isWrong: (part: Record<string, unknown>) => boolean]>([
  [
    'patterns with classes of Unicode, or that are an alternation as a whole',
    ({ pattern }) =>
      typeof pattern === 'string' &&
      (/\\[pP]/.test(pattern) || pattern.replaceAll(/\([^()]*\)/g, '').includes('|')),
  ],
  ['nulls that are a type: a schema says nullable', ({ type }) => Array.isArray(type) || type === 'null'],
  [
    'schemas that are merged with another one',
    ({ allOf, properties }) => Array.isArray(allOf) && (allOf.length > 1 || properties !== undefined),
  ],
  [
    'alternatives and values of maps without a name',
    ({ oneOf, anyOf, additionalProperties }) =>
      ![oneOf, anyOf].flat().filter(Boolean).every(isNamed) || !isNamed(additionalProperties ?? {}),
  ],
])('generators of clients can read it without %s', (_what, isWrong) => {
  const wrong = [...partsOf(document)].filter(([, part]) => isWrong(part));
  expect(wrong.map(([place]) => place)).toEqual([]);
});

test('generators of clients can read its names, which differ across tags, schemas and operations, and end as no file of tests does', () => {
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

test('generators of clients can read its bodies: requests are JSON, responses JSON first', () => {
  const types = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ requestBody, responses }) => [
      ...(requestBody === undefined ? [] : [Object.keys(requestBody.content).join()]),
      ...Object.values(responses).flatMap(({ content }) => Object.keys(content)[0] ?? []),
    ]),
  );
  expect([...new Set(types)]).toEqual(['application/json']);
});

test('every example in the document fits its schema', () => {
  expect(checkExamples(document)).toBeGreaterThan(10);
});

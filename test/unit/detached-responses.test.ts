import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../scripts/ports.ts';
import { readConfig } from '../../src/config.ts';
import { openSearchClient } from '../../src/storage/store.ts';

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.statusCode = request.url === '/lost/_search' ? 404 : 200;
    response.setHeader('content-type', 'application/json').end('{"hits":{"hits":[]}}');
  });
});
const port = await freePort();
const client = openSearchClient(readConfig({ OPENSEARCH_URL: `http://127.0.0.1:${port}` }), 1000);

beforeAll(async () => {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  await client.close();
  server.close();
});

test('a response is an object of its own, without the getter of the client’s', async () => {
  const response = await client.search({ index: 'licenses' });
  expect(Object.getOwnPropertyNames(response).toSorted()).toEqual(['body', 'headers', 'meta', 'statusCode']);
  expect(response).toMatchObject({ statusCode: 200, body: { hits: { hits: [] } } });
});

test('a status of 400 and above is an error', async () => {
  await expect(client.search({ index: 'lost' })).rejects.toMatchObject({ statusCode: 404 });
});

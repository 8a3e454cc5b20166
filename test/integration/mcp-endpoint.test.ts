import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { times } from '../support/fixtures.ts';
import { toolResult } from '../support/mcp-tools.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const schema = z.looseObject({ type: z.literal('object') });
const tool = z.object({ inputSchema: schema, outputSchema: schema });
const toolList = z.object({ result: z.object({ tools: z.array(tool) }) });
const resourceList = z.object({
  result: z.object({ resources: z.tuple([z.looseObject({ uri: z.string() })]) }),
});

let service: TestService;

beforeAll(async () => {
  service = await startService({
    settings: {
      MCP_ALLOWED_HOSTS: 'licenses.example',
      MCP_ALLOWED_ORIGINS: 'https://assistant.example',
    },
  });
});

describe('the MCP endpoint', () => {
  const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

  function posted(headers: Record<string, string>, body = LIST) {
    return rawRequest({
      port: service.environment.config.PORT,
      method: 'POST',
      path: '/mcp',
      headers: {
        host: 'localhost',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      },
      body,
    });
  }

  verifies(
    'MCP-10',
    'accepts the Host and Origin of this machine and the configured ones, and no others',
    async () => {
      for (const host of [
        'localhost',
        '127.0.0.1:8080',
        '[::1]:8080',
        'licenses.example',
        'licenses.example:443',
      ]) {
        expect([host, (await posted({ host })).status]).toEqual([host, 200]);
      }
      for (const host of [
        'evil.example',
        'licenses.example.evil.example',
        'localhost.evil.example',
        'a b',
        '[::',
      ]) {
        const { status, text } = await posted({ host });
        expect([host, status, text]).toEqual([host, 403, expect.stringContaining('MCP_ALLOWED_HOSTS')]);
      }
      for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'https://assistant.example']) {
        expect([origin, (await posted({ origin })).status]).toEqual([origin, 200]);
      }
      for (const origin of ['https://evil.example', 'https://assistant.example.evil.example', 'null', 'x']) {
        const answer = await posted({ origin });
        expect([origin, answer.status]).toEqual([origin, 403]);
        expect(answer.text).toContain('MCP_ALLOWED_ORIGINS');
      }
    },
  );

  test('lets browsers call it from pages of the configured origins, and of no others', async () => {
    for (const [origin, mayCall] of [
      ['http://localhost:3000', true],
      ['https://assistant.example', true],
      ['https://evil.example', false],
      ['null', false],
    ] as const) {
      const preflight = await rawRequest({
        port: service.environment.config.PORT,
        method: 'OPTIONS',
        path: '/mcp',
        headers: {
          ...{ host: 'localhost', origin },
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type,mcp-protocol-version',
        },
      });
      expect([origin, preflight.status]).toEqual([origin, mayCall ? 204 : 403]);
      expect(preflight.headers.get('access-control-allow-origin')).toBe(mayCall ? origin : null);
      expect(preflight.headers.get('access-control-allow-headers')).toBe(
        mayCall ? 'content-type,mcp-protocol-version' : null,
      );
      expect((await posted({ origin })).headers.get('access-control-allow-origin')).toBe(
        mayCall ? origin : null,
      );
    }
    expect((await posted({})).headers.get('access-control-allow-origin')).toBeNull();
  });

  verifies(['MCP-11', 'ERRORS-09'], 'accepts only POST and says so', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
      for (const session of [{}, { 'mcp-session-id': 'made-up' }]) {
        const answer = await rawRequest({
          port: service.environment.config.PORT,
          ...{ method, path: '/mcp' },
          headers: { host: 'localhost', accept: 'text/event-stream', ...session },
        });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
        expect(answer.body).toEqual({ detail: expect.stringContaining('POST') });
      }
    }
  });

  function call(method: string, params: unknown = {}, id: unknown = 1) {
    return posted({}, JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  const MODERN = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };

  function modernCall(method: string, params: Record<string, unknown> = {}, name?: string) {
    return posted(
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name && { 'mcp-name': name }) },
      JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params: { ...params, _meta: MODERN } }),
    );
  }

  test('refuses JSON-RPC batches, which could hide many calls in one request', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    for (const batch of [[], [list], [list, { ...list, id: 2 }], [list, cancel], times(100, () => list)]) {
      const { status, body } = await posted({}, JSON.stringify(batch));
      expect([status, body]).toEqual([
        400,
        { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.stringContaining('by itself') } },
      ]);
    }
  });

  test('refuses subscriptions, because it keeps no stream open', async () => {
    const { status, body } = await modernCall('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    expect([status, body]).toEqual([
      404,
      {
        jsonrpc: '2.0',
        id: 'a',
        error: { code: -32601, message: expect.stringContaining('no subscriptions') },
      },
    ]);
    const discovered = await modernCall('server/discover');
    const capabilities = { tools: { listChanged: false }, resources: { listChanged: false } };
    expect(discovered.body).toMatchObject({ result: { capabilities } });
    expect(discovered.text).not.toMatch(/subscribe|prompts|logging/);
  });

  test('lets clients of the 2026 revision cache the list of tools for an hour', async () => {
    for (const method of ['tools/list', 'server/discover']) {
      const { status, body } = await modernCall(method);
      expect([status, body]).toMatchObject([200, { result: { ttlMs: 3_600_000, cacheScope: 'public' } }]);
    }
    expect((await call('tools/list')).text).not.toMatch(/ttlMs|cacheScope/);
  });

  test('answers an invalid message with a JSON-RPC error that does not reveal the exception', async () => {
    for (const [method, params] of [
      ['tools/call', { name: 7 }],
      ['tools/call', { name: 'verify_license', arguments: [] }],
      ['tools/call', undefined],
      ['tools/list', { cursor: 7 }],
      ['initialize', { protocolVersion: 'x' }],
    ] as const) {
      const { status, body } = await call(method, params);
      expect([status, body]).toEqual([
        200,
        {
          ...{ jsonrpc: '2.0', id: 1 },
          error: { code: -32602, message: 'Invalid params: they do not fit the method.' },
        },
      ]);
    }
    for (const name of ['drop_licenses', '__proto__', 'constructor', 'toString']) {
      expect((await call('tools/call', { name })).body).toMatchObject({ error: { code: -32602 } });
    }
    expect((await call('prompts/list')).body).toMatchObject({ error: { code: -32601 } });
  });

  test.each(['application/json', '*/*', 'application/*', 'text/html, */*;q=0.1', ''])(
    'answers with JSON whoever takes it: Accept: %s',
    async (accept) => {
      const { status, headers, body } = await posted({ accept });
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      expect(body).toHaveProperty('result');
      const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list', accept };
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: MODERN } };
      expect((await posted(modern, JSON.stringify(list))).status).toBe(200);
    },
  );

  test('answers a notification without a body and without its type', async () => {
    const { status, text, headers } = await posted(
      {},
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    );
    expect([status, text, headers.get('content-type')]).toEqual([202, '', null]);
  });

  test('its list of tools is short, and every validator of JSON Schema takes the schemas', async () => {
    for (const answer of [await call('tools/list'), await modernCall('tools/list')]) {
      expect(Buffer.byteLength(answer.text)).toBeLessThan(25_000);
      const { tools } = toolList.parse(answer.body).result;
      expect(tools).toHaveLength(6);
      for (const { inputSchema, outputSchema } of tools) {
        for (const schema of [inputSchema, outputSchema]) {
          expect(schema).not.toHaveProperty('$schema');
          for (const ajv of [new Ajv({ logger: false }), new Ajv2020({ logger: false })]) ajv.compile(schema);
        }
      }
    }
  });

  test('offers the guide as a resource, as a skill begins', async () => {
    const { body: listed } = await call('resources/list');
    const [guide] = resourceList.parse(listed).result.resources;
    expect(guide).toEqual({
      uri: 'skill://verify-ohio-license/SKILL.md',
      name: 'verify-ohio-license',
      description: expect.stringMatching(/^How to verify an Ohio .{50}/),
      mimeType: 'text/markdown',
    });
    const text = await readFile('docs/assistants.md', 'utf8');
    expect(text).toMatch(/^---\nname: [a-z-]{1,64}\ndescription: .{1,1024}\n---\n/);
    const { body } = await modernCall('resources/read', { uri: guide?.uri }, guide?.uri);
    expect(body).toMatchObject({
      result: { contents: [{ uri: guide?.uri, mimeType: 'text/markdown', text }] },
    });
    expect((await call('resources/templates/list')).body).toMatchObject({
      result: { resourceTemplates: [] },
    });
    expect((await call('resources/read', { uri: 'skill://other' })).body).toHaveProperty('error');
  });

  verifies('KEYS-05', 'needs no key and ignores a bad one', async () => {
    expect((await posted({})).status).toBe(200);
    expect((await posted({ 'x-api-key': 'bad' })).status).toBe(200);
  });

  test('refuses invalid JSON-RPC, too large bodies and other media types without revealing internals', async () => {
    for (const [body, headers, statuses] of [
      ['{', {}, [400]],
      ['', {}, [400]],
      [`"${'x'.repeat(300_000)}"`, {}, [413]],
      ['[]', {}, [400]],
      ['null', {}, [400]],
      [`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(17_000)}"}`, {}, [413]],
      [LIST, { 'content-type': 'text/plain' }, [415]],
      [LIST, { accept: 'text/html' }, [406]],
    ] as const) {
      const answer = await posted(headers, body);
      expect([body.slice(0, 20), headers, statuses]).toEqual([
        body.slice(0, 20),
        headers,
        expect.arrayContaining([answer.status]),
      ]);
      expect(answer.text).not.toMatch(/node_modules|\.ts:|\n\s+at /);
    }
  });
});

verifies(
  ['ERRORS-11', 'ERRORS-07'],
  'while OpenSearch is away, a tool says that lookups are unavailable without revealing internals',
  async () => {
    const [closed, port, adminPort] = await freePorts(3);
    const api = await startApi({
      ...service.environment.variables,
      OPENSEARCH_URL: `http://127.0.0.1:${closed}`,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
    });
    const client = new Client({ name: 'tests', version: '1' });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
      const call = { name: 'verify_license', arguments: { license_number: 'RN.700001' } };
      const { isError, content } = toolResult.parse(await client.callTool(call));
      expect(isError).toBe(true);
      expect(content[0].text).toMatch(/not available right now/);
      expect(content[0].text).not.toMatch(/opensearch|127\.0\.0\.1|ECONN/i);
    } finally {
      await client.close();
      await api.stop();
    }
  },
);

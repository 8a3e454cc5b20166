import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import envelopes from '../fixtures/mcp-envelopes.json' with { type: 'json' };
import type { ApiAnswer } from '../support/api.ts';
import { times } from '../support/fixtures.ts';
import { rawRequest } from '../support/raw-http.ts';
import { sharedService } from '../support/shared-service.ts';
import { verifies } from '../support/verifies.ts';

const NUMBER = 'RN.700001';

const schema = z.looseObject({ type: z.literal('object') });
const tool = z.object({ inputSchema: schema, outputSchema: schema });
const toolList = z.object({ result: z.object({ tools: z.array(tool) }) });
const resourceList = z.object({
  result: z.object({ resources: z.tuple([z.looseObject({ uri: z.string() })]) }),
});

// The transcripts mcp-2025.http, mcp-2026.http and mcp-origins.http have what every client sees.

const port = (await sharedService()).environment.config.PORT;

/** A message of the revisions before 2026. */
const message = (method: string, params: object = {}, id: number | string = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

const INITIALIZE = message('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'tests', version: '1' },
});
const LIST = message('tools/list');
const NURSE = { name: 'verify_license', arguments: { license_number: NUMBER } };
const CALL = message('tools/call', NURSE);
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const ENVELOPE = { [VERSION_KEY]: '2026-07-28', [CAPABILITIES_KEY]: {} };
const MODERN_CALL = message('tools/call', { ...NURSE, _meta: ENVELOPE });
const MODERN_HEADERS = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'verify_license',
};

const posted = (body: string, headers: Record<string, string> = {}) =>
  rawRequest(port, '/mcp', {
    ...{ method: 'POST', body },
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });

/** What a client sees of an answer. */
const answered = ({ status, text, headers }: ApiAnswer) => [status, text, headers.get('content-type')];

describe('the MCP server', () => {
  verifies('MCP-11', 'has no sessions, ignores an invented one, and takes only POST', async () => {
    for (const [body, headers] of [
      [INITIALIZE, {}],
      [LIST, {}],
      [CALL, {}],
      [MODERN_CALL, MODERN_HEADERS],
    ] as const) {
      const plain = await posted(body, headers);
      const madeUp = await posted(body, { ...headers, 'mcp-session-id': 'made-up' });
      expect([plain.status, madeUp.status, madeUp.text]).toEqual([200, 200, plain.text]);
      for (const each of [plain, madeUp]) expect(each.headers.has('mcp-session-id')).toBe(false);
    }
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const headers = { host: 'localhost', accept: 'text/event-stream', 'mcp-session-id': 'made-up' };
      const answer = await rawRequest(port, '/mcp', { method, headers });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
  });

  verifies('MCP-11', 'gives calls with the same id at the same moment each its own answer', async () => {
    const asked = times(45, (at) => {
      const id = [1, 'one', 0][at % 3] ?? 0;
      const number = at % 5 === 0 ? `RN.unknown${at}` : NUMBER;
      const isModern = at % 2 === 0;
      const call = { ...NURSE, arguments: { license_number: number }, ...(isModern && { _meta: ENVELOPE }) };
      return { id, number, isModern, body: message('tools/call', call, id) };
    });
    const answers = await Promise.all(
      asked.map(({ body, isModern }) => posted(body, isModern ? MODERN_HEADERS : {})),
    );
    for (const [at, { id, number }] of asked.entries()) {
      const licenses = number === NUMBER ? [{ license_number: NUMBER }] : [];
      const structuredContent = { searched: { license_number: number }, licenses };
      expect(answers[at]?.body).toMatchObject({ id, result: { structuredContent } });
    }
  });

  // A parameter of the protocol that is not known makes the SDK answer a call; without it the service does.
  test.each<[string, Record<string, unknown>]>([
    ['verify_license', { license_number: NUMBER }],
    ['verify_license', { license_number: 'RN.unknown' }],
    ['verify_license', { board: 'Nurse', license_number: 7 }],
    ['verify_license', {}],
    ['search_licenses_by_name', { last_name: 'Muñoz', unknown: 1 }],
    ['verify_business_license', { business_name: 'Smith' }],
    ['verify_roster', { licenses: [{ license_number: NUMBER }, {}] }],
    ['license_history', { board: 'Nursing Board', license_number: NUMBER }],
    ['list_ohio_boards', {}],
    ['no_tool', {}],
  ])('answers a call exactly as the SDK does: %s %j', async (name, given) => {
    for (const [meta, headers] of [
      [{}, {}],
      [{ _meta: ENVELOPE }, { ...MODERN_HEADERS, 'mcp-name': name }],
    ] as const) {
      const ask = (more: object) =>
        posted(message('tools/call', { name, arguments: given, ...meta, ...more }, 'é"'), headers);
      expect(answered(await ask({}))).toEqual(answered(await ask({ other: true })));
    }
  });

  test.each<[string, Record<string, string>]>([
    ...[
      ...envelopes.map((meta) => JSON.stringify(meta)),
      // What JSON.stringify does not write: the envelope as a prototype, and keys that come twice.
      `{"__proto__": ${JSON.stringify(ENVELOPE)}}`,
      `{"__proto__": {}, ${JSON.stringify(ENVELOPE).slice(1)}`,
      `{"${VERSION_KEY}": "2025-11-25", ${JSON.stringify(ENVELOPE).slice(1)}`,
      `${JSON.stringify(ENVELOPE).slice(0, -1)}, "${VERSION_KEY}": "2025-11-25"}`,
      `${JSON.stringify(ENVELOPE).slice(0, -1)}, "${CAPABILITIES_KEY}": 1}`,
    ].map((meta): [string, Record<string, string>] => [meta, {}]),
    ...[
      { 'mcp-protocol-version': '2026-07-29' },
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-protocol-version': '2026-07-28, 2026-07-28' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': '' },
      { 'mcp-name': 'search_licenses_by_name' },
      { 'mcp-name': 'Verify_License' },
      { 'mcp-name': `=?base64?${btoa('verify_license')}?=` },
      { 'mcp-name': '=?base64?!?=' },
      { 'mcp-name': '' },
      { accept: 'text/html' },
      { accept: '' },
      { 'content-type': 'text/plain' },
    ].map((headers): [string, Record<string, string>] => [JSON.stringify(ENVELOPE), headers]),
  ])('answers a call with an envelope exactly as the SDK does: %s %j', async (meta, headers) => {
    const asked = (more: string) =>
      `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "verify_license",
        "arguments": {"license_number": "${NUMBER}"}, ${more} "_meta": ${meta}}}`;
    for (const sent of [{ ...MODERN_HEADERS, ...headers }, headers]) {
      const [own, bySdk] = [await posted(asked(''), sent), await posted(asked('"other": true,'), sent)];
      expect(answered(own)).toEqual(answered(bySdk));
    }
  });

  verifies('MCP-10', 'accepts Host and Origin of this machine or as configured, and no others', async () => {
    for (const [name, setting, allowed, refused] of [
      [
        'host',
        'MCP_ALLOWED_HOSTS',
        'localhost 127.0.0.1:8080 [::1]:8080 licenses.example licenses.example:443'.split(' '),
        'evil.example|licenses.example.evil.example|localhost.evil.example|a b|[::'.split('|'),
      ],
      [
        'origin',
        'MCP_ALLOWED_ORIGINS',
        ['http://localhost:3000', 'https://127.0.0.1', 'https://assistant.example'],
        ['https://evil.example', 'https://assistant.example.evil.example', 'null', 'x'],
      ],
    ] as const) {
      for (const value of allowed)
        expect([value, (await posted(LIST, { [name]: value })).status]).toEqual([value, 200]);
      for (const value of refused) {
        const { status, text } = await posted(LIST, { [name]: value });
        const says = new RegExp(
          `Invalid ${name}.*\\. The setting ${setting} has those that are allowed\\.`,
          'i',
        );
        expect([value, status, text]).toEqual([value, 403, expect.stringMatching(says)]);
      }
    }
  });

  const call = (method: string, params: object = {}) => posted(message(method, params));

  function modernCall(method: string, params: object = {}, name?: string) {
    const named = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name && { 'mcp-name': name }),
    };
    return posted(message(method, { ...params, _meta: ENVELOPE }), named);
  }

  test('refuses subscriptions, because it keeps no stream open', async () => {
    const params = { notifications: { toolsListChanged: true } };
    const { status, body } = await modernCall('subscriptions/listen', params);
    const error = { code: -32601, message: expect.stringContaining('no subscriptions') };
    expect([status, body]).toEqual([404, { jsonrpc: '2.0', id: 1, error }]);
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
      const error = { code: -32602, message: 'Invalid params: they do not fit the method.' };
      expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 1, error }]);
    }
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect((await call('tools/call', { name })).body).toMatchObject({ error: { code: -32602 } });
  });

  test.each([
    ['application/json', 200],
    ['*/*', 200],
    ['application/*', 200],
    ['text/html, */*;q=0.1', 200],
    ['', 200],
    ['text/html', 406],
    ['text/event-stream', 406],
  ])('answers with JSON whoever takes it, with a bad key, too: Accept: %s', async (accept, status) => {
    const answer = await posted(LIST, { accept, 'x-api-key': 'bad' });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('its list of tools is short, and every validator of JSON Schema takes the schemas', async () => {
    for (const answer of [await call('tools/list'), await modernCall('tools/list')]) {
      expect(Buffer.byteLength(answer.text)).toBeLessThan(25_000);
      const { tools } = toolList.parse(answer.body).result;
      expect(tools).toHaveLength(6);
      for (const schema of tools.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema])) {
        expect(schema).not.toHaveProperty('$schema');
        for (const ajv of [new Ajv({ logger: false }), new Ajv2020({ logger: false })]) ajv.compile(schema);
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
    const { body } = await modernCall('resources/read', { uri: guide.uri }, guide.uri);
    const contents = [{ uri: guide.uri, mimeType: 'text/markdown', text }];
    expect(body).toMatchObject({ result: { contents } });
    const templates = await call('resources/templates/list');
    expect(templates.body).toMatchObject({ result: { resourceTemplates: [] } });
    expect((await call('resources/read', { uri: 'skill://other' })).body).toHaveProperty('error');
  });
});

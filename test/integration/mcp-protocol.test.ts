import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import type { ApiAnswer } from '../support/api.ts';
import { times } from '../support/fixtures.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NUMBER = 'RN.700001';

const schema = z.looseObject({ type: z.literal('object') });
const tool = z.object({ inputSchema: schema, outputSchema: schema });
const toolList = z.object({ result: z.object({ tools: z.array(tool) }) });
const resourceList = z.object({
  result: z.object({ resources: z.tuple([z.looseObject({ uri: z.string() })]) }),
});

// The transcripts mcp-2025.http, mcp-2026.http and mcp-origins.http have what every client sees.

let service: TestService;
/** The ports of two API processes on the same data. */
let ports: readonly [number, number];

beforeAll(async () => {
  service = await startService({
    settings: {
      MCP_ALLOWED_HOSTS: 'licenses.example',
      MCP_ALLOWED_ORIGINS: 'https://assistant.example',
    },
  });
  const [port, adminPort] = await freePorts(2);
  const other = { PORT: String(port), ADMIN_PORT: String(adminPort) };
  await startApi({ ...service.environment.variables, ...other });
  ports = [service.environment.config.PORT, Number(port)];
});

/** A message of the revisions before 2026. */
function message(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

const INITIALIZE = message('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'tests', version: '1' },
});
const LIST = message('tools/list');
const CALL = message('tools/call', { name: 'verify_license', arguments: { license_number: NUMBER } });
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
const CLIENT_KEY = 'io.modelcontextprotocol/clientInfo';
const ENVELOPE = { [VERSION_KEY]: '2026-07-28', [CAPABILITIES_KEY]: {} };
const MODERN_CALL = message('tools/call', {
  name: 'verify_license',
  arguments: { license_number: NUMBER },
  _meta: ENVELOPE,
});
const MODERN_HEADERS = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'verify_license',
};

/** What may be in the `_meta` of a call. */
const ENVELOPES: readonly unknown[] = [
  ENVELOPE,
  { ...ENVELOPE, [CLIENT_KEY]: { name: 'tests', version: '1', title: 'Tests', other: 1 } },
  { ...ENVELOPE, progressToken: 'one', [LOG_LEVEL_KEY]: 'debug', traceparent: 1, other: [null] },
  { ...ENVELOPE, 'io.modelcontextprotocol/other': {} },
  { ...ENVELOPE, 'io.modelcontextprotocol/related-task': { taskId: 'one' } },
  { ...ENVELOPE, 'io.modelcontextprotocol/related-task': 1 },
  // Versions.
  ...['2025-11-25', '2026-07-29', ' 2026-07-28', '', ['2026-07-28'], 20260728, null].map((version) => ({
    ...ENVELOPE,
    [VERSION_KEY]: version,
  })),
  // Something is missing.
  ...[{ [CAPABILITIES_KEY]: {} }, { [VERSION_KEY]: '2026-07-28' }, {}, [], null, 'text'],
  // What clients can do.
  ...[
    { elicitation: {}, sampling: { tools: {} }, roots: { listChanged: true }, extensions: { 'a/b': {} } },
    { elicitation: { form: { applyDefaults: true }, url: {} }, tasks: { list: {} }, other: 1 },
    ...[null, 1, 'text', [], { roots: 1 }, { roots: { listChanged: 'yes' } }, { elicitation: 1 }],
    ...[{ sampling: null }, { tasks: 1 }, { experimental: { a: 1 } }, { extensions: [] }],
  ].map((capabilities) => ({ ...ENVELOPE, [CAPABILITIES_KEY]: capabilities })),
  // Who they are.
  ...[null, 1, {}, [], { name: 'tests' }, { name: 1, version: '1' }, { name: '', version: '' }].map(
    (client) => ({
      ...ENVELOPE,
      [CLIENT_KEY]: client,
    }),
  ),
  ...[null, 1, 'loud', ['debug']].map((level) => ({ ...ENVELOPE, [LOG_LEVEL_KEY]: level })),
  ...[null, 1.5, {}, 2 ** 60].map((token) => ({ ...ENVELOPE, progressToken: token })),
];

function posted(port: number, body: string, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  return rawRequest({
    ...{ port, method: 'POST', path: '/mcp', body },
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
  });
}

/** What a client sees of an answer. */
function answered({ status, text, headers }: ApiAnswer) {
  return [status, text, headers.get('content-type')];
}

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER_TRACE = '00-00000000000000000000000000000001-0000000000000001-00';
const logLine = z.object({ msg: z.literal('request'), traceparent: z.string().optional() });

const found = z.object({
  result: z.object({
    structuredContent: z.object({ licenses: z.array(z.object({ license_number: z.string() })) }),
  }),
});

function numbersIn({ body }: ApiAnswer): string[] {
  return found.parse(body).result.structuredContent.licenses.map(({ license_number }) => license_number);
}

describe('the MCP server', () => {
  test.each([
    [0, 'before 2026', CALL, {}],
    [1, '2026', MODERN_CALL, MODERN_HEADERS],
  ] as const)(
    'answers a tool call that is the first request of a process (%i, revision %s)',
    async (at, _era, body, headers) => {
      expect(numbersIn(await posted(ports[at], body, headers))).toEqual([NUMBER]);
    },
  );

  verifies(
    'MCP-11',
    'returns no session id, ignores one that a client invents, and takes only POST',
    async () => {
      const [port] = ports;
      for (const [body, headers] of [
        [INITIALIZE, {}],
        [LIST, {}],
        [CALL, {}],
        [MODERN_CALL, MODERN_HEADERS],
      ] as const) {
        const plain = await posted(port, body, headers);
        const madeUp = await posted(port, body, { ...headers, 'mcp-session-id': 'made-up' });
        expect([plain.status, madeUp.status, madeUp.text]).toEqual([200, 200, plain.text]);
        for (const each of [plain, madeUp]) expect(each.headers.has('mcp-session-id')).toBe(false);
      }
      for (const method of ['GET', 'DELETE', 'PUT']) {
        const headers = { host: 'localhost', accept: 'text/event-stream', 'mcp-session-id': 'made-up' };
        const answer = await rawRequest({ port, method, path: '/mcp', headers });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
      }
    },
  );

  test.each<[string, string | undefined, unknown, string | undefined]>([
    ['a header', TRACE, undefined, TRACE],
    ['the message', undefined, TRACE, TRACE],
    ['the message, rather than a header', OTHER_TRACE, TRACE, TRACE],
    ['a header, where that of the message has not the form', TRACE, { a: TRACE }, TRACE],
    ['nothing of the form', `${TRACE}-00`, TRACE.toUpperCase(), undefined],
  ])('logs the trace of %s', async (at, header, inMessage, logged) => {
    const [port] = ports;
    const id = `traced-${at.replaceAll(/\W/g, '-')}`;
    const call = message('tools/call', {
      name: 'verify_license',
      arguments: { license_number: NUMBER },
      _meta: { ...ENVELOPE, traceparent: inMessage },
    });
    const headers = { ...MODERN_HEADERS, 'x-request-id': id, ...(header && { traceparent: header }) };
    expect(numbersIn(await posted(port, call, headers))).toEqual([NUMBER]);
    await service.api.printed(`"requestId":"${id}"`);
    const line =
      service.api
        .output()
        .split('\n')
        .find((each) => each.includes(id)) ?? '';
    expect(logLine.parse(JSON.parse(line)).traceparent).toBe(logged);
  });

  verifies('MCP-11', 'gives calls with the same id at the same moment each its own answer', async () => {
    const [port] = ports;
    const asked = times(45, (at) => {
      const id = [1, 'one', 0][at % 3] ?? 0;
      const number = at % 5 === 0 ? `RN.unknown${at}` : NUMBER;
      const isModern = at % 2 === 0;
      const call = z
        .looseObject({ params: z.looseObject({}) })
        .parse(JSON.parse(isModern ? MODERN_CALL : CALL));
      const params = { ...call.params, arguments: { license_number: number } };
      return { id, number, isModern, body: JSON.stringify({ ...call, id, params }) };
    });
    const answers = await Promise.all(
      asked.map(({ body, isModern }) => posted(port, body, isModern ? MODERN_HEADERS : {})),
    );
    for (const [at, { id, number }] of asked.entries()) {
      expect(answers[at]?.body).toMatchObject({
        id,
        result: {
          structuredContent: {
            searched: { license_number: number },
            licenses: number === NUMBER ? [{ license_number: NUMBER }] : [],
          },
        },
      });
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
    const [port] = ports;
    for (const [body, headers] of [
      [CALL, {}],
      [MODERN_CALL, { ...MODERN_HEADERS, 'mcp-name': name }],
    ] as const) {
      const call = z.looseObject({ params: z.looseObject({}) }).parse(JSON.parse(body));
      const asked = (more: object) =>
        JSON.stringify({ ...call, id: 'é"', params: { ...call.params, name, arguments: given, ...more } });
      const [own, bySdk] = [
        await posted(port, asked({}), headers),
        await posted(port, asked({ other: true }), headers),
      ];
      expect(answered(own)).toEqual(answered(bySdk));
    }
  });

  test.each<[string, Record<string, string>]>([
    ...[
      ...ENVELOPES.map((meta) => JSON.stringify(meta)),
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
    const [port] = ports;
    const asked = (more: string) =>
      `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "verify_license",
        "arguments": {"license_number": "${NUMBER}"}, ${more} "_meta": ${meta}}}`;
    for (const sent of [{ ...MODERN_HEADERS, ...headers }, headers]) {
      const [own, bySdk] = [
        await posted(port, asked(''), sent),
        await posted(port, asked('"other": true,'), sent),
      ];
      expect(answered(own)).toEqual(answered(bySdk));
    }
  });

  for (const [era, versionNegotiation] of [
    ['before 2026', { mode: 'legacy' }],
    ['2026', { mode: { pin: '2026-07-28' } }],
  ] as const) {
    verifies('MCP-11', `answers one client from two processes alternately, revision ${era}`, async () => {
      const callsAt: number[] = [];
      let turn = 0;
      const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation });
      const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
        fetch: (url, init) => {
          const address = new URL(url);
          const port = ports[turn % ports.length] ?? 0;
          address.port = String(port);
          turn += 1;
          if (String(init?.body).includes('tools/call')) callsAt.push(port);
          return fetch(address, init);
        },
      });
      try {
        await client.connect(transport);
        for (let call = 0; call < 4; call += 1) {
          const { structuredContent } = await client.callTool({
            name: 'verify_license',
            arguments: { license_number: NUMBER },
          });
          expect(structuredContent).toMatchObject({ licenses: [{ license_number: NUMBER }] });
        }
        expect(transport.sessionId).toBeUndefined();
        expect(callsAt).toHaveLength(4);
        expect(new Set(callsAt)).toEqual(new Set(ports));
      } finally {
        await client.close();
      }
    });
  }

  verifies(
    'MCP-10',
    'accepts the Host and Origin of this machine and the configured ones, and no others',
    async () => {
      const [port] = ports;
      for (const host of [
        ...'localhost 127.0.0.1:8080 [::1]:8080 licenses.example licenses.example:443'.split(' '),
      ]) {
        expect([host, (await posted(port, LIST, { host })).status]).toEqual([host, 200]);
      }
      for (const host of [
        ...'evil.example|licenses.example.evil.example|localhost.evil.example|a b|[::'.split('|'),
      ]) {
        const { status, text } = await posted(port, LIST, { host });
        expect([host, status, text]).toEqual([host, 403, expect.stringContaining('MCP_ALLOWED_HOSTS')]);
      }
      for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'https://assistant.example']) {
        expect([origin, (await posted(port, LIST, { origin })).status]).toEqual([origin, 200]);
      }
      for (const origin of ['https://evil.example', 'https://assistant.example.evil.example', 'null', 'x']) {
        const answer = await posted(port, LIST, { origin });
        expect([origin, answer.status]).toEqual([origin, 403]);
        expect(answer.text).toContain('MCP_ALLOWED_ORIGINS');
      }
    },
  );

  function call(method: string, params: object = {}) {
    return posted(ports[0], message(method, params));
  }

  function modernCall(method: string, params: object = {}, name?: string) {
    const named = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name && { 'mcp-name': name }),
    };
    return posted(ports[0], message(method, { ...params, _meta: ENVELOPE }), named);
  }

  test('refuses subscriptions, because it keeps no stream open', async () => {
    const { status, body } = await modernCall('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    expect([status, body]).toEqual([
      404,
      {
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32601, message: expect.stringContaining('no subscriptions') },
      },
    ]);
    const discovered = await modernCall('server/discover');
    const capabilities = { tools: { listChanged: false }, resources: { listChanged: false } };
    expect(discovered.body).toMatchObject({ result: { capabilities } });
    expect(discovered.text).not.toMatch(/subscribe|prompts|logging/);
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

  test.each([
    ['application/json', 200],
    ['*/*', 200],
    ['application/*', 200],
    ['text/html, */*;q=0.1', 200],
    ['', 200],
    ['text/html', 406],
    ['text/event-stream', 406],
  ])(
    'answers with JSON whoever takes it, with a key that is bad, too: Accept: %s',
    async (accept, status) => {
      const answer = await posted(ports[0], LIST, { accept, 'x-api-key': 'bad' });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
    },
  );

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
});

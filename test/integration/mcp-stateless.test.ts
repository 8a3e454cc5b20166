import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import type { ApiAnswer } from '../support/api.ts';
import { times } from '../support/fixtures.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NUMBER = 'RN.700001';

let service: TestService;
/** A second API process on the same data. */
let ports: readonly [number, number];

beforeAll(async () => {
  service = await startService();
  const own = await otherPorts();
  await startApi({ ...service.environment.variables, ...own });
  ports = [service.environment.config.PORT, Number(own.PORT)];
});

async function otherPorts() {
  const [port, adminPort] = await freePorts(2);
  return { PORT: String(port), ADMIN_PORT: String(adminPort) };
}

/** A message of the revisions before 2026. */
function message(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

const INITIALIZE = message('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'tests', version: '1' },
});
const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
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
  verifies('MCP-11', 'never returns a session id', async () => {
    const [port] = ports;
    const asked: readonly (readonly [number, Promise<ApiAnswer>])[] = [
      [200, posted(port, INITIALIZE)],
      [202, posted(port, INITIALIZED)],
      [200, posted(port, LIST)],
      [200, posted(port, CALL)],
      [200, posted(port, MODERN_CALL, MODERN_HEADERS)],
      [200, posted(port, message('prompts/list'))],
      [400, posted(port, '{')],
      [405, rawRequest({ port, method: 'GET', path: '/mcp', headers: { host: 'localhost' } })],
      [405, rawRequest({ port, method: 'DELETE', path: '/mcp', headers: { host: 'localhost' } })],
    ];
    for (const [status, answer] of asked) {
      const { headers, ...answered } = await answer;
      expect([answered.status, headers.has('mcp-session-id'), answered.text]).toEqual([
        status,
        false,
        expect.not.stringMatching(/session/i),
      ]);
    }
  });

  for (const [era, body, headers] of [
    ['before 2026', CALL, {}],
    ['2026', MODERN_CALL, MODERN_HEADERS],
  ] as const) {
    verifies(
      'MCP-11',
      `answers a tool call that is the first request of a process, revision ${era}`,
      async () => {
        const own = await otherPorts();
        const fresh = await startApi({ ...service.environment.variables, ...own });
        try {
          expect(numbersIn(await posted(Number(own.PORT), body, headers))).toEqual([NUMBER]);
        } finally {
          await fresh.stop();
        }
      },
    );
  }

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

  verifies('MCP-11', 'ignores a session id that a client invents', async () => {
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
    }
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
});

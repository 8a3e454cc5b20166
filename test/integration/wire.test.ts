import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { startService, type TestService } from '../support/service.ts';
import { Connection } from '../support/transcripts/connection.ts';

/**
 * Variants of requests, sent byte by byte: of each only the status, the detail of the error and the header that matters.
 * `test/http-transcripts` shows one whole response of each kind.
 */
const LOOKUP = '{"board":"Nursing Board","license_number":"RN.700002"}';
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const TYPES = 'GET /api/v1/lookup/boards/Nursing%20Board/types';
const VERIFY = 'POST /api/v1/lookup/verify';

const HOST = 'Host: localhost';
const KEY = 'X-API-Key: <key>';
const JSON_TYPE = 'Content-Type: application/json';
const LENGTH = 'Content-Length: <length>';
const CHUNKED = 'Transfer-Encoding: chunked';
const ACCEPT = 'Accept: application/json, text/event-stream';

const MALFORMED = 'This is not a request that can be answered.';
const NOT_JSON = 'The body is not valid JSON.';
const NOT_UNPACKED = 'The body can not be unpacked as its Content-Encoding says.';
const NOT_UTF8 = 'The body is not valid UTF-8.';
const NOT_AN_OBJECT = 'The body must be a JSON object.';
const NOT_THERE = 'There is nothing at this address. Lookups are at POST /api/v1/lookup/verify.';
const OTHER_METHOD = 'Method not allowed; see the Allow header.';
const OTHER_TYPE = 'Send the body as JSON, with Content-Type: application/json.';
const OTHER_ENCODING =
  'This Content-Encoding is not taken; send the body as it is, or with gzip, deflate or br.';
const TOO_LARGE = 'The body is too large; a lookup takes at most 16 KB.';
const ONE_HOST = 'A request has exactly one Host header.';
const BAD_KEY = 'Invalid or inactive API key';

let service: TestService;

beforeAll(async () => {
  service = await startService({
    settings: {
      TRUSTED_PROXIES: '1',
      MCP_ALLOWED_HOSTS: 'licenses.example',
      MCP_ALLOWED_ORIGINS: 'https://assistant.example',
    },
  });
});

/** A request: its first line, with HTTP/1.1 unless it says a version, its headers and its body. */
function requestOf(line: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  const first = / HTTP\/\d/.test(line) ? line : `${line} HTTP/1.1`;
  const head = [first, ...headers, '', ''].join('\r\n');
  const length = String(Buffer.byteLength(body));
  const filled = head.replaceAll('<key>', service.rest.key).replaceAll('<length>', length);
  return Buffer.concat([Buffer.from(filled, 'latin1'), Buffer.from(body)]);
}

const errorBody = z.looseObject({
  detail: z.string().optional(),
  // Errors of the queue board have another form.
  error: z.object({ code: z.int(), message: z.string() }).optional().catch(undefined),
});

/** Sends bytes over a connection of its own. */
async function sent(bytes: Buffer, port = service.environment.config.PORT) {
  const connection = await Connection.open(port, '127.0.0.1');
  connection.send(bytes);
  const response = await connection.response(bytes.toString('latin1').split(' ')[0] ?? '');
  const { wasOpen, more } = await connection.end(response);
  const isJson = response?.headers.get('content-type')?.startsWith('application/json') === true;
  const { detail, error } =
    isJson && response.body.length > 0 ? errorBody.parse(JSON.parse(`${response.body}`)) : {};
  return {
    status: response?.status,
    /** What an error says: `detail`, or code and message of a JSON-RPC error. */
    says: error === undefined ? detail : `${error.code} ${error.message}`,
    header: (name: string) => response?.headers.get(name) ?? null,
    names: [...(response?.headers.keys() ?? [])],
    wasOpen,
    more: more.toString('latin1'),
  };
}

function lookup(headers: readonly string[], body: string | Buffer = LOOKUP) {
  return sent(requestOf(VERIFY, [HOST, KEY, ...headers], body));
}

describe('a malformed request is refused, and nothing that follows on its connection is answered:', () => {
  const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const EMPTY_CHUNKED = `0\r\n\r\n${SMUGGLED}`;

  const refused = (status: number) => ({ status, says: MALFORMED, wasOpen: false, more: '' });

  test.each<[headers: string[], body: string]>([
    [[LENGTH, LENGTH], LOOKUP],
    [['Content-Length: 5', LENGTH], LOOKUP],
    [['Content-Length: 54, 54'], LOOKUP],
    [['Content-Length: -1'], LOOKUP],
    [['Content-Length: +54'], LOOKUP],
    [['Content-Length: 0x36'], LOOKUP],
    [['Content-Length:'], LOOKUP],
    [['Content-Length: 99999999999999999999999'], LOOKUP],
    [[LENGTH, CHUNKED], EMPTY_CHUNKED],
    [['Content-Length: 4', CHUNKED], `36\r\n${LOOKUP}\r\n${EMPTY_CHUNKED}`],
    [['Transfer-Encoding: xchunked'], EMPTY_CHUNKED],
    [['Transfer-Encoding: chunked, identity'], EMPTY_CHUNKED],
    [['Transfer-Encoding: identity'], EMPTY_CHUNKED],
    [['Transfer-Encoding: chunked, chunked'], EMPTY_CHUNKED],
    [['Transfer-Encoding: \vchunked'], EMPTY_CHUNKED],
    [['Transfer-Encoding: "chunked"'], EMPTY_CHUNKED],
    [[CHUNKED, 'Transfer-Encoding: cow'], EMPTY_CHUNKED],
    [['Transfer-Encoding : chunked'], EMPTY_CHUNKED],
    [[CHUNKED], `zz\r\n${SMUGGLED}`],
    [[CHUNKED], `fffffffffffffffff\r\n${SMUGGLED}`],
    [[CHUNKED], `1\r\n{}\r\n${EMPTY_CHUNKED}`],
    [[CHUNKED], `36\n${LOOKUP}\n0\n\n${SMUGGLED}`],
  ])('%j before %j', async (headers, body) => {
    expect(await lookup([JSON_TYPE, ...headers], body)).toMatchObject(refused(400));
  });

  test.each([
    ['a method in lower case', 'get / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a path without a slash', 'GET status HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a blank in the path', 'GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['bytes outside ASCII in the path', 'GET /caf\xC3\xA9 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: localhost\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Folded: a\r\n b\r\n\r\n'],
    ['a blank before a colon', 'GET / HTTP/1.1\r\nHost : localhost\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Nul: a\x00b\r\n\r\n'],
    ['a carriage return in a header', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Cr: a\rb\r\n\r\n'],
    ['line feeds for line ends', 'GET / HTTP/1.1\nHost: localhost\n\n'],
  ])('%s', async (_what, head) => {
    expect(await sent(Buffer.from(head + SMUGGLED, 'latin1'))).toMatchObject(refused(400));
  });

  test.each([
    ['an address of 20,000 characters', `GET /${'x'.repeat(20_000)}`, []],
    ['a header of 20,000 characters', 'GET /', [`X-Long: ${'x'.repeat(20_000)}`]],
    ['2,100 headers', 'GET /', ['X: 1', ...Array<string>(2100).fill('A:')]],
  ])('%s', async (_what, line, headers) => {
    expect(await sent(requestOf(line, [HOST, ...headers]))).toMatchObject(refused(431));
  });

  test('Transfer-Encoding: gzip, chunked', async () => {
    expect(await lookup([JSON_TYPE, 'Transfer-Encoding: gzip, chunked'], EMPTY_CHUNKED)).toMatchObject({
      ...{ status: 400, says: NOT_JSON, wasOpen: false, more: '' },
    });
  });

  test('chunks in HTTP/1.0', async () => {
    const body = `36\r\n${LOOKUP}\r\n${EMPTY_CHUNKED}`;
    const request = requestOf(`${VERIFY} HTTP/1.0`, [HOST, KEY, JSON_TYPE, CHUNKED], body);
    expect(await sent(request)).toMatchObject({ status: 200, wasOpen: false, more: '' });
  });
});

describe('an address', () => {
  test.each([
    `${VERIFY}?board=Medical%20Board`,
    `${VERIFY}?`,
    `${VERIFY}?%E0%A4%A&%`,
    `${VERIFY}#x`,
    `${TYPES}/`,
    `${TYPES}?board=Medical%20Board`,
    ...['GET /docs/', 'GET /status/', 'GET /status?x=1', 'GET /openapi.json/', 'GET //', 'GET /?x=1'],
  ])('%s is answered', async (line) => {
    const body = line.startsWith('POST') ? LOOKUP : '';
    expect(await sent(requestOf(line, [HOST, KEY, JSON_TYPE, LENGTH], body))).toMatchObject({ status: 200 });
  });

  test.each([
    ...[`${VERIFY}//`, 'POST /api/v1//lookup/verify', 'POST //api/v1/lookup/verify'],
    ...['POST /API/V1/LOOKUP/VERIFY', 'POST /api/v1%2Flookup/verify', 'POST /api/v1/x/../lookup/verify'],
    'POST /api/v1/lookup/%76erify',
    ...['GET /api/v1\\lookup', 'GET /api/v1/lookup/boards;x=1', 'GET /api/v1/lookup/boards//types'],
    ...['GET /api/v1/', 'GET /api/v10/lookup/boards', 'GET /%', 'GET /%00', 'GET /%FF', 'OPTIONS /nothing'],
    ...['GET /x%0D%0ASet-Cookie:%20a=1', `GET /${'x'.repeat(8000)}`, 'GET /mcp/nothing', 'GET /sse'],
    ...['GET /DOCS', 'GET /docs/nothing', 'GET /docs/index.html', 'GET /index.html', 'GET /favicon.ico'],
    ...['GET /docs/../package.json', 'GET /docs/%2e%2e%2fpackage.json', 'GET /robots.txt'],
    ...['GET /healthz', 'GET /metrics', 'GET /queues', 'GET /.well-known/security.txt'],
  ])('%s is 404', async (line) => {
    const response = await sent(requestOf(line, [HOST, KEY, JSON_TYPE, LENGTH], LOOKUP));
    expect(response).toMatchObject({ status: 404, says: NOT_THERE, wasOpen: true });
    expect(response.header('set-cookie')).toBeNull();
  });

  test.each(['Nursing%2FBoard', 'Nursing%00Board', 'N%FCrsing%20Board', 'Nursing%20Board%', '.', '..'])(
    'the name %s of a board in it is taken as it is written',
    async (name) => {
      const response = await sent(requestOf(`GET /api/v1/lookup/boards/${name}/types`, [HOST, KEY]));
      expect(response).toMatchObject({ status: 400, says: expect.stringMatching(/^No board has exactly/) });
    },
  );
});

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const READ = ['GET', 'HEAD'];

describe('another method is 405, whatever the body, and the connection stays open', () => {
  const ONLY_POST = 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.';
  const ONLY_SHOWN = 'The queue is only shown here: GET and HEAD.';

  async function expectRefused(path: string, port: number, allowed: readonly string[], says?: string) {
    for (const method of METHODS.filter((each) => !allowed.includes(each))) {
      for (const body of ['', 'x'.repeat(20_000)]) {
        const response = await sent(requestOf(`${method} ${path}`, [HOST, KEY, LENGTH], body), port);
        const allow = response.header('allow')?.split(', ').sort();
        expect([method, response.status, allow, response.wasOpen]).toEqual([method, 405, allowed, true]);
        expect(response.says).toBe(method === 'HEAD' ? undefined : says);
      }
    }
  }

  test.each([
    ['/api/v1/lookup/verify', ['POST'], OTHER_METHOD],
    ['/api/v1/lookup/cached', ['POST'], OTHER_METHOD],
    ['/api/v1/lookup/batch', ['POST'], OTHER_METHOD],
    ['/api/v1/lookup/boards', READ, OTHER_METHOD],
    ['/api/v1/lookup/boards/Nowhere/types', READ, OTHER_METHOD],
    ['/api/v1/changes', READ, OTHER_METHOD],
    ['/mcp', ['POST'], ONLY_POST],
    ['/status', READ, OTHER_METHOD],
    ['/docs', READ, OTHER_METHOD],
    ['/docs/page.js', READ, OTHER_METHOD],
    ['/docs/swagger-ui.css', READ, OTHER_METHOD],
    ['/openapi.json', READ, OTHER_METHOD],
    // A page in HTML.
    ['/', READ, undefined],
  ])('%s', (path, allowed, says) => expectRefused(path, service.environment.config.PORT, allowed, says));

  test.each([
    ['/healthz', READ, OTHER_METHOD],
    ['/readyz', READ, OTHER_METHOD],
    ['/metrics', READ, OTHER_METHOD],
    ['/queues', READ, ONLY_SHOWN],
    ['/queues/static/images/logo.svg', READ, ONLY_SHOWN],
    ['/queues/api/queues/publish/pause', READ, ONLY_SHOWN],
    ['/queues/nothing', READ, ONLY_SHOWN],
  ])('%s of the admin port', (path, allowed, says) =>
    expectRefused(path, service.environment.config.ADMIN_PORT, allowed, says),
  );
});

describe('HEAD is answered as GET is, without the body', () => {
  async function expectSame(path: string, port: number) {
    const [get, head] = [
      await sent(requestOf(`GET ${path}`, [HOST, KEY]), port),
      await sent(requestOf(`HEAD ${path}`, [HOST, KEY]), port),
    ];
    expect([head.status, head.names, head.wasOpen]).toEqual([get.status, get.names, true]);
    for (const name of ['content-type', 'cache-control', 'vary', 'content-security-policy']) {
      expect(head.header(name)).toBe(get.header(name));
    }
    expect(Number(head.header('content-length'))).toBeGreaterThan(0);
    // The metrics and the times of the queue differ each time.
    if (!/^\/(?:metrics|queues\/api)/.test(path)) {
      expect(head.header('content-length')).toBe(get.header('content-length'));
    }
  }

  test.each([
    ...['/api/v1/lookup/boards', '/api/v1/lookup/boards/Nursing%20Board/types', '/api/v1/changes'],
    ...['/api/v1/lookup/boards/Nowhere/types', '/api/v1/nothing', '/', '/status', '/docs', '/docs/page.js'],
    ...['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/openapi.json'],
  ])('%s', (path) => expectSame(path, service.environment.config.PORT));

  test.each([
    ...['/healthz', '/readyz', '/metrics', '/queues', '/queues/queue/publish', '/queues/api/queues'],
    ...['/queues/static/images/logo.svg', '/nothing'],
  ])('%s of the admin port', (path) => expectSame(path, service.environment.config.ADMIN_PORT));
});

describe('a body', () => {
  test.each([
    ['application/json;charset="UTF-8"', 200],
    ['application/json; version=1', 200],
    ['application/json; charset=utf-16', 200],
    ['application/merge-patch+json', 415],
    ['text/json', 415],
  ])('of the type %s gets %i', async (type, status) => {
    const says = status === 200 ? undefined : OTHER_TYPE;
    expect(await lookup([`Content-Type: ${type}`, LENGTH])).toMatchObject({ status, says, wasOpen: true });
  });

  test.each([
    ['no type', [LENGTH], LOOKUP, 415, OTHER_TYPE],
    [
      'another type, though it is too large',
      ['Content-Type: a/b', LENGTH],
      'x'.repeat(20_000),
      415,
      OTHER_TYPE,
    ],
    [
      'two types, of which the first counts',
      [JSON_TYPE, 'Content-Type: a/b', LENGTH],
      LOOKUP,
      200,
      undefined,
    ],
    ['no type and no length', [], '', 400, NOT_AN_OBJECT],
    ['no type and the length 0', [LENGTH], '', 400, NOT_AN_OBJECT],
  ])('with %s', async (_what, headers, body, status, says) => {
    expect(await lookup(headers, body)).toMatchObject({ status, says, wasOpen: true });
  });

  const packed = gzipSync(LOOKUP);
  const parts = Buffer.concat([LOOKUP.slice(0, 9), LOOKUP.slice(9)].map((part) => gzipSync(part)));
  const nested = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  const utf16 = Buffer.from(`\ufeff${LOOKUP}`, 'utf16le');

  test.each<
    [what: string, encoding: string, body: string | Buffer, status: number, says: string | undefined]
  >([
    ['deflate', 'deflate', deflateSync(LOOKUP), 200, undefined],
    ['br', 'br', brotliCompressSync(LOOKUP), 200, undefined],
    ['two parts of gzip', 'gzip', parts, 200, undefined],
    ['an empty encoding', '', LOOKUP, 200, undefined],
    ['a byte order mark', '', `\ufeff${LOOKUP}`, 200, undefined],
    ['exactly 16 KB', '', LOOKUP.padEnd(16 * 1024), 200, undefined],
    ['deep nesting in an unknown field', '', LOOKUP.replace('}', `,"x":${nested}}`), 200, undefined],
    ['deflate without its header', 'deflate', deflateRawSync(LOOKUP), 400, NOT_UNPACKED],
    ['gzip that is cut off', 'gzip', packed.subarray(0, -9), 400, NOT_UNPACKED],
    ['gzip and more behind it', 'gzip', Buffer.concat([packed, Buffer.from('more')]), 400, NOT_UNPACKED],
    ['an empty gzip', 'gzip', '', 400, NOT_UNPACKED],
    ['gzip that says it is none', 'identity', packed, 400, NOT_UTF8],
    ['UTF-16', '', utf16, 400, NOT_UTF8],
    ['deep nesting', '', nested, 400, NOT_AN_OBJECT],
    ['gzip in two headers', 'gzip\r\nContent-Encoding: gzip', packed, 415, OTHER_ENCODING],
    ['a byte more than 16 KB', '', LOOKUP.padEnd(16 * 1024 + 1), 413, TOO_LARGE],
  ])('with %s', async (_what, encoding, body, status, says) => {
    const response = await lookup([JSON_TYPE, `Content-Encoding: ${encoding}`, LENGTH], body);
    // What follows may be the rest of the body.
    const wasOpen = status !== 413 && says !== NOT_UNPACKED;
    expect(response).toMatchObject({ status, says, wasOpen, more: '' });
  });

  test('in chunks that are too large together', async () => {
    const chunks = `3e8\r\n${'x'.repeat(1000)}\r\n`.repeat(20);
    const response = await lookup([JSON_TYPE, CHUNKED], `${chunks}0\r\n\r\n`);
    expect(response).toMatchObject({ status: 413, says: TOO_LARGE, wasOpen: false, more: '' });
  });
});

describe('a key', () => {
  test.each([
    [[KEY, KEY]],
    [[KEY, 'X-API-Key: x']],
    [['X-API-Key: "<key>"']],
    [['X-API-Key: \xC3\xB1']],
    [['Authorization: Basic b2x2Og==']],
  ])('sent as %j is refused', async (headers) => {
    const response = await sent(requestOf(TYPES, [HOST, ...headers]));
    expect(response).toMatchObject({ status: 401, says: BAD_KEY, wasOpen: true });
  });

  test.each(['X-API-Key:    <key>  ', 'x-api-key: <key>'])('sent as "%s" is taken', async (header) => {
    expect(await sent(requestOf(TYPES, [HOST, header]))).toMatchObject({ status: 200 });
  });

  test.each([
    ['404 of the version', 'GET /api/v1', [], ''],
    ['404 of an unreadable address', 'GET /api/v1/%E0%A4%A', [], ''],
    ['405 of OPTIONS', 'OPTIONS /api/v1/lookup/verify', [], ''],
    ['400', VERIFY, [JSON_TYPE], '{'],
    ['413', VERIFY, [JSON_TYPE], 'x'.repeat(20_000)],
    ['415', VERIFY, ['Content-Type: text/plain'], LOOKUP],
    ['404 of a number', VERIFY, [JSON_TYPE], LOOKUP.replace('700002', '999999')],
    ['the changes', 'GET /api/v1/changes', [], ''],
    ['the history', 'GET /api/v1/history?board=Nursing%20Board&license_number=RN.700001', [], ''],
    ['the results of a roster', 'POST /api/v1/lookup/batch', [JSON_TYPE], '{"items":[{}]}'],
  ])('that is missing is told before %s', async (_what, line, headers, body) => {
    const response = await sent(requestOf(line, [HOST, ...headers, LENGTH], body));
    expect(response).toMatchObject({ status: 401, says: BAD_KEY, wasOpen: true });
  });
});

describe('X-Request-Id', () => {
  test.each([['abc-123_x.y:z'], ['a'.repeat(100)]])('%s is repeated', async (id) => {
    for (const line of ['GET /docs/page.js', 'GET /nothing', 'GET /api/v1/lookup/boards']) {
      const response = await sent(requestOf(line, [HOST, `X-Request-Id: ${id}`]));
      expect(response.header('x-request-id')).toBe(id);
    }
  });

  test.each(['a'.repeat(101), 'a b', '', '\xC3\xB1', '<b>', 'a\r\nX-Request-Id: b'])(
    '%j is replaced',
    async (id) => {
      const response = await sent(requestOf('GET /docs/page.js', [HOST, `X-Request-Id: ${id}`]));
      expect(response.header('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe('X-Forwarded-Proto', () => {
  const HSTS = 'max-age=31536000';

  test.each([
    [['http', 'https'], 200, HSTS],
    [['https', 'http'], 403, null],
    [['wss'], 200, null],
  ])('%j gets %i', async (values, status, hsts) => {
    const response = await sent(
      requestOf(TYPES, [HOST, KEY, ...values.map((each) => `X-Forwarded-Proto: ${each}`)]),
    );
    expect([response.status, response.header('strict-transport-security')]).toEqual([status, hsts]);
  });

  test('on the admin port makes no difference', async () => {
    const request = requestOf('GET /healthz', [
      HOST,
      'X-Forwarded-Proto: http',
      'X-Forwarded-For: 192.0.2.9',
    ]);
    const response = await sent(request, service.environment.config.ADMIN_PORT);
    expect([response.status, response.header('strict-transport-security')]).toEqual([200, null]);
  });
});

describe('/mcp', () => {
  const ALLOWED = '. The setting MCP_ALLOWED_ORIGINS has those that are allowed.';
  const VERSION = 'MCP-Protocol-Version: 2025-11-25';

  function posted(headers: readonly string[], body: string | Buffer = PING) {
    return sent(requestOf('POST /mcp', [...headers, LENGTH], body));
  }

  test.each<[headers: string[], status: number, says: string | undefined]>([
    [['Host: LOCALHOST'], 200, undefined],
    [['Host:'], 403, '-32000 Missing Host header. The setting MCP_ALLOWED_HOSTS has those that are allowed.'],
    [['Host: localhost', 'Host: evil.example'], 400, ONE_HOST],
    [[], 400, ONE_HOST],
    [[HOST, 'Origin:'], 200, undefined],
    [[HOST, 'Origin: http://assistant.example'], 403, `-32000 Invalid Origin: assistant.example${ALLOWED}`],
    [
      [HOST, 'Origin: http://localhost:3000', 'Origin: https://evil.example'],
      403,
      `-32000 Invalid Origin header: http://localhost:3000, https://evil.example${ALLOWED}`,
    ],
  ])('with %j gets %i', async (headers, status, says) => {
    const response = await posted([JSON_TYPE, ACCEPT, VERSION, ...headers]);
    expect(response).toMatchObject({ status, says });
    expect(response.header('access-control-allow-origin')).toBeNull();
  });

  const NO_JSON = '-32000 Not Acceptable: the answer is JSON.';
  const ONLY_JSON = '-32000 Unsupported Media Type: Content-Type must be application/json';

  test.each<[headers: string[], status: number, says: string | undefined]>([
    [['Content-Type: application/json; charset=utf-8', ACCEPT], 200, undefined],
    [['Content-Type: Application/JSON', ACCEPT], 200, undefined],
    [['Content-Type: json', ACCEPT], 415, ONLY_JSON],
    [[ACCEPT], 415, ONLY_JSON],
    [[JSON_TYPE, 'Accept: */*'], 200, undefined],
    [[JSON_TYPE], 200, undefined],
    [[JSON_TYPE, 'Accept: text/event-stream'], 406, NO_JSON],
  ])('with %j gets %i', async (headers, status, says) => {
    expect(await posted([HOST, VERSION, ...headers])).toMatchObject({ status, says, wasOpen: true });
  });

  const NOT_JSON_RPC = '-32600 Bad Request: the request body is not a valid JSON-RPC message';
  const NO_METHOD = '-32601 Method not found';

  test.each<[body: string | Buffer, status: number, says: string | undefined]>([
    [PING.replace('1', '"a"'), 200, undefined],
    [`\ufeff${PING}`, 200, undefined],
    [PING.replace('1', 'null'), 400, NOT_JSON_RPC],
    ['"ping"', 400, NOT_JSON_RPC],
    [PING.replace('2.0', '1.0'), 400, NOT_JSON_RPC],
    [Buffer.from(PING.replace('ping', '\xD1'), 'latin1'), 400, NOT_UTF8],
    [PING.replace('ping', 'prompts/list'), 200, NO_METHOD],
    [PING.replace('ping', 'logging/setLevel'), 200, NO_METHOD],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', 202, undefined],
    ['{"jsonrpc":"2.0","method":"notifications/unknown"}', 202, undefined],
  ])('for %s gets %i', async (body, status, says) => {
    const response = await posted([HOST, VERSION, JSON_TYPE, ACCEPT], body);
    expect(response).toMatchObject({ status, says, wasOpen: true });
  });

  const MODERN_VERSION = 'MCP-Protocol-Version: 2026-07-28';
  const LIST = 'Mcp-Method: tools/list';
  const MODERN = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/list' },
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  });
  const WITHOUT_CAPABILITIES = MODERN.replace(',"io.modelcontextprotocol/clientCapabilities":{}', '');

  test.each([
    ['no version', [LIST], MODERN, 400, /^-32020 .* MCP-Protocol-Version header is absent$/],
    ['another version', [VERSION, LIST], MODERN, 400, /^-32020 .* header names 2025-11-25$/],
    ['another method', [MODERN_VERSION, 'Mcp-Method: ping'], MODERN, 400, /^-32020 .* header names ping$/],
    ['no capabilities', [MODERN_VERSION, LIST], WITHOUT_CAPABILITIES, 400, /^-32602 .*: missing$/],
  ])('of revision 2026-07-28 with %s', async (_what, headers, body, status, says) => {
    const response = await posted([HOST, JSON_TYPE, ACCEPT, ...headers], body);
    expect(response).toMatchObject({ status, says: expect.stringMatching(says) });
  });
});

describe('a query', () => {
  const CURSOR =
    'since is not a cursor of this feed. Send a cursor from an earlier response, "latest", or nothing.';
  const LIMIT = 'limit must be a whole number from 1 to 1000.';
  const NUMBER = 'license_number is needed: 1 to 100 characters.';

  test.each([
    ['changes?since=yesterday', CURSOR],
    ['changes?since=0123456789ab.1.00000000', CURSOR],
    [`changes?since=${'x'.repeat(101)}`, CURSOR],
    ['changes?since=latest&since=latest', 'since is sent twice; send it once.'],
    ['changes?limit=0', LIMIT],
    ['changes?limit=1001', LIMIT],
    ['changes?limit=ten', LIMIT],
    ['changes?kind=renewed', 'kind must be one of added, changed, removed.'],
    ['changes?cause=unknown', 'cause must be one of data, rollback, rejected_row, release.'],
    ['changes?board=Nursing', /^No board has exactly the name given; the nearest is "Nursing Board"\./],
    ['history?license_number=RN.700001', 'board is needed.'],
    ['history?board=Nursing%20Board', NUMBER],
    [`history?board=Nursing%20Board&license_number=${'9'.repeat(101)}`, NUMBER],
  ])('%s is refused', async (query, says) => {
    const response = await sent(requestOf(`GET /api/v1/${query}`, [HOST, KEY]));
    expect(response).toMatchObject({ status: 400, says: expect.stringMatching(says) });
  });

  test.each([
    'changes?since=',
    'changes?since=latest&page=2',
    'changes?board=Nursing%20Board&kind=changed&cause=data&limit=1000&since=latest',
    'history?board=Nursing%20Board&license_number=rn%20700001',
  ])('%s is taken', async (query) => {
    expect(await sent(requestOf(`GET /api/v1/${query}`, [HOST, KEY]))).toMatchObject({ status: 200 });
  });
});

test.each([
  ['/status', 404],
  ['/healthz/', 200],
  ['/readyz?verbose=1', 200],
  ['/queues/static/nothing.js', 404],
  ['/queues/static/../../package.json', 403],
  ['/queues/static/%2e%2e%2f%2e%2e%2fpackage.json', 403],
  ['/queues/static/%', 400],
  ['/queues/nothing', 404],
  ['/queues/api/nothing', 404],
  ['/queues/api/queues/nothing/1', 404],
  ['/queues/api/queues/publish/nothing', 404],
])('%s of the admin port is %i', async (path, status) => {
  const response = await sent(requestOf(`GET ${path}`, [HOST]), service.environment.config.ADMIN_PORT);
  expect(response).toMatchObject({ status, wasOpen: true });
});

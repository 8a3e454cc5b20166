import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { matchesIn, numbersIn } from '../support/answers.ts';
import { fixturesAnd, nurseRow, pharmacyRow, times } from '../support/fixtures.ts';
import { startService } from '../support/service.ts';
import { Connection } from '../support/transcripts/connection.ts';
import { verifies } from '../support/verifies.ts';

/**
 * What the interfaces accept over HTTP, byte by byte, and what POST /lookup/verify finds. `test/http-transcripts` shows one
 * whole response of each kind; here are the variants. Which forms of numbers and names find what: matching.test.ts. How a
 * body is read: unit/lookup.test.ts.
 */
const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const GOOD = { board: NURSING, license_number: 'RN.700002' };
const LOOKUP = JSON.stringify(GOOD);
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
const NOT_UNPACKED = 'The body does not match its Content-Encoding.';
const NOT_UTF8 = 'The body is not valid UTF-8.';
const NOT_AN_OBJECT = 'The body must be a JSON object.';
const NOT_THERE = 'There is nothing at this address. Lookups are at POST /api/v1/lookup/verify.';
const OTHER_METHOD = 'Method not allowed; see the Allow header.';
const OTHER_TYPE = 'Send the body as JSON, with Content-Type: application/json.';
const OTHER_ENCODING = 'Unsupported Content-Encoding; send the body as it is, or with gzip, deflate or br.';
const TOO_LARGE = 'The body is too large; a lookup takes at most 16 KB.';
const BAD_KEY = 'Invalid or inactive API key';

const padded = (number: number) => String(number).padStart(3, '0');

const { api, environment, rest } = await startService({
  settings: {
    TRUSTED_PROXIES: '1',
    MCP_ALLOWED_HOSTS: 'licenses.example',
    MCP_ALLOWED_ORIGINS: 'https://assistant.example',
  },
  files: (folder) =>
    fixturesAnd(folder, {
      individual: [
        ...times(120, (number) => nurseRow(`CROWD, GIVEN${padded(number)}`, `RN.${810_000 + number}`)),
        ...times(100, (number) => nurseRow(`HUNDRED, H${number}`, `RN.${820_000 + number}`)),
        nurseRow('ORDER, ANNA', 'RN.830003'),
        nurseRow('ORDER, ANN', 'RN.830002'),
        nurseRow('ORDER, ANN', 'RN.830001'),
        nurseRow('ORDER-BOOK, AARON', 'RN.830000'),
        ...times(101, (number) => nurseRow('ABLE-ZEBRA, ANN', `RN.${840_000 + number}`)),
        nurseRow('ZEBRA, ANN', 'RN.840000'),
      ],
      business: [
        ...times(101, (number) =>
          pharmacyRow(`ALPHA ${number} D.B.A ZED DRUGS ${number}`, `02${80_000_000 + number}`),
        ),
        pharmacyRow('ZED DRUGS', '0289000000'),
      ],
    }),
});

/** A request: its first line, with HTTP/1.1 unless it says a version, its headers and its body. */
function requestOf(line: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  const first = / HTTP\/\d/.test(line) ? line : `${line} HTTP/1.1`;
  const head = [first, ...headers, '', ''].join('\r\n');
  const length = String(Buffer.byteLength(body));
  const filled = head.replaceAll('<key>', rest.key).replaceAll('<length>', length);
  return Buffer.concat([Buffer.from(filled, 'latin1'), Buffer.from(body)]);
}

const errorBody = z.looseObject({
  detail: z.string().optional(),
  // Errors of the queue board have another form.
  error: z.object({ code: z.int(), message: z.string() }).optional().catch(undefined),
});

/** Sends bytes over a connection of its own. */
async function sent(bytes: Buffer, port = environment.config.PORT) {
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

const lookup = (headers: readonly string[], body: string | Buffer = LOOKUP) =>
  sent(requestOf(VERIFY, [HOST, KEY, ...headers], body));

describe('a malformed request is refused, and nothing that follows on its connection is answered:', () => {
  const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const EMPTY_CHUNKED = `0\r\n\r\n${SMUGGLED}`;

  test.each<[headers: string[], body: string, says: string]>([
    [['Content-Length: 5', LENGTH], LOOKUP, MALFORMED],
    [['Content-Length: 4', CHUNKED], `36\r\n${LOOKUP}\r\n${EMPTY_CHUNKED}`, MALFORMED],
    [['Transfer-Encoding: gzip, chunked'], EMPTY_CHUNKED, NOT_JSON],
  ])('%j before %j', async (headers, body, says) => {
    const response = await lookup([JSON_TYPE, ...headers], body);
    expect(response).toMatchObject({ status: 400, says, wasOpen: false, more: '' });
  });

  test.each([
    ['a path without a slash', 400, 'GET status HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['TLS', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03\r\n\r\n'],
    ['2,100 headers', 431, `GET / HTTP/1.1\r\nHost: localhost\r\n${'A:\r\n'.repeat(2100)}\r\n`],
  ])('%s', async (_what, status, head) => {
    const response = await sent(Buffer.from(head + SMUGGLED, 'latin1'));
    expect(response).toMatchObject({ status, says: MALFORMED, wasOpen: false, more: '' });
  });
});

describe('an address', () => {
  test.each([
    ...[`${VERIFY}?board=Medical%20Board`, `${VERIFY}?%E0%A4%A&%`, `${VERIFY}#x`, `${VERIFY}/`, `${TYPES}/`],
    ...['GET /docs/', 'GET /status?x=1', 'GET //', 'GET /?x=1'],
  ])('%s is answered', async (line) => {
    const body = line.startsWith('POST') ? LOOKUP : '';
    expect(await sent(requestOf(line, [HOST, KEY, JSON_TYPE, LENGTH], body))).toMatchObject({ status: 200 });
  });

  verifies(['VERSIONS-01', 'ERRORS-07'], 'that serves nothing is 404, as without the version', async () => {
    for (const line of [
      ...['POST /lookup/verify', 'POST /api/lookup/verify', 'POST /api/v2/lookup/verify', 'GET /api/v1'],
      ...[`${VERIFY}//`, 'POST //api/v1/lookup/verify', 'POST /API/V1/LOOKUP/VERIFY'],
      ...['POST /api/v1%2Flookup/verify', 'POST /api/v1/lookup/%76erify', 'GET /api/v1\\lookup'],
      ...'GET /api/v10/lookup/boards|GET /%|GET /%FF|OPTIONS /nothing|OPTIONS *|GET /mcp/nothing'.split('|'),
      ...['GET /x%0D%0ASet-Cookie:%20a=1', `GET /${'x'.repeat(8000)}`, 'GET /docs/../package.json'],
      ...['GET /docs/%2e%2e%2fpackage.json', 'GET /healthz', 'GET /metrics', 'GET /queues'],
    ]) {
      const response = await sent(requestOf(line, [HOST, KEY, JSON_TYPE, LENGTH], LOOKUP));
      expect([line, response]).toMatchObject([line, { status: 404, says: NOT_THERE, wasOpen: true }]);
      expect(response.header('set-cookie')).toBeNull();
    }
  });

  test.each(['Nursing%2FBoard', 'Nursing%00Board', 'N%FCrsing%20Board', '.'])(
    'the name %s of a board in it is taken as it is written',
    async (name) => {
      const response = await sent(requestOf(`GET /api/v1/lookup/boards/${name}/types`, [HOST, KEY]));
      expect(response).toMatchObject({ status: 400, says: expect.stringMatching(/^No board has exactly/) });
    },
  );

  test.each([
    ['/status', 404],
    ['/healthz/', 200],
    ['/queues/static/%2e%2e%2f%2e%2e%2fpackage.json', 403],
    ['/queues/static/%', 400],
    ['/queues/nothing', 404],
    ['/queues/api/queues/nothing/1', 404],
  ])('%s of the admin port is %i', async (path, status) => {
    const response = await sent(requestOf(`GET ${path}`, [HOST]), environment.config.ADMIN_PORT);
    expect(response).toMatchObject({ status, wasOpen: true });
  });
});

const READ = ['GET', 'HEAD'];

const REFUSED_METHODS: readonly [path: string, allowed: readonly string[], says: string | undefined][] = [
  ['/api/v1/lookup/verify', ['POST'], OTHER_METHOD],
  ['/api/v1/lookup/cached', ['POST'], OTHER_METHOD],
  ['/api/v1/lookup/boards/Nowhere/types', READ, OTHER_METHOD],
  ['/mcp', ['POST'], 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.'],
  ['/openapi.json', READ, OTHER_METHOD],
  // A page in HTML.
  ['/', READ, undefined],
  ['/metrics', READ, OTHER_METHOD],
  ['/queues/api/queues/publish/pause', READ, 'The queue is only shown here: GET and HEAD.'],
];

verifies(['ERRORS-09', 'ERRORS-07', 'SERVICE-07'], 'another method is 405, whatever the body', async () => {
  const { PORT, ADMIN_PORT } = environment.config;
  for (const [path, allowed, says] of REFUSED_METHODS) {
    const port = /metrics|queues/.test(path) ? ADMIN_PORT : PORT;
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'QUERY']) {
      if (allowed.includes(method)) continue;
      const body = method === 'POST' ? 'x'.repeat(20_000) : '';
      const response = await sent(requestOf(`${method} ${path}`, [HOST, KEY, LENGTH], body), port);
      const refused = { status: 405, says: method === 'HEAD' ? undefined : says, wasOpen: true };
      expect([method, path, response]).toMatchObject([method, path, refused]);
      expect(response.header('allow')?.split(', ').sort()).toEqual(allowed);
    }
  }
});

test.each([
  ...['/api/v1/changes', '/api/v1/lookup/boards/Nowhere/types', '/', '/status', '/openapi.json'].map(
    (path) => [path, 'PORT'] as const,
  ),
  ...['/readyz', '/metrics', '/queues', '/queues/api/queues', '/nothing'].map(
    (path) => [path, 'ADMIN_PORT'] as const,
  ),
])('HEAD %s at %s is answered as GET is, without the body', async (path, of) => {
  const port = environment.config[of];
  const get = await sent(requestOf(`GET ${path}`, [HOST, KEY]), port);
  const head = await sent(requestOf(`HEAD ${path}`, [HOST, KEY]), port);
  expect([head.status, head.names, head.wasOpen]).toEqual([get.status, get.names, true]);
  const same = ['content-type', 'cache-control', 'vary', 'content-security-policy'];
  // The metrics and the times of the queue differ each time.
  if (!/^\/(?:metrics|queues\/api)/.test(path)) same.push('content-length');
  expect(same.map(head.header)).toEqual(same.map(get.header));
  expect(Number(head.header('content-length'))).toBeGreaterThan(0);
});

describe('a body', () => {
  test.each([
    ['application/json;charset="UTF-8"', 200],
    ['Application/JSON; version=1', 200],
    [`application/json; x=${'x'.repeat(180)}`, 200],
    // Longer than is read of the header.
    [`application/json; x=${'x'.repeat(181)}`, 415],
    ['application/merge-patch+json', 415],
    ['json', 415],
    ['multipart/form-data', 415],
  ])('of the type %s gets %i', async (type, status) => {
    const says = status === 200 ? undefined : OTHER_TYPE;
    expect(await lookup([`Content-Type: ${type}`, LENGTH])).toMatchObject({ status, says, wasOpen: true });
  });

  test.each([
    ['no type', [LENGTH], LOOKUP, 415, OTHER_TYPE],
    ['another type, too large', ['Content-Type: a/b', LENGTH], 'x'.repeat(20_000), 415, OTHER_TYPE],
    ['two types: the first counts', [JSON_TYPE, 'Content-Type: a/b', LENGTH], LOOKUP, 200, undefined],
    ['no type and no length', [], '', 400, NOT_AN_OBJECT],
    ['no type and the length 0', [LENGTH], '', 400, NOT_AN_OBJECT],
    ['a type and the length 0', [JSON_TYPE, LENGTH], '', 400, NOT_JSON],
  ])('with %s', async (_what, headers, body, status, says) => {
    expect(await lookup(headers, body)).toMatchObject({ status, says });
  });

  const packed = gzipSync(LOOKUP);
  const parts = Buffer.concat([LOOKUP.slice(0, 9), LOOKUP.slice(9)].map((part) => gzipSync(part)));
  const nested = `${'['.repeat(5000)}${']'.repeat(5000)}`;

  test.each<
    [what: string, encoding: string, body: string | Buffer, status: number, says: string | undefined]
  >([
    ['deflate', 'deflate', deflateSync(LOOKUP), 200, undefined],
    ['br', 'br', brotliCompressSync(LOOKUP), 200, undefined],
    ['gzip by its old name', 'X-Gzip', packed, 200, undefined],
    ['two parts of gzip', 'GZIP', parts, 200, undefined],
    ['an empty encoding', '', LOOKUP, 200, undefined],
    ['a byte order mark', 'Identity', `\ufeff${LOOKUP}`, 200, undefined],
    ['exactly 16 KB', '', LOOKUP.padEnd(16 * 1024), 200, undefined],
    ['deep nesting in an unknown field', '', LOOKUP.replace('}', `,"x":${nested}}`), 200, undefined],
    ['deflate without its header', 'deflate', deflateRawSync(LOOKUP), 400, NOT_UNPACKED],
    ['gzip that is cut off', 'gzip', packed.subarray(0, -9), 400, NOT_UNPACKED],
    ['an empty gzip', 'gzip', '', 400, NOT_UNPACKED],
    ['gzip that says it is none', 'identity', packed, 400, NOT_UTF8],
    ['deep nesting', '', nested, 400, NOT_AN_OBJECT],
    ['another encoding', 'zstd', packed, 415, OTHER_ENCODING],
    ['gzip in two headers', 'gzip\r\nContent-Encoding: gzip', packed, 415, OTHER_ENCODING],
    ['a byte more than 16 KB', '', LOOKUP.padEnd(16 * 1024 + 1), 413, TOO_LARGE],
    ['a megabyte in gzip', 'gzip', gzipSync(LOOKUP.padEnd(1024 * 1024)), 413, TOO_LARGE],
  ])('with %s', async (_what, encoding, body, status, says) => {
    const response = await lookup([JSON_TYPE, `Content-Encoding: ${encoding}`, LENGTH], body);
    // What follows may be the rest of the body.
    const wasOpen = status !== 413 && says !== NOT_UNPACKED;
    expect(response).toMatchObject({ status, says, wasOpen, more: '' });
  });

  verifies('INPUT-06', 'that is not valid UTF-8 gets 400', async () => {
    const utf16 = Buffer.from(`\ufeff${LOOKUP}`, 'utf16le');
    const latin1 = gzipSync(Buffer.from(LOOKUP.replace('RN', 'RÑ'), 'latin1'));
    const refused = { status: 400, says: NOT_UTF8, wasOpen: true };
    expect(await lookup([JSON_TYPE, LENGTH], utf16)).toMatchObject(refused);
    expect(await lookup([JSON_TYPE, LENGTH, 'Content-Encoding: gzip'], latin1)).toMatchObject(refused);
  });

  test('in chunks that are too large together', async () => {
    const chunks = `3e8\r\n${'x'.repeat(1000)}\r\n`.repeat(20);
    const response = await lookup([JSON_TYPE, CHUNKED], `${chunks}0\r\n\r\n`);
    expect(response).toMatchObject({ status: 413, says: TOO_LARGE, wasOpen: false, more: '' });
  });
});

test.each([
  ['404 of an unreadable address', 'GET /api/v1/%E0%A4%A', ''],
  ['405 of OPTIONS', 'OPTIONS /api/v1/lookup/verify', ''],
  ['400', VERIFY, '{'],
  ['413', VERIFY, 'x'.repeat(20_000)],
  ['the history', 'GET /api/v1/history?board=Nursing%20Board&license_number=RN.700001', ''],
  ['the results of a roster', 'POST /api/v1/lookup/batch', '{"items":[{}]}'],
])('a key that is missing is told before %s', async (_what, line, body) => {
  const response = await sent(requestOf(line, [HOST, JSON_TYPE, LENGTH], body));
  expect(response).toMatchObject({ status: 401, says: BAD_KEY, wasOpen: true });
});

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER_TRACE = '00-00000000000000000000000000000001-0000000000000001-00';
const logLine = z.object({ msg: z.literal('request'), traceparent: z.string().optional() });

test.each([
  ['the message, rather than a header', OTHER_TRACE, TRACE, TRACE],
  ['a header, where that of the message has not the form', TRACE, { a: TRACE }, TRACE],
  ['nothing of the form', `${TRACE}-00`, TRACE.toUpperCase(), undefined],
])('the log has the trace of a tool call that is in %s', async (at, inHeader, traceparent, logged) => {
  const id = `traced-${at.replaceAll(/\W/g, '-')}`;
  const params = { name: 'list_ohio_boards', _meta: { traceparent } };
  await rest.request('POST', '/mcp', {
    headers: { accept: 'application/json, text/event-stream', 'x-request-id': id, traceparent: inHeader },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  await api.printed(`"requestId":"${id}"`);
  const lines = api.output().split('\n');
  const line = lines.find((each) => each.includes(id)) ?? '';
  expect(logLine.parse(JSON.parse(line)).traceparent).toBe(logged);
});

test.each([
  ['a'.repeat(100), true],
  ...['a'.repeat(101), 'a b', '', '\xC3\xB1', '<b>', 'a\r\nX-Request-Id: b'].map(
    (id) => [id, false] as const,
  ),
])('the X-Request-Id %j is repeated: %s', async (id, isRepeated) => {
  const response = await sent(requestOf('GET /nothing', [HOST, `X-Request-Id: ${id}`]));
  expect(response.header('x-request-id')).toEqual(isRepeated ? id : expect.stringMatching(/^[0-9a-f-]{36}$/));
});

const ALLOWED = '. The setting MCP_ALLOWED_ORIGINS has those that are allowed.';
const ONE_HOST = 'Send exactly one Host header.';
const VERSION = 'MCP-Protocol-Version: 2025-11-25';

const posted = (headers: readonly string[], body: string | Buffer = PING) =>
  sent(requestOf('POST /mcp', [...headers, LENGTH], body));

test.each<[headers: string[], status: number, says: string | undefined]>([
  [['Host:'], 403, '-32000 Missing Host header. The setting MCP_ALLOWED_HOSTS has those that are allowed.'],
  [['Host: localhost', 'Host: evil.example'], 400, ONE_HOST],
  [[HOST, 'Origin:'], 200, undefined],
  [[HOST, 'Origin: http://assistant.example'], 403, `-32000 Invalid Origin: assistant.example${ALLOWED}`],
  [
    [HOST, 'Origin: http://localhost:3000', 'Origin: https://evil.example'],
    403,
    `-32000 Invalid Origin header: http://localhost:3000, https://evil.example${ALLOWED}`,
  ],
])('/mcp with %j gets %i', async (headers, status, says) => {
  const response = await posted([JSON_TYPE, ACCEPT, VERSION, ...headers]);
  expect(response).toMatchObject({ status, says });
  expect(response.header('access-control-allow-origin')).toBeNull();
});

test.each<[body: string | Buffer, status: number, says: string | undefined]>([
  [`\ufeff${PING.replace('1', '"a"')}`, 200, undefined],
  [Buffer.from(PING.replace('ping', '\xD1'), 'latin1'), 400, NOT_UTF8],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 202, undefined],
  ['{"jsonrpc":"2.0","method":"notifications/unknown"}', 202, undefined],
])('/mcp for %s gets %i', async (body, status, says) => {
  const response = await posted([HOST, VERSION, JSON_TYPE, ACCEPT], body);
  expect(response).toMatchObject({ status, says, wasOpen: true });
});

const CURSOR =
  'since is not a cursor of this feed. Send a cursor from an earlier response, "latest", or nothing.';
const LIMIT = 'limit must be a whole number from 1 to 1000.';

test.each([
  ['changes?since=0123456789ab.1.00000000', CURSOR],
  [`changes?since=${'x'.repeat(101)}`, CURSOR],
  ['changes?limit=0', LIMIT],
  ['changes?limit=1001', LIMIT],
  ['changes?limit=ten', LIMIT],
  ['changes?kind=renewed', 'kind must be one of added, changed, removed.'],
  ['changes?cause=unknown', 'cause must be one of data, rollback, rejected_row, release.'],
  ['changes?board=Nursing', /^No board has exactly the name given; the nearest is "Nursing Board"\./],
  ['history?license_number=RN.700001', 'board is needed.'],
  [
    `history?board=Nursing%20Board&license_number=${'9'.repeat(101)}`,
    'license_number is needed: 1 to 100 characters.',
  ],
])('a query %s is refused', async (query, says) => {
  const response = await sent(requestOf(`GET /api/v1/${query}`, [HOST, KEY]));
  expect(response).toMatchObject({ status: 400, says: expect.stringMatching(says) });
});

test.each([
  'changes?since=latest&page=2',
  'changes?board=Nursing%20Board&kind=changed&cause=data&limit=1000&since=latest',
  'history?board=Nursing%20Board&license_number=rn%20700001',
])('a query %s is taken', async (query) => {
  expect(await sent(requestOf(`GET /api/v1/${query}`, [HOST, KEY]))).toMatchObject({ status: 200 });
});

const byName = (last_name: string, more: Record<string, string> = {}) =>
  rest.verify({ board: NURSING, last_name, ...more });

const business = (board: string, asked: Record<string, string>) =>
  rest.verify({ board, search_type: 'business', ...asked });

verifies('INPUT-03', 'unknown fields of the body are ignored, also __proto__ and constructor', async () => {
  const number = '"license_number": "RN.700001"';
  for (const field of [
    `"__proto__": {${number}}`,
    `"more": [{"__proto__": {${number}}}]`,
    `"constructor": {"prototype": {${number}}}`,
  ]) {
    const found = await lookup([JSON_TYPE, LENGTH], `{${field}, ${LOOKUP.slice(1)}`);
    const missed = await lookup([JSON_TYPE, LENGTH], `{${field}, "board": "Nursing Board"}`);
    expect([field, found.status, missed.status]).toEqual([field, 200, 400]);
  }
});

verifies('SEARCH-05', 'of 120 matches the first 100 are returned, with advice to narrow it', async () => {
  const answer = matchesIn(await byName('Crowd'));
  expect(answer).toMatchObject({ count: 100, truncated: true });
  expect(answer.message).toMatch(/first_name.*license_type.*status.*city.*county/);
  expect(answer.multiple.map(({ full_name }) => full_name)).toEqual(
    times(100, (number) => `CROWD, GIVEN${padded(number)}`),
  );
  expect((await byName('Crowd')).body).toEqual(answer);
  expect(numbersIn(await byName('Crowd', { first_name: 'given11' }))).toHaveLength(10);
  expect(matchesIn(await byName('Hundred'))).toMatchObject({ count: 100, truncated: false });
});

verifies('SEARCH-06', 'exact names come first, before 101 others, then names in order', async () => {
  expect(numbersIn(await byName('Order'))).toEqual(['RN.830001', 'RN.830002', 'RN.830003', 'RN.830000']);
  for (const [answer, exact] of [
    [await byName('Zebra'), 'ZEBRA, ANN'],
    [await byName('Zebra', { first_name: 'Ann' }), 'ZEBRA, ANN'],
    [await business(PHARMACY, { business_name: 'Zed Drugs' }), 'ZED DRUGS'],
  ] as const) {
    const { multiple, truncated } = matchesIn(answer);
    expect([multiple[0]?.full_name, multiple.length, truncated]).toEqual([exact, 100, true]);
  }
});

verifies(['VERSIONS-02', 'VERSIONS-03', 'VERSIONS-04'], '/cached answers as /verify does', async () => {
  for (const [body, end] of [
    [{ ...GOOD, license_type: 'Registered Nurse (RN)' }, ''],
    [{ board: PHARMACY, license_number: 'RN.700001' }, '/'],
    [{ board: NURSING, last_name: 'Smith' }, '?x=1'],
    [{ board: 'Nursing Bord', license_number: 'RN.700001' }, '/'],
  ] as const) {
    const current = await rest.verify(body);
    const deprecated = await rest.verify(body, `/api/v1/lookup/cached${end}`);
    expect([deprecated.status, deprecated.text]).toEqual([current.status, current.text]);
    expect([current, deprecated].map(({ headers }) => headers.has('deprecation'))).toEqual([false, true]);
  }
});

// A name needs a letter or a digit.
test.each([
  ...['x\u0000', 'x\ud800', '<script>', "'; DROP TABLE", '../../etc', 'x‮', 'a\u0301'.repeat(90)],
  ...['\ud800', '💉', '\u0301'],
])('unusual characters are data: %j finds nothing, and is no error', async (odd) => {
  const answers = [await rest.verify({ ...GOOD, license_number: odd }), await byName(odd)];
  expect(answers.map(({ status }) => status)).toEqual([404, /[a-z]/i.test(odd) ? 200 : 400]);
});

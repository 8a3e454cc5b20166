import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';

import { MAX_IN_FLIGHT, MAX_IN_FLIGHT_PER_ADDRESS } from '../../src/mcp/endpoint.ts';

import { clientAt } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { times } from '../support/fixtures.ts';
import { startProxy } from '../support/proxy.ts';
import { rawRequest } from '../support/raw-http.ts';
import { ROSTER_PATH } from '../support/rosters.ts';
import { valueAt } from '../support/series.ts';
import { startService } from '../support/service.ts';
import { COMPRESSIONS, formParts, PARTS_TYPE } from '../support/worst-bodies.ts';

const JSON_TYPE = 'application/json';
const PIECE = Buffer.alloc(128 * 1024, ' ');
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };
const OVER_EVERY_LIMIT = 2 * 1024 * 1024;
/** Every way in for a body. */
const WAYS = [
  ['/mcp', JSON_TYPE],
  ['/roster', 'application/x-www-form-urlencoded'],
  ['/records', 'application/x-www-form-urlencoded'],
  ['/api/v1/lookup/verify', JSON_TYPE],
  [ROSTER_PATH, JSON_TYPE],
  [ROSTER_PATH, 'text/csv'],
] as const;

const service = await startService({ settings: { TRUSTED_PROXIES: '1' } });
let lastAddress = 0;

/** Headers of a request from an address of its own, since an address may not save many records. */
function headersOf(type: string, more: Record<string, string> = {}): Record<string, string> {
  const host = `127.0.0.1:${service.environment.config.PORT}`;
  lastAddress += 1;
  return {
    ...{ 'x-forwarded-for': `10.0.${lastAddress >> 8}.${lastAddress & 255}`, host, origin: `http://${host}` },
    ...{ 'x-api-key': service.rest.key, 'content-type': type, accept: `${JSON_TYPE}, text/event-stream` },
    ...more,
  };
}

function send(path: string, type: string, body: Buffer | string, more: Record<string, string> = {}) {
  const headers = headersOf(type, more);
  return rawRequest(service.environment.config.PORT, path, { method: 'POST', headers, body });
}

/** A request of which only the beginning of the body is sent. */
function unfinished(path: string, type: string, more: Record<string, string>, start: Buffer | string) {
  const socket = connect(service.environment.config.PORT, '127.0.0.1');
  const headers = headersOf(type, { 'content-length': String(start.length + 1), ...more });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(start);
  return socket;
}

/** Expects that slots are free: the tests send far more requests than there are slots. */
async function expectAnswering(): Promise<void> {
  expect(service.api.child.exitCode).toBeNull();
  expect((await service.rest.verify(LOOKUP)).status).toBe(200);
  expect((await send('/mcp', JSON_TYPE, LIST)).status).toBe(200);
}

/** Compressed bytes with everything that can be wrong with them. */
function corrupted(compressed: Buffer): Buffer[] {
  const places = times(10, (at) => Math.floor((compressed.length * (at - 1)) / 10));
  const flipped = places.map((place) => {
    const copy = Buffer.from(compressed);
    copy[place] = (copy[place] ?? 0) ^ 0xff;
    return copy;
  });
  const wrongEnd = Buffer.from(compressed);
  wrongEnd.fill(0xaa, Math.max(0, wrongEnd.length - 8));
  return [
    ...places.map((place) => compressed.subarray(0, place)),
    ...flipped,
    wrongEnd,
    compressed.subarray(0, -1),
    Buffer.concat([compressed, compressed.subarray(0, -1)]),
    Buffer.concat([compressed, Buffer.from('more')]),
  ];
}

test('a Content-Encoding that is a name of every object, or several, is refused', async () => {
  for (const encoding of ['constructor', '__proto__', 'gzip, gzip', 'gzip;q=1'])
    for (const [path, type] of WAYS) {
      const { status } = await send(path, type, '{}', { 'content-encoding': encoding });
      expect([path, status]).toEqual([path, 415]);
    }
  await expectAnswering();
});

test('the fields of a form are counted by the boundary by which it is read', async () => {
  const list = formParts('roster', 'board,license_number\nNursing Board,RN.700001\n');
  const [field = ''] = formParts('a', '').split(/(?<=\r\n\r\n\r\n)/);
  const form = field.repeat(300) + list;
  expect((await send('/roster', PARTS_TYPE, list)).status).toBe(200);
  expect((await send('/roster', PARTS_TYPE, form)).status).toBe(400);
  const [type = '', boundary = ''] = PARTS_TYPE.split('; ');
  const twice = `${type}; x="; boundary=----another"; ${boundary}`;
  expect((await send('/roster', twice, form)).status).toBe(400);
});

test.each([...COMPRESSIONS])('a broken body of the encoding %s is refused', async (encoding, compress) => {
  const within = compress(Buffer.from(JSON.stringify({ a: times(300, (at) => Math.sin(at)) })));
  const over = compress(Buffer.alloc(OVER_EVERY_LIMIT));
  for (const body of [...corrupted(within), ...corrupted(over)]) {
    const more = { 'content-encoding': encoding };
    const answers = await Promise.all(WAYS.map(([path, type]) => send(path, type, body, more)));
    for (const { status } of answers) expect([200, 202, 400, 413]).toContain(status);
  }
  await expectAnswering();
});

test.each(WAYS)('who is sending too large a body reads the answer: %s, %s', async (path, type) => {
  const socket = unfinished(path, type, { 'content-length': String(OVER_EVERY_LIMIT) }, '');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (let sent = 0; sent < OVER_EVERY_LIMIT; sent += PIECE.length) {
    socket.write(PIECE);
    await sleep(answer === '' ? 5 : 1);
  }
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

test.each(['identity', ...COMPRESSIONS.keys()])('a broken-off %s body holds no slot', async (encoding) => {
  const whole = COMPRESSIONS.get(encoding)?.(LIST) ?? Buffer.from(LIST);
  const stages = [0, 1, whole.length >> 1, whole.length - 1].map((end) => whole.subarray(0, end));
  const more = { 'content-encoding': encoding, expect: '100-continue' };
  for (const [path, type] of WAYS) {
    const starts = times(path === '/mcp' ? MAX_IN_FLIGHT / 3 : 3, () => stages).flat();
    const sockets = starts.map((start) => unfinished(path, type, more, start));
    // The service asks for the body when it reads it.
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    // Bodies that are never finished keep nobody out.
    expect((await send('/mcp', JSON_TYPE, LIST)).status).toBe(200);
    for (const socket of sockets) socket.resetAndDestroy();
  }
  await expectAnswering();
});

test.each([
  ['/roster', 'application/x-www-form-urlencoded'],
  [ROSTER_PATH, 'text/csv'],
])('of large bodies to %s, an address has a few on the way, all together more', async (path, type) => {
  const answers: number[] = [];
  const begin = (address: string) => {
    const more = { 'x-forwarded-for': address, 'content-length': String(1024 * 1024) };
    const socket = unfinished(path, type, more, 'license_number');
    socket.on('data', (data) => answers.push(Number(data.toString().split(' ')[1])));
    return socket;
  };
  const untilAnswered = async (statuses: readonly number[]) => {
    await eventually('the answers came', () => answers.length >= statuses.length);
    expect(answers).toEqual(statuses);
  };
  const held = times(9, () => begin('10.1.0.0'));
  await untilAnswered([429]);
  held.push(...times(7, (at) => times(8, () => begin(`10.1.0.${at}`))).flat());
  held.push(begin('10.1.1.1'));
  await untilAnswered([429, 503]);
  // What is small is answered at any time.
  expect((await service.rest.verify(LOOKUP)).status).toBe(200);
  for (const socket of held) socket.resetAndDestroy();
  const statusOf = async () => (await send(path, type, 'license_number\nRN.700001\n')).status;
  await eventually('there is room again', async () => (await statusOf()) !== 503);
});

test('calls wait a second for an MCP slot, and two busy hosts of assistants turn no third address away', async () => {
  const { environment } = service;
  let held = Promise.withResolvers<void>();
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
    if (/licenses-.*_search/.test(request.path)) await held.promise;
    return request.forward();
  });
  const [port = 0, adminPort = 0] = await freePorts(2);
  await startApi({
    ...{ ...environment.variables, PORT: String(port), ADMIN_PORT: String(adminPort) },
    ...{ OPENSEARCH_URL: proxy.url, MCP_REQUESTS_PER_MINUTE: '1000' },
    MCP_RATE_LIMIT_RANGES: '203.0.113.0/24=10000',
  });
  const client = clientAt(`http://127.0.0.1:${port}`, '');
  let refused = 0;
  /** Tool calls from an address, as the proxy in front names it. */
  const statusesOf = (address: string, count: number) =>
    Promise.all(
      times(count, async () => {
        const from = { 'x-forwarded-for': address };
        const answer = await client.callTool('verify_license', { license_number: 'RN.700001' }, from);
        if (answer.status === 429) refused += 1;
        return [answer.status, answer.headers.get('retry-after')] as const;
      }),
    );
  const inFlight = () => valueAt(adminPort, 'licenses_lookups_in_flight');
  const untilWaiting = (count: number) => eventually('all wait', async () => (await inFlight()) >= count);
  const answered = (count: number) => times(count, () => [200, null]);

  const hosts = ['203.0.113.1', '203.0.113.2'].map((address) => statusesOf(address, MAX_IN_FLIGHT / 2));
  await untilWaiting(MAX_IN_FLIGHT * 0.75);
  const other = statusesOf('198.51.100.1', 40);
  await untilWaiting(MAX_IN_FLIGHT * 0.75 + 40);
  // The last quarter is not for the hosts.
  expect(await inFlight()).toBe(MAX_IN_FLIGHT * 0.75 + 40);
  held.resolve();
  expect(await other).toEqual(answered(40));
  const ofHosts = (await Promise.all(hosts)).flat().filter(([status]) => status === 200);
  expect(ofHosts.length).toBeGreaterThanOrEqual(MAX_IN_FLIGHT * 0.75);
  expect(await statusesOf('198.51.100.2', 64)).toEqual(answered(64));

  held = Promise.withResolvers();
  const one = statusesOf('198.51.100.3', MAX_IN_FLIGHT_PER_ADDRESS + 3);
  refused = 0;
  await eventually('three have waited in vain', () => refused === 3);
  held.resolve();
  const statuses = (await one).toSorted(([first], [second]) => Number(first) - Number(second));
  expect(statuses).toEqual([...answered(MAX_IN_FLIGHT_PER_ADDRESS), ...times(3, () => [429, '1'])]);
});

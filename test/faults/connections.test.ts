import { once } from 'node:events';
import { Agent, get, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import Koa from 'koa';
import { pino } from 'pino';
import { z } from 'zod';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import type { RateLimit } from '../../src/access/rate-limit.ts';
import { httpApp, type RequestState } from '../../src/http/app.ts';
import { close, httpServer, listen } from '../../src/http/connections.ts';
import { counted } from '../../src/http/guard.ts';
import { largeResponses } from '../../src/http/limits.ts';
import { operatorHosts } from '../../src/service-status/admin.ts';
import { metrics } from '../../src/telemetry/metrics.ts';
import { eventually } from '../support/eventually.ts';
import { times } from '../support/fixtures.ts';
import { rawRequest } from '../support/raw-http.ts';

const MB = 1024 * 1024;
const OF_ADDRESS = 1000;

const UNLIMITED: RateLimit = {
  limitFor: () => 1,
  spend: () => Promise.resolve({ remaining: 1, msBeforeReset: 0 }),
  hasLeft: () => Promise.resolve(true),
  giveBack: () => Promise.resolve(),
};

/**
 * A server of the service whose app answers `/bytes/N` with N bytes, `/json/N` with N bytes of JSON and `/file/N` with a
 * file of N bytes, as one that was found.
 */
async function started({ isBehindProxies = false, isAdmin = false } = {}) {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const app = httpApp(log, undefined, isBehindProxies ? 1 : 0);
  app.use(counted('web', UNLIMITED));
  let handled = 0;
  app.use(async (_ctx, next) => {
    await next();
    handled += 1;
  });
  if (isAdmin) app.use(operatorHosts(['licenses.corp.example']));
  app.use(async (ctx) => {
    if (ctx.query.ms !== undefined) await sleep(Number(ctx.query.ms));
    const [, kind, bytes] = /^\/(bytes|json|file)\/(\d+)$/.exec(ctx.path) ?? [];
    if (kind === 'bytes') ctx.body = Buffer.alloc(Number(bytes), 'x');
    else if (kind === 'json') ctx.body = { text: 'x'.repeat(Number(bytes)) };
    else if (kind === 'file') {
      ctx.state.outcome = 'found';
      ctx.type = 'text/csv';
      ctx.attachment('result.csv');
      ctx.body = Buffer.alloc(Number(bytes), 'x');
    } else if (ctx.path === '/') ctx.body = 'hello';
    else if (ctx.path === '/nothing') ctx.status = 204;
  });
  const server = httpServer(app, log);
  await listen(server, '0.0.0.0', 0);
  const { port } = z.custom<AddressInfo>().parse(server.address());
  const logged = (message: string) =>
    lines
      .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))
      .filter(({ msg }) => msg === message);
  atEndOfTestFile(() => {
    server.closeAllConnections();
    return close(server);
  });
  return {
    server,
    port,
    /** How many requests it has worked on to the end. */
    handled: () => handled,
    /** The lines of its log with this message. */
    logged,
  };
}

/** Sends bytes and reads until the server closes. */
async function sent(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(request);
  return text(socket);
}

/** The series of the metrics, by name and labels. */
async function series(): Promise<ReadonlyMap<string, number>> {
  const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('licenses_'));
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
}

describe('a request', () => {
  let port: number;

  beforeAll(async () => {
    ({ port } = await started());
  });

  test.each([
    ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n'],
    ['two Hosts of other case', 'GET / HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\n'],
    ['an address of another port', 'GET http://localhost:1/ HTTP/1.1\r\nHost: localhost\r\n'],
    ['an address that is none', 'GET http://[::1/%41 HTTP/1.1\r\nHost: localhost\r\n'],
    ['a third that is none', 'GET https://[::1/ HTTP/1.1\r\nHost: [::1\r\n'],
  ])('with %s gets 400 in JSON', async (_what, head) => {
    expect(await sent(port, `${head}Connection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\n.*\r\nx-request-id: [\w-]+\r\n.*\r\n\r\n\{"detail":"[^"]+"\}$/s,
    );
  });

  test.each([
    'GET http://LOCALHOST:80/ HTTP/1.1\r\nHost: localhost\r\n',
    'GET / HTTP/1.1\r\nHost: [::1]:80\r\n',
  ])('that begins with %j is answered', async (head) => {
    expect(await sent(port, `${head}Connection: close\r\n\r\n`)).toMatch(/hello$/);
  });

  test.each([
    ['127.0.0.1', 200],
    ['[fd00::2]:9464', 200],
    ['localhost:9464', 200],
    ['LICENSES.corp.example:9464', 200],
    ['localhost.evil.example', 403],
    ['corp.example', 403],
  ])('to an admin port by the name "%s" gets %i', async (host, status) => {
    const { port } = await started({ isAdmin: true });
    expect((await rawRequest(port, '/', { headers: { host } })).status).toBe(status);
  });
});

describe('connections', () => {
  function idle(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    return once(socket, 'connect').then(() => socket);
  }

  const connectionsOf = (server: Server): Promise<number> => promisify(server.getConnections.bind(server))();

  function statusFrom(localAddress: string, port: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      get({ host: '127.0.0.1', port, localAddress, agent: new Agent(), path: '/' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', () => resolve(undefined));
    });
  }

  test('of one address are bounded; others are answered, and log and metric say so', async () => {
    const { server, port, logged } = await started();
    const refused = 'licenses_connections_refused_total{reason="address"}';
    const before = (await series()).get(refused) ?? 0;
    const sockets = await Promise.all(times(OF_ADDRESS, () => idle(port)));
    await eventually('all are connected', async () => (await connectionsOf(server)) === OF_ADDRESS);
    expect(await statusFrom('127.0.0.1', port)).toBeUndefined();
    expect(await statusFrom('127.0.0.1', port)).toBeUndefined();
    expect(await statusFrom('127.0.0.2', port)).toBe(200);
    expect(logged('connections refused: too many')).toEqual([expect.objectContaining({ connections: 1 })]);
    expect((await series()).get(refused)).toBe(before + 2);
    for (const socket of sockets) socket.destroy();
    await eventually('it is answered again', async () => (await statusFrom('127.0.0.1', port)) === 200);
  });

  test('that come from proxies are not counted by address', async () => {
    const { port, logged } = await started({ isBehindProxies: true });
    const sockets = await Promise.all(times(OF_ADDRESS + 10, () => idle(port)));
    expect(await statusFrom('127.0.0.1', port)).toBe(200);
    expect(logged('connections refused: too many')).toEqual([]);
    for (const socket of sockets) socket.destroy();
  });

  test('that wait for another request make room when the server is full', async () => {
    const { server, port, logged } = await started();
    server.maxConnections = 5;
    const agent = new Agent({ keepAlive: true });
    const asked = times(5, () => once(get({ host: '127.0.0.1', port, agent, path: '/' }), 'response'));
    await Promise.all(asked.map(async (each) => text((await each)[0])));
    expect(await statusFrom('127.0.0.3', port)).toBeUndefined();
    await eventually('there is room', async () => (await statusFrom('127.0.0.3', port)) === 200);
    expect(logged('connections refused: too many')).toHaveLength(1);
    agent.destroy();
  });
});

describe('responses that clients read slowly', () => {
  const LARGE = 9 * MB;

  afterEach(() => void jest.restoreAllMocks());

  /** Asks for a path and reads 4 KB every tenth of a second. */
  function reader(port: number, path: string, client = '192.0.2.1') {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\n\r\n`);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const status = once(socket, 'readable').then(() => String(socket.read(12)).slice(9));
    const timer = setInterval(() => socket.read(Math.min(4096, socket.readableLength)), 100);
    void closed.then(() => clearInterval(timer));
    return { socket, status, closed };
  }

  /** Readers of 9 MB, from the clients if given, each of which has a response. */
  async function readers(port: number, path: string, clients: readonly (string | undefined)[]) {
    const slow: ReturnType<typeof reader>[] = [];
    for (const client of clients) {
      const next = reader(port, path, client);
      expect(await next.status).toBe('200');
      slow.push(next);
    }
    return slow;
  }

  function answerFor(port: number, path: string, client: string) {
    const headers = { host: 'localhost', 'x-forwarded-for': client };
    return rawRequest(port, path, { headers });
  }
  const statusFor = async (port: number, path: string, client: string) =>
    (await answerFor(port, path, client)).status;

  test('are bounded together', async () => {
    const { port } = await started({ isBehindProxies: true });
    const path = `/json/${LARGE}`;
    const clients = times(14, (number) => `198.51.100.${number}`);
    const slow = await readers(port, path, clients);
    expect(await statusFor(port, path, '192.0.2.2')).toBe(503);
    expect(await statusFor(port, '/json/1000', '192.0.2.2')).toBe(200);
    const held = async () => (await series()).get('licenses_responses_held_bytes') ?? 0;
    expect(await held()).toBeGreaterThanOrEqual(14 * LARGE);
    slow[0]?.socket.destroy();
    await eventually('there is room', async () => (await statusFor(port, path, '192.0.2.2')) === 200);
    for (const { socket } of slow) socket.destroy();
    await eventually('nothing is held', async () => (await held()) === 0);
  });

  test('are bounded for each client, whose own next request is refused', async () => {
    const { port } = await started({ isBehindProxies: true });
    const path = `/bytes/${LARGE}`;
    expect(await statusFor(port, '/nothing', '2001:db8:1:2::1')).toBe(204);
    const slow = await readers(port, path, Array(3).fill('2001:db8:1:2::1'));
    expect(await statusFor(port, path, '2001:db8:1:2::9')).toBe(429);
    expect(await statusFor(port, '/bytes/1000', '2001:db8:1:2::9')).toBe(200);
    expect(await statusFor(port, path, '2001:db8:1:3::1')).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });

  test('make a refusal that is counted as one, and is not the file that was asked for', async () => {
    const { port } = await started({ isBehindProxies: true });
    const ended = async (outcome: string) =>
      (await series()).get(`licenses_request_seconds_count{interface="web",outcome="${outcome}"}`) ?? 0;
    const before = await Promise.all([ended('found'), ended('limited')]);
    const slow = await readers(port, `/file/${LARGE}`, Array(3).fill(undefined));
    const { status, headers, body } = await answerFor(port, `/file/${LARGE}`, '192.0.2.1');
    expect([status, body]).toEqual([429, { detail: expect.any(String) }]);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('content-disposition')).toBeNull();
    for (const { socket } of slow) socket.destroy();
    await eventually('all are counted', async () => (await ended('found')) === (before[0] ?? 0) + 3);
    expect(await ended('limited')).toBe((before[1] ?? 0) + 1);
  });

  test('are not counted for clients that have left before the response was made', async () => {
    const { port, handled } = await started();
    for (const _ of times(30, Number)) {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET /bytes/${LARGE}?ms=100 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await sleep(20);
      socket.resetAndDestroy();
    }
    await eventually('all are worked on', () => handled() === 30);
    expect((await rawRequest(port, `/bytes/${LARGE}`)).status).toBe(200);
  });

  test('have a deadline, which progress does not move', async () => {
    const limits = { maxBytes: 1000 * MB, maxBytesOfClient: 1000 * MB, minBytesPerMs: MB, freeMs: 54_321 };
    const SIZE = 64 * MB;
    const deadlines: (() => void)[] = [];
    const { setTimeout: realTimeout } = globalThis;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((work, ms) => {
      if (ms === limits.freeMs + SIZE / limits.minBytesPerMs) deadlines.push(work);
      return realTimeout(work, ms);
    });
    const lines: string[] = [];
    const hold = largeResponses(pino({}, { write: (line) => lines.push(line) }), limits);
    const app = new Koa<RequestState>();
    app.use((ctx) => {
      // More than the buffers of the network hold.
      ctx.body = Buffer.alloc(SIZE);
      hold(ctx, SIZE, SIZE);
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.custom<AddressInfo>().parse(server.address());
    const cut = async () => (await series()).get('licenses_responses_cut_total') ?? 0;
    const before = await cut();
    const slow = reader(port, '/');
    expect(await slow.status).toBe('200');
    expect((await rawRequest(port, '/')).text.length).toBe(SIZE);
    expect([slow.socket.closed, deadlines.length]).toEqual([false, 2]);
    const [ofSlow, ofFast] = deadlines;
    // It has ended.
    ofFast?.();
    expect(await cut()).toBe(before);
    ofSlow?.();
    // Reading the rest would take half an hour.
    await slow.closed;
    expect(await cut()).toBe(before + 1);
    expect(lines.join()).toContain('responses cut off: their clients read too slowly');
    server.close();
  });
});

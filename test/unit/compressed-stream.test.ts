import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import pino from 'pino';
import { httpApp } from '../../src/http/app.ts';
import { sendCompressed } from '../../src/http/compressed-stream.ts';

/** Hardly compressible. */
const PART = randomBytes(48_000).toString('base64');
/** Far more than sockets hold. */
const MANY_PARTS = 4000;

let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A server that sends so many parts, and what it has sent so far. */
async function serving(parts: number, limits: Parameters<typeof sendCompressed>[3]) {
  const state = { taken: 0, hasEnded: false };
  async function* source() {
    try {
      for (; state.taken < parts; state.taken += 1) yield PART;
    } finally {
      state.hasEnded = true;
    }
  }
  const app = httpApp({ log: pino({ level: 'silent' }) });
  app.use(async (ctx) => {
    ctx.set('content-encoding', 'gzip');
    await sendCompressed(ctx, source(), new AbortController().signal, limits);
  });
  server = createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, state };
}

test('a client that stops reading holds few parts, and is cut off', async () => {
  const { port, state } = await serving(MANY_PARTS, { freeMs: 500, minBytesPerMs: 1000 });
  const socket = connect(port, '127.0.0.1').pause();
  const closed = once(socket, 'close').catch(() => undefined);
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  while (!state.hasEnded) await sleep(50);
  expect(state.taken).toBeLessThan(MANY_PARTS / 5);
  // Who does not read notices only when it does.
  socket.resume();
  await closed;
});

test('a client that reads fast enough gets all', async () => {
  const { port, state } = await serving(50, { freeMs: 10_000, minBytesPerMs: 128 });
  const bytes = await new Promise<number>((resolve, reject) => {
    get({ host: '127.0.0.1', port }, (response) => {
      let read = 0;
      response.on('data', (chunk: Buffer) => {
        read += chunk.length;
      });
      response.on('end', () => resolve(read));
      response.on('error', reject);
    }).on('error', reject);
  });
  expect([state.taken, bytes > 50 * 48_000]).toEqual([50, true]);
});

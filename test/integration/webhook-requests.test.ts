import { createSocket } from 'node:dgram';
import { readFile } from 'node:fs/promises';
import { setGlobalProxyFromEnv } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { post, publicAddresses } from '../../src/subscriptions/outgoing.ts';
import { selfSigned } from '../support/certificate.ts';
import { describeUnless, missing } from '../support/describe-unless.ts';
import { listening, webServer } from '../support/proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const LOOPBACK = ['127.0.0.0/8'];

/** Sends an empty object to a receiver on this machine. */
const send = (url: string, options?: Parameters<typeof post>[4]) => post(url, {}, '{}', LOOPBACK, options);

/** How long a receiver may take that would take longer than any test waits, and any other. */
const withinMs = (reason: string) => (reason === 'timeout' ? 300 : 60_000);

/** A server on this machine that does this with each connection, once something was sent on it. */
async function receiver(answer: (socket: Socket) => void, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => answer(socket));
  });
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  atEndOfTestFile(stop);
  const port = await listening(server, 0, host);
  return {
    ...{ port, server, sockets, stop },
    url: `http://127.0.0.1:${port}/hook`,
    connections: () => connections,
  };
}

const answering = (text: string) => (socket: Socket) => socket.end(text);
const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';

/** Writes the same again and again while the connection lasts, as fast as it is taken or every 20 ms. */
const endless = (first: string, again: string | Buffer, pace: 'fast' | 'slow') => (socket: Socket) => {
  socket.write(first);
  const write = () => {
    if (socket.destroyed) return;
    if (pace === 'slow') socket.write(again, () => setTimeout(write, 20));
    else socket.write(again, write);
  };
  write();
};

test('a server of this machine is reached in allowed ranges', async () => {
  const { port, connections } = await receiver(answering(NO_CONTENT), '::');
  const hosts = ['127.0.0.1', '127.1', '2130706433', 'localhost', '[::1]', '[::ffff:127.0.0.1]'];
  for (const host of hosts) {
    const answer = await post(`http://${host}:${port}/`, {}, '{}', [...LOOPBACK, '::1/128']);
    expect([host, answer]).toEqual([host, { status: 204 }]);
  }
  expect(connections()).toBe(hosts.length);
});

test('a server of this machine is not connected to by a name whose address changes after it was asked for', async () => {
  // 127.0.0.1 stands for a public address, 127.0.0.2 for one that is not.
  const { port } = await receiver(answering(NO_CONTENT));
  const other = createServer(() => expect('a connection').toBe('none'));
  atEndOfTestFile(async () => other.close());
  await listening(other, port, '127.0.0.2');
  let asked = 0;
  const addressesOf = async () => {
    asked += 1;
    return [{ address: asked % 2 === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
  };
  const again = () => post(`http://hooks.example.com:${port}/`, {}, '{}', ['127.0.0.1/32'], { addressesOf });
  expect([await again(), asked]).toEqual([{ status: 204 }, 1]);
  expect(await again()).toEqual({ reason: 'address not allowed' });
});

test('a server of this machine is not connected to because another one redirects to it', async () => {
  const secret = await receiver(answering(NO_CONTENT));
  for (const status of [301, 302, 303, 307, 308]) {
    const { url } = await receiver(
      answering(`HTTP/1.1 ${status} See\r\nLocation: ${secret.url}\r\nContent-Length: 0\r\n\r\n`),
    );
    expect(await send(url)).toEqual({ status });
  }
  expect(secret.connections()).toBe(0);
});

test('the name servers are asked for a public host, without a thread that one could hold', async () => {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5;
    const isIpv4 = query.readUInt16BE(end - 4) === 1;
    const answer = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, 7];
    const parts = [[0x81, 0x80, 0, 1, 0, Number(isIpv4), 0, 0, 0, 0], isIpv4 ? answer : []];
    const [head = Buffer.alloc(0), found = Buffer.alloc(0)] = parts.map((part) => Buffer.from(part));
    server.send([query.subarray(0, 2), head, query.subarray(12, end), found], port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  const addresses = await publicAddresses('hooks.example.com', [`127.0.0.1:${server.address().port}`]);
  server.close();
  expect(addresses).toEqual([{ address: '192.0.2.7', family: 4 }]);
});

test('a proxy of the environment is not used', async () => {
  const [proxy, { url }] = [await receiver(answering(NO_CONTENT)), await receiver(answering(NO_CONTENT))];
  const restore = setGlobalProxyFromEnv({ http_proxy: new URL(proxy.url).origin });
  try {
    expect(await send(url)).toEqual({ status: 204 });
  } finally {
    restore();
  }
  expect(proxy.connections()).toBe(0);
});

test('a message is sent as one request, with its length, on a connection of its own', async () => {
  const sent: string[] = [];
  const { url, connections, server } = await receiver(() => undefined);
  server.on('connection', (socket: Socket) =>
    socket.on('data', (bytes) => {
      sent.push(String(bytes));
      if (sent.join('').endsWith('{"a":"ü"}')) socket.end(NO_CONTENT);
    }),
  );
  for (const id of ['msg_1', 'msg_2']) await post(url, { 'webhook-id': id }, '{"a":"ü"}', LOOPBACK);
  expect(connections()).toBe(2);
  const [head = '', body] = sent.join('').split('\r\n\r\n');
  expect(head.split('\r\n')).toEqual([
    'POST /hook HTTP/1.1',
    expect.stringMatching(/^host: 127\.0\.0\.1:\d+$/),
    'connection: close',
    'webhook-id: msg_1',
    'content-type: application/json',
    expect.stringMatching(/^user-agent: Ohio-License-Verification\/\d/),
    'content-length: 10',
  ]);
  expect(body).toMatch(/^\{"a":"ü"\}/);
});

test.each<[string, string, (socket: Socket) => void]>([
  ['never answers', 'timeout', () => undefined],
  ['sends its headers byte by byte', 'timeout', endless('HTTP/1.1 200 OK\r\nX-A: ', 'a', 'slow')],
  ['sends endless hints', 'timeout', endless('', 'HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n', 'slow')],
  [
    'sends endless headers',
    'not an HTTP response',
    endless('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'.repeat(1000), 'fast'),
  ],
  ['resets the connection', 'connection closed', (socket) => socket.resetAndDestroy()],
  ['ends the connection', 'connection closed', (socket) => socket.end()],
  ['ends it in the headers', 'connection closed', answering('HTTP/1.1 200 OK\r\nA: ')],
  ['speaks no HTTP', 'not an HTTP response', answering('220 mail.example.com ESMTP\r\n')],
  [
    'changes to another protocol',
    'connection closed',
    answering('HTTP/1.1 101 Switching Protocols\r\nUpgrade: secret\r\nConnection: upgrade\r\n\r\n'),
  ],
])('a receiver that %s: %s', async (_what, reason, answer) => {
  const { url } = await receiver(answer);
  // The words are ours, whatever it sent.
  expect(await send(url, { withinMs: withinMs(reason) })).toEqual({ reason });
});

test('a receiver that answers with a body that never ends is heard to its headers, and its body is not read', async () => {
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  let taken = 0;
  const { url, sockets } = await receiver((socket) => {
    endless('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', chunk, 'fast')(socket);
    socket.on('close', () => {
      taken = socket.bytesWritten;
    });
  });
  expect(await send(url)).toEqual({ status: 200 });
  await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.on('close', resolve))));
  // What the kernel's buffers took.
  expect(taken).toBeLessThan(20 * 0x100000);
});

test('a receiver that sends its body byte by byte has answered, and is not waited for any longer than for its headers', async () => {
  const head = 'HTTP/1.1 410 Gone\r\nTransfer-Encoding: chunked\r\n\r\n';
  const { url } = await receiver(endless(head, '1\r\nx\r\n', 'slow'));
  expect(await send(url, { withinMs: 3000 })).toEqual({ status: 410 });
});

const failing = (message: string, code?: string): Promise<never[]> =>
  Promise.reject(Object.assign(new Error(message), { code }));

test.each<[string, string, () => Promise<never[]>]>([
  ['has no name', 'host not found', () => failing('none', 'ENOTFOUND')],
  ['has no address', 'host not found', async () => []],
  ['has a name that nobody resolves', 'timeout', () => new Promise(() => undefined)],
  ['can not be looked up', 'request failed', () => failing('the resolver said: secret')],
])('a receiver that %s: %s', async (_what, reason, addressesOf) => {
  const options = { addressesOf, withinMs: withinMs(reason) };
  expect(await post('https://hooks.example.com/', {}, '{}', [], options)).toEqual({ reason });
});

test('a receiver that does not listen: connection refused', async () => {
  const { url, stop } = await receiver(() => undefined);
  await stop();
  expect(await send(url)).toEqual({ reason: 'connection refused' });
});

test.each<[string, number | undefined]>([
  ['120', 120_000],
  ['0', 0],
  ['86401', 86_400_000],
  ['99999999999999999999', 86_400_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
  ['Fri, 01 Jan 2100 00:00:00 GMT', 86_400_000],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['soon GMT', undefined],
  ['', undefined],
])('Retry-After %s', async (text, retryAfterMs) => {
  const { url } = await receiver(answering(`HTTP/1.1 503 Busy\r\nRetry-After: ${text}\r\n\r\n`));
  const answer = { status: 503, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  expect(await send(url)).toEqual(answer);
});

test('Retry-After as a date', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { url } = await receiver(answering(`HTTP/1.1 429 Slow\r\nRetry-After: ${date}\r\n\r\n`));
  const { retryAfterMs = 0 } = await send(url);
  expect(retryAfterMs).toBeGreaterThan(3_500_000);
  expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
});

describeUnless(missing('openssl'), 'by https', () => {
  const folder = temporaryFolder();

  test('a receiver is sent to only if its certificate is trusted, and for its host', async () => {
    const pem = await selfSigned(folder.path());
    const ca = await readFile(pem.certificate, 'utf8');
    const server = await webServer((_request, response) => void response.writeHead(204).end(), { pem });
    const { port } = new URL(server.url);
    const plain = await receiver(answering(NO_CONTENT));
    const addressesOf = async () => [{ address: '127.0.0.1', family: 4 }];
    const answers = [
      await send(`https://127.0.0.1:${port}/`, { ca }),
      await send(`https://127.0.0.1:${port}/`),
      await send(`https://hooks.example.com:${port}/`, { ca, addressesOf }),
      await send(plain.url.replace('http:', 'https:')),
    ];
    const failed = { reason: 'TLS failed' };
    expect(answers).toEqual([{ status: 204 }, failed, failed, failed]);
  });
});

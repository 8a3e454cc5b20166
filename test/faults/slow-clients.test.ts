/** @room lookups @long */

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { apiClient } from '../support/api.ts';
import { times } from '../support/fixtures.ts';
import { startService } from '../support/service.ts';

/** The time limits of docs/generated/limits.md. On a busy machine the server may be later, but never earlier. */
const HEADERS_WITHIN_MS = 5000;
const WHOLE_REQUEST_WITHIN_MS = 10_000;
const STANDSTILL_MS = 10_000;
/** The test gives up after this, far beyond the server's time limits. */
const GIVES_UP_AFTER_MS = 45_000;
/** Timers and the two clocks differ by less than this. */
const CLOCK_ERROR_MS = 100;

const SLOW_CLIENTS = 200;
/** More than the buffers of a socket hold. */
const MANY_REQUESTS = 2000;

const service = await startService();

type Ended = Awaited<ReturnType<typeof slowClient>['ended']>;

/** A connection that sends `start`, then `drip` once a second, and reads responses or not. */
function slowClient(start: string, { drip = '', reads = true } = {}) {
  const begun = Date.now();
  const socket = connect(service.environment.config.PORT, '127.0.0.1');
  let answer = '';
  let by: 'server' | 'test' = 'server';
  if (reads) socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  else socket.pause();
  socket.on('error', () => undefined);
  socket.write(start);
  const dripping = setInterval(() => drip !== '' && socket.write(drip), 1000);
  const givingUp = setTimeout(() => {
    by = 'test';
    socket.destroy();
  }, GIVES_UP_AFTER_MS);
  const ended = new Promise((resolve) => socket.once('close', resolve)).then(() => {
    clearInterval(dripping);
    clearTimeout(givingUp);
    return { by, ms: Date.now() - begun, answer };
  });
  return { socket, ended };
}

const post = (headers: string): string =>
  `POST /api/v1/lookup/verify HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${service.rest.key}\r\n` +
  `Content-Type: application/json\r\n${headers}`;

function expectCutOff({ by, ms, answer }: Ended, boundMs: number, expected: RegExp): void {
  expect({ by, answer }).toEqual({ by: 'server', answer: expect.stringMatching(expected) });
  expect(ms).toBeGreaterThan(boundMs - CLOCK_ERROR_MS);
}

/** The whole 408. */
const TOO_LATE =
  /^HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\n.*\r\n\r\n\{"detail":"This is not a request that can be answered\."\}$/s;

describe('the server closes the connection of a client', () => {
  test.concurrent('that sends nothing', async () => {
    expectCutOff(await slowClient('').ended, HEADERS_WITHIN_MS, TOO_LATE);
  });

  test.concurrent('that stops in its second request', async () => {
    const { ended } = slowClient('GET /docs/page.js HTTP/1.1\r\nHost: localhost\r\n\r\nGET /docs');
    expectCutOff(await ended, HEADERS_WITHIN_MS, /^HTTP\/1\.1 200 .*\}\);\n?HTTP\/1\.1 408 /s);
  });

  test.concurrent('that sends its headers slowly, sooner than one that sends its body slowly', async () => {
    const [headers, body] = await Promise.all([
      slowClient(post(''), { drip: 'X-More: 1\r\n' }).ended,
      slowClient(post('Content-Length: 5000\r\n\r\n{'), { drip: ' ' }).ended,
    ]);
    expectCutOff(headers, HEADERS_WITHIN_MS, TOO_LATE);
    expectCutOff(body, WHOLE_REQUEST_WITHIN_MS, TOO_LATE);
    expect(headers.ms).toBeLessThan(body.ms);
  });

  test.concurrent('that stops in the middle of its body', async () => {
    const stopped = await slowClient(post('Content-Length: 5000\r\n\r\n{')).ended;
    // The request is both late and idle; the server may report either.
    expectCutOff(stopped, STANDSTILL_MS, /^(?:HTTP\/1\.1 408 .*)?$/s);
  });

  test.concurrent('that keeps sending requests and never reads a response', async () => {
    const page = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n';
    // A client that does not read notices a closed connection only when it writes.
    const stuck = await slowClient(page.repeat(MANY_REQUESTS), { drip: page, reads: false }).ended;
    expectCutOff(stuck, STANDSTILL_MS, /^$/);
  });

  test('and answers other clients meanwhile', async () => {
    // The server answers this header when it has the request and waits for the body.
    const start = post('Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n');
    const clients = times(SLOW_CLIENTS, () => slowClient(start));
    await Promise.all(clients.map(({ socket, ended }) => Promise.race([once(socket, 'data'), ended])));
    const others = await apiClient(service.environment);
    const { status } = await others.verify({ board: 'Nursing Board', license_number: 'RN.700001' });
    const waiting = clients.filter(({ socket }) => !socket.closed).length;
    expect({ status, waiting }).toEqual({ status: 200, waiting: SLOW_CLIENTS });

    for (const ended of await Promise.all(clients.map((client) => client.ended)))
      expectCutOff(ended, STANDSTILL_MS, /^HTTP\/1\.1 100 Continue\r\n\r\n(?:HTTP\/1\.1 408 .*)?$/s);
  });
});

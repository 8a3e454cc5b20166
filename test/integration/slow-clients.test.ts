import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, type TestService } from '../support/service.ts';

/** Far above every time limit of the server, for machines that do much else; the client gives up then. */
const CUT_OFF_WITHIN_MS = 60_000;
/** As much as no socket's buffers hold. */
const MANY_REQUESTS = 2000;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface CutOff {
  readonly ms: number;
  readonly answer: string;
}

/** Sends this, then this piece once a second, reads (or not) and waits until the server ends the connection. */
async function cutOff(start: string, { drip = '', reads = true } = {}): Promise<CutOff> {
  const socket = connect(service.environment.config.PORT, '127.0.0.1');
  const begun = Date.now();
  let answer = '';
  if (reads) socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  else socket.pause();
  socket.on('error', () => undefined);
  socket.write(start);
  const dripping = setInterval(() => drip !== '' && socket.write(drip), 1000);
  const tooLate = setTimeout(() => socket.destroy(), CUT_OFF_WITHIN_MS);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  clearTimeout(tooLate);
  return { ms: Date.now() - begun, answer };
}

function post(headers: string): string {
  return (
    `POST /api/v1/lookup/verify HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${service.rest.key}\r\n` +
    `Content-Type: application/json\r\n${headers}`
  );
}

describe('a client is cut off', () => {
  test.concurrent('that sends nothing', async () => {
    const { ms } = await cutOff('');
    expect(ms).toBeLessThan(CUT_OFF_WITHIN_MS);
  });

  test.concurrent('that sends its headers a piece at a time, with 408', async () => {
    const { ms, answer } = await cutOff(post(''), { drip: 'X-More: 1\r\n' });
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(ms).toBeLessThan(CUT_OFF_WITHIN_MS);
  });

  test.concurrent('that sends its body a piece at a time, with 408', async () => {
    const { ms, answer } = await cutOff(post('Content-Length: 5000\r\n\r\n{'), { drip: ' ' });
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(ms).toBeLessThan(CUT_OFF_WITHIN_MS);
  });

  test.concurrent('that stops in the middle of its body', async () => {
    const { ms } = await cutOff(post('Content-Length: 5000\r\n\r\n{'));
    expect(ms).toBeLessThan(CUT_OFF_WITHIN_MS);
  });

  test.concurrent('that asks and asks and never reads', async () => {
    const page = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n';
    // Who does not read learns only from what it writes that the connection has gone.
    const { ms } = await cutOff(page.repeat(MANY_REQUESTS), { drip: page, reads: false });
    expect(ms).toBeLessThan(CUT_OFF_WITHIN_MS);
  });

  test('sooner while it sends its headers than while it sends its body', async () => {
    const order: string[] = [];
    await Promise.all([
      cutOff(post(''), { drip: 'X-More: 1\r\n' }).finally(() => order.push('headers')),
      cutOff(post('Content-Length: 5000\r\n\r\n{'), { drip: ' ' }).finally(() => order.push('body')),
    ]);
    expect(order).toEqual(['headers', 'body']);
  });

  test('while others are answered as ever', async () => {
    const slow = Array.from({ length: 200 }, () => cutOff(post('')));
    const { status } = await service.rest.verify({ board: 'Nursing Board', license_number: 'RN.700001' });
    expect(status).toBe(200);
    await Promise.all(slow);
  });
});

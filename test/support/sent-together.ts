import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from '@jest/globals';
import type { RunningProcess } from '../../scripts/processes.ts';
import type { ApiAnswer } from './api.ts';
import { readResponse } from './transcripts/connection.ts';

/** Node reads at most this many bytes from a socket at once. */
const MAX_READ_BYTES = 65_536;

/**
 * Sends lookups so that the API process receives all of them in one turn of its event loop, however busy the machine
 * is. The process is paused until all of them wait in one connection, and they fit into one read.
 *
 * @returns the responses, in the order of the lookups
 */
export async function sentTogether({
  api,
  port,
  key,
  bodies,
}: {
  readonly api: RunningProcess;
  readonly port: number;
  readonly key: string;
  readonly bodies: readonly object[];
}) {
  const requests = Buffer.from(
    bodies.map((body, at) => requestFor(key, JSON.stringify(body), at === bodies.length - 1)).join(''),
  );
  expect(requests.length).toBeLessThan(MAX_READ_BYTES);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const received = buffer(socket);
  api.child.kill('SIGSTOP');
  try {
    await new Promise((resolve) => socket.write(requests, resolve));
  } finally {
    api.child.kill('SIGCONT');
  }
  const answers = answersIn(await received);
  expect(answers).toHaveLength(bodies.length);
  return answers;
}

const requestFor = (key: string, body: string, isLast: boolean): string =>
  `POST /api/v1/lookup/verify HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
  `Connection: ${isLast ? 'close' : 'keep-alive'}\r\n\r\n${body}`;

/** The consecutive responses received on one connection. */
function answersIn(received: Buffer): ApiAnswer[] {
  const answers: ApiAnswer[] = [];
  for (let rest = received; rest.length > 0; ) {
    const read = readResponse(rest, 'POST');
    if (read === undefined) throw new Error('The last answer is not whole.');
    const { status, headers, body } = read.response;
    const text = body.toString();
    answers.push({ status, headers, text, body: JSON.parse(text) });
    rest = rest.subarray(read.size);
  }
  return answers;
}

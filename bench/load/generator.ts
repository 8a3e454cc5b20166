import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, type LoadResult, load } from './load.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/**
 * Sends each ask once over kept-alive connections, one request at a time per connection. Parses responses by hand,
 * because a complete HTTP client would take CPU from the measured servers.
 */
async function generate(task: Load): Promise<LoadResult> {
  const { hostname, port, host } = new URL(task.origin);
  const headers = Object.entries(task.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = (path: string) => `${task.method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${headers.join('')}`;
  const post = start(task.path);
  const requestOf = (ask: string) =>
    task.method === 'GET'
      ? `${start(task.path + ask)}\r\n`
      : `${post}content-length: ${Buffer.byteLength(ask)}\r\n\r\n${ask}`;
  const took: number[] = [];
  let sent = 0;
  let wrong = 0;
  let bytes = 0;
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();

  function isTimeUp(seconds: number): boolean {
    return performance.now() > startedAt + seconds * 1000;
  }

  function dueAt(number: number): number {
    return task.rate === undefined ? performance.now() : startedAt + (number * 1000) / task.rate;
  }

  async function work(): Promise<void> {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const answers = answersOf(socket);
    for (;;) {
      const number = sent;
      const isOver = task.seconds === undefined ? number >= task.asks.length : isTimeUp(task.seconds);
      const ask = task.asks[number % task.asks.length];
      if (isOver || ask === undefined) break;
      sent += 1;
      const due = dueAt(number);
      const isInTime = due > performance.now();
      if (isInTime) await sleep(due - performance.now());
      // For a request in time, measure from when it is sent: the timer's delay of up to a millisecond is our own.
      const countedFrom = isInTime ? performance.now() : due;
      socket.write(requestOf(ask));
      const answer = await answers.next();
      took.push(performance.now() - countedFrom);
      bytes += answer.length;
      if (answer.status !== task.status || !answer.body.includes(task.expected)) wrong += 1;
    }
    socket.destroy();
  }

  await Promise.all(Array.from({ length: task.connections }, work));
  const cpu = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - startedAt) / 1000;
  const sorted = Float64Array.from(took).sort();
  return {
    seconds,
    answers: sorted.length,
    wrong,
    p50: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    bytes,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
}

interface Answer {
  readonly status: number;
  readonly length: number;
  readonly body: Buffer;
}

/** The responses on one connection, in order. */
function answersOf(socket: Socket) {
  let received: Buffer = Buffer.alloc(0);
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  /** The end of the body according to the head. After a chunked response, nothing follows before the next request. */
  function endOfBody(head: string, start: number): number {
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) return start + Number(length);
    const isWhole = received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
    return isWhole ? received.length : Number.POSITIVE_INFINITY;
  }

  function take(): void {
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd < 0 || waiting === undefined) return;
    const head = received.toString('latin1', 0, headEnd);
    const end = endOfBody(head, headEnd + HEAD_END.length);
    if (received.length < end) return;
    const body = received.subarray(headEnd + HEAD_END.length, end);
    const { resolve } = waiting;
    waiting = undefined;
    received = received.subarray(end);
    resolve({ status: Number(head.slice(9, 12)), length: end, body });
  }

  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    take();
  });
  const fail = (error?: Error) => waiting?.reject(error ?? new Error('The server closed a connection.'));
  socket.on('error', fail).on('close', () => fail());
  return {
    next: () =>
      new Promise<Answer>((resolve, reject) => {
        waiting = { resolve, reject };
      }),
  };
}

process.once('message', async (message) => {
  process.send?.(await generate(load.parse(message)));
  process.disconnect();
});

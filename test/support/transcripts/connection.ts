import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Answer, readAnswer } from './answer.ts';

/** Longer than any of the service's own time limits. */
const GIVEN_UP_AFTER_MS = 40_000;

/** A request that no service knows, with an id by which its answer is recognized. */
const PROBE =
  'HEAD /probe HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: the-probe\r\nConnection: close\r\n\r\n';
const PROBE_ANSWER = /HTTP\/1\.1 (?:(?!HTTP\/1\.1 ).)*x-request-id: the-probe\r\n/is;

/** Where a client connects to, and from which address. */
export interface Route {
  readonly port: number;
  readonly localAddress: string;
}

/** A client's connection, over which bytes go as they are. */
export class Connection {
  readonly #socket: Socket;
  readonly #events = new EventEmitter();
  #received = Buffer.alloc(0);
  #isEnded = false;
  #isHalfClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay();
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#events.emit('more');
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#isEnded = true;
        this.#events.emit('more');
      });
    }
  }

  static async open({ port, localAddress }: Route): Promise<Connection> {
    const socket = connect({ host: '127.0.0.1', port, localAddress, allowHalfOpen: true });
    const connection = new Connection(socket);
    await once(socket, 'connect');
    return connection;
  }

  send(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Sends these bytes again and again until the service closes the connection. */
  drip(bytes: Buffer, everyMs: number): void {
    const timer = setInterval(() => (this.#isEnded ? clearInterval(timer) : this.send(bytes)), everyMs);
  }

  /** Says that nothing more will be sent. */
  closeSide(): void {
    this.#isHalfClosed = true;
    this.#socket.end();
  }

  /** Breaks the connection off. */
  abort(): void {
    this.#socket.resetAndDestroy();
  }

  /** The next answer; `undefined` when the service closes the connection without one. */
  async answer(method: string): Promise<Answer | undefined> {
    for (;;) {
      const read = readAnswer(this.#received, method, this.#isEnded);
      if (read !== undefined) {
        this.#received = this.#received.subarray(read.size);
        return read.answer;
      }
      if (this.#isEnded) return undefined;
      await this.#more();
    }
  }

  /**
   * Whether the connection could still be used, told by another request over it, and what came before that was
   * answered. The connection is closed in any case.
   *
   * @param isClosing whether the last answer said that the service closes it
   */
  async end(isClosing: boolean): Promise<{ wasOpen: boolean; more: Buffer }> {
    if (!isClosing && !this.#isHalfClosed) this.send(Buffer.from(PROBE));
    while (!this.#isEnded) await this.#more();
    this.#socket.destroy();
    const text = this.#received.toString('latin1');
    const probeAnswer = PROBE_ANSWER.exec(text);
    const more = Buffer.from(text.slice(0, probeAnswer?.index), 'latin1');
    return { wasOpen: probeAnswer !== null, more };
  }

  async #more(): Promise<void> {
    const signal = AbortSignal.timeout(GIVEN_UP_AFTER_MS);
    await once(this.#events, 'more', { signal }).catch(() => {
      throw new Error(
        `Nothing came for ${GIVEN_UP_AFTER_MS} ms after "${this.#received.toString('latin1')}"`,
      );
    });
  }
}

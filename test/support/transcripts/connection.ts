import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An HTTP response as received. */
export interface RawResponse {
  readonly statusLine: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Longer than any time limit of the service. */
const GIVEN_UP_AFTER_MS = 40_000;

/** A request for an unknown path, with an id that identifies its response. */
const PROBE =
  'HEAD /probe HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: the-probe\r\nConnection: close\r\n\r\n';
const PROBE_RESPONSE = /HTTP\/1\.1 (?:(?!HTTP\/1\.1 ).)*x-request-id: the-probe\r\n/is;

/** A client's connection that sends and receives raw bytes. */
export class Connection {
  readonly #socket: Socket;
  readonly #events = new EventEmitter();
  #received = Buffer.alloc(0);
  #isEnded = false;
  #isHalfClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay();
    for (const event of ['data', 'end', 'close', 'error']) {
      socket.on(event, (bytes: unknown) => {
        if (Buffer.isBuffer(bytes)) this.#received = Buffer.concat([this.#received, bytes]);
        else this.#isEnded = true;
        this.#events.emit('more');
      });
    }
  }

  static async open(port: number, localAddress: string): Promise<Connection> {
    const socket = connect({ host: '127.0.0.1', port, localAddress, allowHalfOpen: true });
    const connection = new Connection(socket);
    await once(socket, 'connect');
    return connection;
  }

  send(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Signals that the client will send nothing more. */
  closeSide(): void {
    this.#isHalfClosed = true;
    this.#socket.end();
  }

  /** Aborts the connection. */
  abort(): void {
    this.#socket.resetAndDestroy();
  }

  /** The next response; `undefined` when the service closes the connection without one. */
  async response(method: string): Promise<RawResponse | undefined> {
    for (;;) {
      const read = readResponse(this.#received, method);
      if (read !== undefined) {
        this.#received = this.#received.subarray(read.size);
        return read.response;
      }
      if (this.#isEnded) return undefined;
      await this.#more();
    }
  }

  /**
   * Closes the connection. A last request checks whether the connection was still usable, and reveals anything that the
   * service sent before responding to it.
   *
   * @param last the last response, which may announce that the service closes the connection
   */
  async end(last: RawResponse | undefined): Promise<{ wasOpen: boolean; more: Buffer }> {
    if (last?.headers.get('connection') !== 'close' && !this.#isHalfClosed) this.send(Buffer.from(PROBE));
    while (!this.#isEnded) await this.#more();
    this.#socket.destroy();
    const text = this.#received.toString('latin1');
    const probed = PROBE_RESPONSE.exec(text);
    return { wasOpen: probed !== null, more: Buffer.from(text.slice(0, probed?.index), 'latin1') };
  }

  async #more(): Promise<void> {
    const signal = AbortSignal.timeout(GIVEN_UP_AFTER_MS);
    await once(this.#events, 'more', { signal }).catch(() => {
      const received = this.#received.toString('latin1');
      throw new Error(`Nothing came for ${GIVEN_UP_AFTER_MS} ms after "${received}"`);
    });
  }
}

/** The response at the start of these bytes and its size; `undefined` if it is incomplete. */
export function readResponse(bytes: Buffer, method: string) {
  const headSize = bytes.indexOf('\r\n\r\n');
  if (headSize < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headSize).split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d)/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`This is no HTTP response: ${statusLine}`);
  const headers = new Headers();
  for (const line of lines) headers.append(line.replace(/:.*/s, ''), line.replace(/^[^:]*:/, '').trim());
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
  const length = hasBody ? Number(headers.get('content-length') ?? Number.NaN) : 0;
  // The service sends no chunked responses.
  if (Number.isNaN(length)) throw new Error(`The response does not say its length: ${statusLine}`);
  const start = headSize + '\r\n\r\n'.length;
  if (bytes.length < start + length) return undefined;
  const body = bytes.subarray(start, start + length);
  return { response: { statusLine, status, headers, body }, size: start + length };
}

/** An HTTP answer as it came, its body without the framing. */
export interface Answer {
  readonly statusLine: string;
  readonly status: number;
  /** In the order in which they came, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

interface Read {
  readonly answer: Answer;
  /** How many bytes it took. */
  readonly size: number;
}

const END_OF_HEAD = '\r\n\r\n';

/**
 * The answer at the beginning of what a service sent; `undefined` while it is not complete.
 *
 * @param method of the request, which tells whether there is a body
 * @param isEnded whether the service sends no more
 * @throws {Error} when it is no HTTP answer
 */
export function readAnswer(bytes: Buffer, method: string, isEnded: boolean): Read | undefined {
  const headSize = bytes.indexOf(END_OF_HEAD);
  if (headSize < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headSize).split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d)/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`This is no HTTP answer: ${statusLine}`);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const start = headSize + END_OF_HEAD.length;
  const framed = readBody(bytes.subarray(start), { method, status, headers, isEnded });
  if (framed === undefined) return undefined;
  return { answer: { statusLine, status, headers, body: framed.body }, size: start + framed.size };
}

/** The first header of this name. */
export function headerOf({ headers }: Pick<Answer, 'headers'>, name: string): string | undefined {
  return headers.find(([each]) => each === name)?.[1];
}

interface Framing extends Pick<Answer, 'status' | 'headers'> {
  readonly method: string;
  readonly isEnded: boolean;
}

function readBody(bytes: Buffer, framing: Framing): { body: Buffer; size: number } | undefined {
  const { method, status, isEnded } = framing;
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) {
    return { body: Buffer.alloc(0), size: 0 };
  }
  if (headerOf(framing, 'transfer-encoding') === 'chunked') return readChunks(bytes);
  const length = headerOf(framing, 'content-length');
  if (length === undefined) return isEnded ? { body: bytes, size: bytes.length } : undefined;
  const size = Number(length);
  return bytes.length < size ? undefined : { body: bytes.subarray(0, size), size };
}

function readChunks(bytes: Buffer): { body: Buffer; size: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), size: start + 2 };
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import busboy from 'busboy';
import { isHttpError } from 'http-errors';
import rawBody from 'raw-body';
import { BadRequestError } from '../licenses/lookup.ts';
import type { Context } from './app.ts';
import { ClientError, REFUSED } from './errors.ts';
import { MB, slots } from './limits.ts';

/** The maximum number of bytes of a body, both compressed and decompressed, and the words for it in errors. */
export interface BodyLimit {
  readonly bytes: number;
  readonly words: string;
  /** Limits the total bytes of bodies being received. Small bodies need no limit, because connections are limited. */
  readonly received?: ReturnType<typeof slots>;
}

/** The most memory for bodies of slow clients, in MB: for all together, and for one address. */
const MAX_RECEIVED = 64;
export const MAX_RECEIVED_OF_ADDRESS = 8;

/** The limit of a list of licenses: 1 MB. Each interface has its own, so that no interface uses up another's bytes. */
export function listLimit(words: string): BodyLimit {
  const received = slots(MAX_RECEIVED * MB, () => MAX_RECEIVED_OF_ADDRESS * MB);
  return { bytes: MB, words, received };
}

/** The limit of a request with one lookup. */
export const LOOKUP_LIMIT: BodyLimit = { bytes: 16 * 1024, words: 'a lookup takes at most 16 KB' };

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Keeps a byte order mark at the start. */
export const utf8WithMark = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const [unzipped, unbrotlied] = [promisify(unzip), promisify(brotliDecompress)];

/**
 * The decompression function for each Content-Encoding (RFC 9110, 8.4.1: `x-gzip` means `gzip`). The functions take the
 * whole body. With streams, each stream's errors and a client that leaves would have to be handled.
 */
const DECOMPRESSORS = new Map(
  Object.entries({ gzip: unzipped, 'x-gzip': unzipped, deflate: unzipped, br: unbrotlied }),
);

/**
 * The body as text. Decompresses gzip, deflate and br; the case of Content-Encoding does not matter.
 *
 * @throws {ClientError} 415 for another Content-Encoding, 413 for more bytes than the limit
 * @throws {BadRequestError} for a body that is not UTF-8
 * @throws {TooBusyError} or {TooManyRequestsError} when too many bytes of such bodies are being received
 * @throws {ClientError} 400 for a body with the wrong compression or length. Then, as for a body that is too large, the
 * connection is closed, because the following bytes may belong to the body.
 */
export async function textBody(ctx: Context, limit = LOOKUP_LIMIT, decoder = utf8): Promise<string> {
  const bytes = await bodyBytes(ctx, limit);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new BadRequestError('The body is not valid UTF-8.');
  }
}

async function bodyBytes(ctx: Context, limit: BodyLimit): Promise<Buffer> {
  const { 'content-encoding': given = '', 'content-length': length = null } = ctx.req.headers;
  const encoding = given.toLowerCase();
  const decompress = DECOMPRESSORS.get(encoding);
  if (decompress === undefined && !['', 'identity'].includes(encoding)) throw REFUSED.otherEncoding();
  const read = async () => {
    try {
      const sent = await rawBody(ctx.req, { limit: limit.bytes, length });
      return decompress === undefined ? sent : await decompress(sent, { maxOutputLength: limit.bytes });
    } catch (error) {
      await readOn(ctx.req);
      ctx.set('connection', 'close');
      if (isTooLarge(error)) throw bodyTooLarge(limit);
      throw decompress === undefined ? REFUSED.notJson() : REFUSED.notUnpacked();
    }
  };
  const mostBytes = decompress === undefined && length !== null ? Number(length) : limit.bytes;
  return limit.received?.during(ctx.ip, Math.min(mostBytes, limit.bytes), read) ?? read();
}

const READ_ON_MS = 500;

/** Reads and discards the rest for a moment: a client that is still sending when the connection closes may lose the answer. */
async function readOn(req: IncomingMessage): Promise<void> {
  if (req.complete || req.destroyed) return;
  req.resume();
  // The request may also fail, because the client may leave.
  await once(req, 'end', { signal: AbortSignal.timeout(READ_ON_MS) }).catch(() => undefined);
}

/** Whether raw-body or zlib reports that the limit was exceeded. */
function isTooLarge(error: unknown): boolean {
  if (isHttpError(error)) return error.status === 413;
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

/**
 * The fields of an HTML form, including files.
 *
 * @param maxFields by default enough for all pages except the list page, which has one field per column
 * @throws {ClientError} 403 for a form that is not from this website's own pages, 415 for a body that is no form
 * @throws {BadRequestError} for more fields than a page has, or a malformed form
 * @throws the errors of `textBody`
 */
export async function formBody(ctx: Context, limit: BodyLimit, maxFields = 20): Promise<FormData> {
  // Browsers send the Origin header with every form.
  if (URL.parse(ctx.req.headers.origin ?? '')?.host !== ctx.host) throw REFUSED.otherOrigin();
  if (!ctx.is('urlencoded', 'multipart')) throw new ClientError(415, 'Send the form as the page sends it.');
  const bytes = await bodyBytes(ctx, limit);
  const form = new FormData();
  const tooMany = new BadRequestError(`A form takes at most ${maxFields} fields.`);
  try {
    const parser = busboy({
      headers: ctx.req.headers,
      defParamCharset: 'utf8',
      // busboy reports too many parts when it reaches the last allowed one.
      limits: { parts: maxFields + 1, fieldSize: bytes.length, fields: maxFields },
    });
    parser.on('field', (name, value) => form.append(name, value));
    parser.on('file', (name, file, { filename }) => {
      const parts: Buffer[] = [];
      file.on('data', (part) => parts.push(part));
      file.on('end', () => form.append(name, new File([Buffer.concat(parts)], filename)));
      // The parser reports the same error.
      file.on('error', () => undefined);
    });
    for (const limit of ['partsLimit', 'fieldsLimit']) parser.once(limit, () => parser.destroy(tooMany));
    await pipeline([bytes], parser);
    return form;
  } catch (error) {
    if (error === tooMany) throw error;
    ctx.set('connection', 'close');
    throw new BadRequestError('The form cannot be read. Go back, and send it again.');
  }
}

/**
 * The body as JSON; `undefined` if the request has neither a body nor a media type.
 *
 * @throws {ClientError} 415 for another media type than application/json; 400 for invalid JSON
 * @throws the errors of `textBody`
 */
export async function jsonBody(ctx: Context, limit = LOOKUP_LIMIT): Promise<unknown> {
  const mediaType = ctx.request.type.toLowerCase();
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = ctx.req.headers;
  if (mediaType === '' && encoding === undefined && length === '0') return undefined;
  if (mediaType !== 'application/json') throw REFUSED.otherType();
  const text = await textBody(ctx, limit);
  ctx.state.sentJson = text;
  try {
    return JSON.parse(text);
  } catch {
    ctx.set('connection', 'close');
    throw REFUSED.notJson();
  }
}

export function bodyTooLarge({ words }: BodyLimit): ClientError {
  return new ClientError(413, `The body is too large; ${words}.`);
}

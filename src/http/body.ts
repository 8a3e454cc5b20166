import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import createError from 'http-errors';
import rawBody from 'raw-body';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { Context } from './context.ts';
import { TooLargeError, UnsupportedEncodingError, UnsupportedMediaTypeError } from './errors.ts';

/** How many bytes a body may have, compressed or not, and how an error says it. */
export interface BodyLimit {
  readonly bytes: number;
  readonly words: string;
}

/** Of a request with one lookup. */
export const LOOKUP_LIMIT: BodyLimit = { bytes: 16 * 1024, words: 'a lookup takes at most 16 KB' };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Keeps a byte order mark at the start. */
export const utf8WithMark = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How bodies are decompressed, by their Content-Encoding (RFC 9110, 8.4.1: `x-gzip` means `gzip`). */
const DECOMPRESSORS: Readonly<Record<string, () => Duplex>> = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
};

const IDENTITY = ['', 'identity'];

/**
 * The body as text, decompressed where it came with Content-Encoding gzip, deflate or br, in whatever case.
 *
 * @throws {UnsupportedEncodingError} for another Content-Encoding
 * @throws {BadRequestError} for a body that is not UTF-8
 * @throws {TooLargeError} for more bytes than the limit
 * @throws {HttpError} 400 for a body that is not compressed as it says,
 * or not as long as it says. After both the connection is closed, since what follows on it may be the rest of the
 * body.
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
  const isPlain = IDENTITY.includes(encoding);
  const decompressor = DECOMPRESSORS[encoding];
  if (!isPlain && decompressor === undefined) throw new UnsupportedEncodingError();
  try {
    const stream = decompressor === undefined ? ctx.req : ctx.req.pipe(decompressor());
    return await rawBody(stream, { limit: limit.bytes, length: isPlain ? length : null });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'status' in error && error.status === 413;
    throw refusedBody(ctx, isTooLarge ? bodyTooLarge(limit) : createError(400));
  }
}

const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/**
 * The fields of an HTML form, files among them.
 *
 * @throws {UnsupportedMediaTypeError} for a body that is no form
 * @throws {HttpError} 400 for a form that is not written as it says
 * @throws what `textBody` does
 */
export async function formBody(ctx: Context, limit: BodyLimit): Promise<FormData> {
  if (!FORM_TYPES.includes(ctx.request.type.toLowerCase())) {
    throw new UnsupportedMediaTypeError('Send the form as the page sends it.');
  }
  const bytes = new Uint8Array(await bodyBytes(ctx, limit));
  try {
    return await new Response(bytes, { headers: { 'content-type': ctx.get('content-type') } }).formData();
  } catch {
    throw refusedBody(ctx, createError(400));
  }
}

/**
 * The body as JSON; `undefined` where the request has neither a body nor a media type.
 *
 * @throws {HttpError} 415 for another media type than application/json; 400 for what is not JSON
 * @throws what `textBody` does
 */
export async function jsonBody(ctx: Context, limit = LOOKUP_LIMIT): Promise<unknown> {
  const mediaType = ctx.request.type.toLowerCase();
  if (mediaType === '' && !hasBody(ctx)) return undefined;
  if (mediaType !== 'application/json') throw createError(415);
  const text = await textBody(ctx, limit);
  try {
    return JSON.parse(text);
  } catch {
    throw refusedBody(ctx, createError(400));
  }
}

/** The error for a body over the limit. */
export function bodyTooLarge({ words }: BodyLimit): TooLargeError {
  return new TooLargeError(`The body is too large; ${words}.`);
}

function refusedBody(ctx: Context, error: Error): Error {
  ctx.set('connection', 'close');
  return error;
}

function hasBody({ req }: Context): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || length !== '0';
}

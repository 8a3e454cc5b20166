import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import createError, { type HttpError } from 'http-errors';
import rawBody from 'raw-body';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { Context } from './context.ts';
import { UnsupportedEncodingError } from './errors.ts';

const MAX_BODY_BYTES = 16 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

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
 * @throws {HttpError} 413 for more than 16 KB, compressed or not; 400 for a body that is not compressed as it says,
 * or not as long as it says. After both the connection is closed, since what follows on it may be the rest of the
 * body.
 */
export async function textBody(ctx: Context): Promise<string> {
  const bytes = await bodyBytes(ctx);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new BadRequestError('The body is not valid UTF-8.');
  }
}

async function bodyBytes(ctx: Context): Promise<Buffer> {
  const { 'content-encoding': given = '', 'content-length': length = null } = ctx.req.headers;
  const encoding = given.toLowerCase();
  const isPlain = IDENTITY.includes(encoding);
  const decompressor = DECOMPRESSORS[encoding];
  if (!isPlain && decompressor === undefined) throw new UnsupportedEncodingError();
  try {
    const stream = decompressor === undefined ? ctx.req : ctx.req.pipe(decompressor());
    return await rawBody(stream, { limit: MAX_BODY_BYTES, length: isPlain ? length : null });
  } catch (error) {
    throw refusedBody(ctx, error instanceof Error && 'status' in error ? error.status : undefined);
  }
}

/**
 * The body as JSON; `undefined` where the request has neither a body nor a media type.
 *
 * @throws {HttpError} 415 for another media type than application/json; 400 for what is not JSON
 * @throws what `textBody` does
 */
export async function jsonBody(ctx: Context): Promise<unknown> {
  const mediaType = ctx.request.type.toLowerCase();
  if (mediaType === '' && !hasBody(ctx)) return undefined;
  if (mediaType !== 'application/json') throw createError(415);
  const text = await textBody(ctx);
  try {
    return JSON.parse(text);
  } catch {
    throw refusedBody(ctx, 400);
  }
}

function refusedBody(ctx: Context, status: unknown): HttpError {
  ctx.set('connection', 'close');
  return createError(status === 413 ? 413 : 400);
}

function hasBody({ req }: Context): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || length !== '0';
}

import createError, { type HttpError } from 'http-errors';
import inflate from 'inflation';
import rawBody from 'raw-body';
import type { Context } from './context.ts';

const MAX_BODY_BYTES = 16 * 1024;

const utf8 = new TextDecoder();

/**
 * The body as text, decompressed where it came with Content-Encoding gzip, deflate or br.
 *
 * @throws {HttpError} 413 for more than 16 KB, compressed or not; 415 for another Content-Encoding; 400 for a body
 * that is not compressed as it says, or not as long as it says. After 413 and 400 the connection is closed, since
 * what follows on it may be the rest of the body.
 */
export async function textBody(ctx: Context): Promise<string> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length } = ctx.req.headers;
  const isPlain = encoding === 'identity';
  try {
    const stream = isPlain ? ctx.req : inflate(ctx.req);
    return utf8.decode(
      await rawBody(stream, {
        limit: MAX_BODY_BYTES,
        length: isPlain && length !== undefined ? length : null,
      }),
    );
  } catch (error) {
    throw refusedBody(ctx, error instanceof Error && 'status' in error ? error.status : undefined);
  }
}

/**
 * The body as JSON; `undefined` where the request has neither a body nor a media type.
 *
 * @throws {HttpError} 415 for another media type than application/json; 400 for what is not JSON; and as `textBody`
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
  if (status === 415) return createError(415);
  ctx.set('connection', 'close');
  return createError(status === 413 ? 413 : 400);
}

function hasBody({ req }: Context): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || length !== '0';
}

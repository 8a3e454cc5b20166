import createError, { isHttpError } from 'http-errors';
import inflate from 'inflation';
import type { Context } from 'koa';
import rawBody from 'raw-body';

const MOST_BODY_BYTES = 16 * 1024;

const utf8 = new TextDecoder();

/**
 * The request's body as text, unpacked where it came packed (gzip, deflate or br).
 *
 * @throws {HttpError} 413 for more than 16 KB, packed or not, 415 for another Content-Encoding, 400 for a body
 * that is not packed as it says or not of the length that it says
 */
export async function bodyText({ req }: Context): Promise<string> {
  const { 'content-encoding': packing = 'identity', 'content-length': length } = req.headers;
  try {
    const stream = inflate(req);
    const body = await rawBody(stream, {
      limit: MOST_BODY_BYTES,
      length: packing === 'identity' && length !== undefined ? length : null,
    });
    return utf8.decode(body);
  } catch (error) {
    throw isHttpError(error) ? error : createError(isUnknownPacking(error) ? 415 : 400);
  }
}

function isUnknownPacking(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 415;
}

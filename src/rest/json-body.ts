import createError from 'http-errors';
import type { Context } from 'koa';
import { bodyText } from '../http/body.ts';

/**
 * The request's body, read as JSON.
 *
 * @throws {HttpError} 415 for another type, 400 for no JSON, and as `bodyText` does
 */
export async function jsonBody(ctx: Context): Promise<unknown> {
  if (ctx.request.is('json') === false) throw createError(415);
  const text = await bodyText(ctx);
  try {
    return JSON.parse(text);
  } catch {
    throw createError(400);
  }
}

import type { Context } from '../http/context.ts';
import { withoutInternalErrors } from './protocol-errors.ts';

/** Sends a response of the SDK through Koa, without the text of internal errors. */
export async function sendResponse(ctx: Context, response: Response): Promise<void> {
  for (const [name, value] of response.headers) {
    if (name === 'content-type') ctx.type = value;
    else ctx.set(name, value);
  }
  ctx.body = withoutInternalErrors(await response.text());
  ctx.status = response.status;
}

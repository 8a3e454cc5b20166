import cors from '@koa/cors';
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { Config } from '../config.ts';
import type { Middleware } from '../http/context.ts';
import { forbidden, methodNotAllowed } from './protocol-errors.ts';
import { sendResponse } from './send-response.ts';

/** How long a browser may cache the response to a CORS preflight request. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

type AllowedNames = Pick<Config, 'MCP_ALLOWED_HOSTS' | 'MCP_ALLOWED_ORIGINS'>;

/** Why an Origin is not allowed; `undefined` when it is. Clients other than browsers send none, which is allowed. */
function originError(origin: string, { MCP_ALLOWED_ORIGINS: allowed }: AllowedNames): string | undefined {
  if (allowed.includes(origin)) return undefined;
  const checked = validateOriginHeader(origin, [...localhostAllowedOrigins(), ...allowed]);
  return checked.ok ? undefined : checked.message;
}

/** The CORS headers for pages of allowed origins. */
export function allowedOrigins(config: AllowedNames): Middleware {
  return cors({
    origin: (ctx) => {
      const origin = ctx.get('origin');
      return origin !== '' && originError(origin, config) === undefined ? origin : '';
    },
    allowMethods: ['POST'],
    exposeHeaders: 'Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
  });
}

/** Rejects a wrong Host, Origin or method before the body is read. */
export function checkRequest(config: AllowedNames): Middleware {
  const hosts = [...localhostAllowedHostnames(), ...config.MCP_ALLOWED_HOSTS];
  return (ctx, next) => {
    const host = validateHostHeader(ctx.req.headers.host, hosts);
    const error = host.ok ? originError(ctx.get('origin'), config) : host.message;
    if (error !== undefined) return sendResponse(ctx, forbidden(error));
    if (ctx.method !== 'POST') return sendResponse(ctx, methodNotAllowed());
    return next();
  };
}

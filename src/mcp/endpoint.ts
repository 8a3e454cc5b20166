import type { IncomingHttpHeaders } from 'node:http';
import cors from '@koa/cors';
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import compose from 'koa-compose';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { textBody } from '../http/body.ts';
import type { Context, Middleware } from '../http/context.ts';
import type { Lookups } from '../lookup/service.ts';
import { TooBusyError } from '../storage/errors.ts';
import {
  forbidden,
  methodNotAllowed,
  parseJson,
  unsupportedMessage,
  withoutInternalErrors,
} from './protocol-errors.ts';
import { toolServer } from './tools.ts';

export const MCP_PATH = '/mcp';

/** Further requests are rejected, so that callers without a key leave capacity for callers with one. */
const MAX_IN_FLIGHT = 200;

/** How long a browser may cache the response to a CORS preflight request. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/**
 * The MCP endpoint: Streamable HTTP for the 2026 and 2025 revisions of the protocol, stateless, with JSON responses.
 * Each request gets its own server, because a server that concurrent requests share fails.
 */
export function mcpEndpoint(config: Config, lookups: Lookups, log: Logger): Middleware {
  const newServer = () => toolServer(lookups, log);
  const onerror = (error: Error) => log.warn({ error: error.message }, 'MCP request refused');
  const modern = createMcpHandler(newServer, { legacy: 'reject', onerror });
  const hosts = [...localhostAllowedHostnames(), ...config.MCP_ALLOWED_HOSTS];
  const originHosts = [...localhostAllowedOrigins(), ...config.MCP_ALLOWED_ORIGINS];

  async function legacy(request: Request, parsedBody: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = newServer();
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  /** Why an Origin is not allowed; `undefined` when it is. Clients other than browsers send none, which is allowed. */
  function originError(origin: string): string | undefined {
    if (config.MCP_ALLOWED_ORIGINS.includes(origin)) return undefined;
    const checked = validateOriginHeader(origin, originHosts);
    return checked.ok ? undefined : checked.message;
  }

  /** Rejects a wrong Host, Origin or method before the body is read. */
  const checkRequest: Middleware = (ctx, next) => {
    const host = validateHostHeader(ctx.req.headers.host, hosts);
    const error = host.ok ? originError(ctx.get('origin')) : host.message;
    if (error !== undefined) return send(ctx, forbidden(error));
    if (ctx.method !== 'POST') return send(ctx, methodNotAllowed());
    return next();
  };

  /** The body is read and parsed once. Only malformed JSON goes to the SDK as text, to be rejected there. */
  async function respond(ctx: Context): Promise<Response> {
    const text = await textBody(ctx);
    const parsedBody = parseJson(text);
    const unsupported = unsupportedMessage(parsedBody);
    if (unsupported !== undefined) return unsupported;
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: protocolHeaders(ctx.req.headers),
      ...(parsedBody === undefined ? { body: text } : {}),
    });
    return (await isLegacyRequest(request, parsedBody))
      ? legacy(request, parsedBody)
      : modern.fetch(request, { parsedBody });
  }

  let inFlight = 0;

  const handleRequest: Middleware = async (ctx) => {
    if (inFlight >= MAX_IN_FLIGHT) throw new TooBusyError('Too many MCP requests are under way.');
    inFlight += 1;
    try {
      await send(ctx, await respond(ctx));
    } finally {
      inFlight -= 1;
    }
  };

  return compose([
    cors({
      origin: (ctx) => {
        const origin = ctx.get('origin');
        return origin !== '' && originError(origin) === undefined ? origin : '';
      },
      allowMethods: ['POST'],
      exposeHeaders: 'Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
      maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    }),
    checkRequest,
    handleRequest,
  ]);
}

async function send(ctx: Context, response: Response): Promise<void> {
  for (const [name, value] of response.headers) {
    if (name === 'content-type') ctx.type = value;
    else ctx.set(name, value);
  }
  ctx.body = withoutInternalErrors(await response.text());
  ctx.status = response.status;
}

/** The headers that the SDK reads. Each further header would cost a microsecond or two. */
function protocolHeaders(given: IncomingHttpHeaders): [string, string][] {
  return Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value !== undefined && (name === 'accept' || name === 'content-type' || name.startsWith('mcp-'))
      ? [[name, String(value)]]
      : [],
  );
}

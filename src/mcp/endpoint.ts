import { toWebRequest } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import createError from 'http-errors';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Lookups } from '../lookups.ts';
import { toolServer } from './tools.ts';

const MOST_BODY_BYTES = 16 * 1024;

/**
 * The MCP endpoint: Streamable HTTP for the 2026 revision and the 2025 ones, stateless, answers in JSON. Each
 * request gets a server of its own, since one shared by concurrent requests fails.
 */
export function mcpEndpoint(config: Config, lookups: Lookups, log: Logger): Middleware {
  const newServer = () => toolServer(lookups, log);
  const onerror = (error: Error) => log.warn({ error: error.message }, 'MCP request refused');
  const modern = createMcpHandler(newServer, {
    legacy: 'reject',
    maxRequestBodySize: MOST_BODY_BYTES,
    maxSubscriptions: 0,
    onerror,
  });
  const hosts = [...localhostAllowedHostnames(), ...config.MCP_ALLOWED_HOSTS];
  const originHosts = [...localhostAllowedOrigins(), ...config.MCP_ALLOWED_ORIGINS];

  async function legacy(request: Request): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = newServer();
    await server.connect(transport);
    try {
      return await transport.handleRequest(request);
    } finally {
      await server.close();
    }
  }

  /** The refusal of a Host, an Origin or a method, told by these alone, before a body is read. */
  function refusal(ctx: Context): Response | undefined {
    const [host, origin] = [ctx.get('host'), ctx.get('origin')];
    const asked = new Request('http://localhost', { headers: { host, origin } });
    return (
      hostHeaderValidationResponse(asked, hosts) ??
      (config.MCP_ALLOWED_ORIGINS.includes(origin)
        ? undefined
        : originValidationResponse(asked, originHosts)) ??
      (ctx.method === 'POST' ? undefined : methodNotAllowed())
    );
  }

  async function answer(request: Request): Promise<Response> {
    const isLegacy = await isLegacyRequest(request.clone(), undefined, {
      maxRequestBodySize: MOST_BODY_BYTES,
    });
    return isLegacy ? legacy(request) : modern.fetch(request);
  }

  return async (ctx) => {
    const response = refusal(ctx) ?? (await answer(await webRequest(ctx)));
    for (const [name, value] of response.headers) ctx.set(name, value);
    ctx.body = await response.text();
    ctx.status = response.status;
  };
}

/** The request with its body. @throws {HttpError} 413 when that is too large */
async function webRequest(ctx: Context): Promise<Request> {
  const request = Object.assign(ctx.req, { method: ctx.method, url: ctx.url });
  try {
    return await toWebRequest(request, undefined, { maxRequestBodySize: MOST_BODY_BYTES });
  } catch (error) {
    throw error instanceof Error && error.name === 'RequestBodyTooLargeError' ? createError(413) : error;
  }
}

function methodNotAllowed(): Response {
  return Response.json(
    { detail: 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.' },
    { status: 405, headers: { Allow: 'POST' } },
  );
}

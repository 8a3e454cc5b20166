import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Lookups } from '../lookups.ts';
import { toolServer } from './tools.ts';

/**
 * The MCP endpoint: Streamable HTTP for the 2026 revision and the 2025 ones, stateless, answers in JSON. Each
 * request gets a server of its own, since one shared by concurrent requests fails.
 */
export function mcpRoutes(mcp: FastifyInstance, config: Config, lookups: Lookups, log: Logger): void {
  const newServer = () => toolServer(lookups, log);
  const onerror = (error: Error) => log.warn({ error: error.message }, 'MCP request refused');
  const modern = createMcpHandler(newServer, { legacy: 'reject', maxSubscriptions: 0, onerror });
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

  /** The refusal of a Host, an Origin or a method, told by these alone, before a body is read. */
  function refusal({ method, headers }: FastifyRequest): Response | undefined {
    const { host = '', origin = '' } = headers;
    const asked = new Request('http://localhost', { headers: { host, origin } });
    return (
      hostHeaderValidationResponse(asked, hosts) ??
      (config.MCP_ALLOWED_ORIGINS.includes(origin)
        ? undefined
        : originValidationResponse(asked, originHosts)) ??
      (method === 'POST' ? undefined : methodNotAllowed())
    );
  }

  /** The body is read and parsed once; only one that is no JSON goes to the SDK as it is, to be refused there. */
  async function answer({ headers, body }: FastifyRequest): Promise<Response> {
    const text = typeof body === 'string' ? body : '';
    const parsedBody = parsed(text);
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: webHeaders(headers),
      ...(parsedBody === undefined ? { body: text } : {}),
    });
    return (await isLegacyRequest(request, parsedBody))
      ? legacy(request, parsedBody)
      : modern.fetch(request, { parsedBody });
  }

  mcp.removeAllContentTypeParsers();
  mcp.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  mcp.route({
    method: mcp.supportedMethods,
    url: '/',
    onRequest: async (request, reply) => {
      const response = refusal(request);
      if (response !== undefined) return sent(reply, response);
    },
    handler: async (request, reply) => sent(reply, await answer(request)),
  });
}

async function sent(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  for (const [name, value] of response.headers) reply.header(name, value);
  return reply.code(response.status).send(await response.text());
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function webHeaders(given: FastifyRequest['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  return headers;
}

function methodNotAllowed(): Response {
  return Response.json(
    { detail: 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.' },
    { status: 405, headers: { Allow: 'POST' } },
  );
}

import type { IncomingHttpHeaders } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import compose from 'koa-compose';
import type { Logger } from 'pino';
import type { RateLimit } from '../access/rate-limit.ts';
import type { Config } from '../config.ts';
import { textBody } from '../http/body.ts';
import type { Context, Middleware } from '../http/context.ts';
import { spendMore } from '../http/limit.ts';
import { TooBusyError } from '../storage/errors.ts';
import { allowedOrigins, checkRequest } from './host-and-origin.ts';
import { parseJson, unsupportedMessage } from './protocol-errors.ts';
import { rosterItemsIn } from './roster.ts';
import { sendResponse } from './send-response.ts';
import { type Answers, toolServer } from './tools.ts';

export const MCP_PATH = '/mcp';

/** Further requests are rejected, so that callers without a key leave capacity for callers with one. */
export const MAX_IN_FLIGHT = 200;

/**
 * The MCP endpoint: Streamable HTTP for the 2026 and 2025 revisions of the protocol, stateless, with JSON responses.
 * Each request gets its own server, because a server that concurrent requests share fails.
 */
export function mcpEndpoint(config: Config, answers: Answers, limit: RateLimit, log: Logger): Middleware {
  const newServer = () => toolServer(answers, log);
  const onerror = (error: Error) => log.warn({ error: error.message }, 'MCP request refused');
  const modern = createMcpHandler(newServer, { legacy: 'reject', onerror });

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

  /** The body is read and parsed once. Only malformed JSON goes to the SDK as text, to be rejected there. */
  async function respond(ctx: Context): Promise<Response> {
    const text = await textBody(ctx);
    const parsedBody = parseJson(text);
    const unsupported = unsupportedMessage(parsedBody);
    if (unsupported !== undefined) return unsupported;
    await spendMore(ctx, limit, Math.ceil(rosterItemsIn(parsedBody) / config.ROSTER_ITEMS_PER_REQUEST) - 1);
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
      await sendResponse(ctx, await respond(ctx));
    } finally {
      inFlight -= 1;
    }
  };

  return compose([allowedOrigins(config), checkRequest(config), handleRequest]);
}

/** The headers that the SDK reads. Each further header would cost a microsecond or two. */
function protocolHeaders(given: IncomingHttpHeaders): [string, string][] {
  return Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value !== undefined && (name === 'accept' || name === 'content-type' || name.startsWith('mcp-'))
      ? [[name, String(value)]]
      : [],
  );
}

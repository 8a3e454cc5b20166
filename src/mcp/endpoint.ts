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
import { type Context, clientGone, type Middleware } from '../http/context.ts';
import { slots, spendMore } from '../http/limits.ts';
import { allowedOrigins, checkRequest } from './host-and-origin.ts';
import { parseJson, unsupportedMessage } from './protocol-errors.ts';
import { rosterItemsIn } from './roster.ts';
import { sendResponse } from './send-response.ts';
import { type Answers, toolServer } from './tools.ts';

export const MCP_PATH = '/mcp';

/** Further requests are rejected, so that callers without a key leave capacity for callers with one. */
export const MAX_IN_FLIGHT = 200;

/**
 * So many of them may come from one address: as many as the items of one roster, which a client may ask one by one. The
 * users of a hosted assistant share its addresses: an address whose range may send more in a minute has more in
 * proportion, and at most half of all.
 */
export const MAX_IN_FLIGHT_PER_ADDRESS = 50;

/**
 * The MCP endpoint: Streamable HTTP for the 2026 and 2025 revisions of the protocol, stateless, with JSON responses.
 * Each request gets its own server, because a server that concurrent requests share fails.
 */
export function mcpEndpoint(config: Config, answers: Answers, limit: RateLimit, log: Logger): Middleware {
  const onerror = (error: Error) => log.warn({ error: error.message }, 'MCP request refused');
  /** The SDK asks for a server with the request alone. */
  const contexts = new WeakMap<Request, Context>();
  const newServer = (ctx: Context | undefined) =>
    toolServer(answers, log, () => (ctx === undefined ? new AbortController().signal : clientGone(ctx)));
  const modern = createMcpHandler(({ requestInfo }) => newServer(requestInfo && contexts.get(requestInfo)), {
    legacy: 'reject',
    onerror,
  });

  async function legacy(ctx: Context, request: Request, parsedBody: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = newServer(ctx);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  /** The body is parsed once. Only malformed JSON goes to the SDK as text, to be rejected there. */
  async function respond(ctx: Context, text: string): Promise<Response> {
    const parsedBody = parseJson(text);
    const unsupported = unsupportedMessage(parsedBody);
    if (unsupported !== undefined) return unsupported;
    await spendMore(ctx, limit, Math.ceil(rosterItemsIn(parsedBody) / config.ROSTER_ITEMS_PER_REQUEST) - 1);
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: protocolHeaders(ctx.req.headers),
      ...(parsedBody === undefined ? { body: text } : {}),
    });
    contexts.set(request, ctx);
    return (await isLegacyRequest(request, parsedBody))
      ? legacy(ctx, request, parsedBody)
      : modern.fetch(request, { parsedBody });
  }

  const inFlight = slots(MAX_IN_FLIGHT, (address) => {
    const share = limit.limitFor(address) / config.MCP_REQUESTS_PER_MINUTE;
    return Math.min(MAX_IN_FLIGHT / 2, Math.ceil(MAX_IN_FLIGHT_PER_ADDRESS * share));
  });

  /** The whole body comes first: a client that never finishes it holds no slot. */
  const handleRequest: Middleware = async (ctx) => {
    const text = await textBody(ctx);
    await inFlight(ctx, 1, async () => sendResponse(ctx, await respond(ctx, text)));
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

import type { IncomingHttpHeaders } from 'node:http';
import cors from '@koa/cors';
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  TRACEPARENT_META_KEY,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import compose from 'koa-compose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { RateLimit } from '../access/rate-limit.ts';
import type { Config } from '../config.ts';
import { type Context, clientGone, type Middleware, traceparentOf } from '../http/app.ts';
import { textBody } from '../http/body.ts';
import { spendMore } from '../http/guard.ts';
import { slots } from '../http/limits.ts';
import { ordinaryCalls } from './ordinary-calls.ts';
import { rosterItemsIn } from './roster.ts';
import { type ToolServices, toolCaller, toolServer } from './tools.ts';

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
 * Ordinary tool calls need none of the SDK. Each other request gets a server of its own, because its HTTP transport can’t be
 * shared.
 */
export function mcpEndpoint(
  config: Config,
  services: ToolServices,
  limit: RateLimit,
  log: Logger,
): Middleware {
  const callTool = toolCaller(services, log);
  const answerOrdinary = ordinaryCalls(callTool);
  const onerror = (error: Error) => log.warn({ error: error.message }, 'MCP request refused');
  /** The SDK asks for a server with the request alone. */
  const contexts = new WeakMap<Request, Context>();
  const newServer = (ctx: Context | undefined) =>
    toolServer(callTool, () => (ctx === undefined ? new AbortController().signal : clientGone(ctx)));
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
  async function respond(ctx: Context, text: string): Promise<void> {
    const message = parseJson(text);
    if (text.includes(TRACEPARENT_META_KEY))
      ctx.state.traceparent = tracedIn(message) ?? ctx.state.traceparent;
    await spendMore(ctx, limit, Math.ceil(rosterItemsIn(message) / config.ROSTER_ITEMS_PER_REQUEST) - 1);
    const answer = await answerOrdinary(ctx, message);
    if (answer === undefined) return sendResponse(ctx, await respondBySdk(ctx, text, message));
    ctx.body = answer;
  }

  async function respondBySdk(ctx: Context, text: string, parsedBody: unknown): Promise<Response> {
    const unsupported = unsupportedMessage(parsedBody);
    if (unsupported !== undefined) return unsupported;
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
    await inFlight.during(ctx, 1, () => respond(ctx, text));
  };

  return compose([allowedOrigins(config), checkRequest(config), handleRequest]);
}

const tracedMessage = z.object({
  params: z.object({ _meta: z.object({ [TRACEPARENT_META_KEY]: z.unknown() }) }),
});

/** The trace that a message names: the assistant's own, where a proxy between may have begun another in the header. */
function tracedIn(message: unknown): string | undefined {
  return traceparentOf(tracedMessage.safeParse(message).data?.params._meta[TRACEPARENT_META_KEY]);
}

/** The headers that the SDK reads. Each further header would cost a microsecond or two. */
function protocolHeaders(given: IncomingHttpHeaders): [string, string][] {
  return Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value !== undefined && (name === 'accept' || name === 'content-type' || name.startsWith('mcp-'))
      ? [[name, String(value)]]
      : [],
  );
}

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
function allowedOrigins(config: AllowedNames): Middleware {
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

/** The page that says how to connect, for a person who opens the server's address in a browser. */
const HOW_TO_CONNECT = '/developers#assistants';

/** Rejects a wrong Host, Origin or method before the body is read. */
function checkRequest(config: AllowedNames): Middleware {
  const hosts = [...localhostAllowedHostnames(), ...config.MCP_ALLOWED_HOSTS];
  return (ctx, next) => {
    const host = validateHostHeader(ctx.req.headers.host, hosts);
    const error = host.ok ? originError(ctx.get('origin'), config) : host.message;
    if (error !== undefined) return sendResponse(ctx, forbidden(error));
    if (ctx.method === 'GET' && ctx.get('accept').startsWith('text/html'))
      return ctx.redirect(HOW_TO_CONNECT);
    if (ctx.method !== 'POST') return sendResponse(ctx, methodNotAllowed());
    return next();
  };
}

/** Sends a response of the SDK through Koa, without the text of internal errors. */
async function sendResponse(ctx: Context, response: Response): Promise<void> {
  for (const [name, value] of response.headers) {
    if (name === 'content-type') ctx.type = value;
    else ctx.set(name, value);
  }
  ctx.body = withoutInternalErrors(await response.text());
  ctx.status = response.status;
}

/** The SDK's code for a Host or Origin that is not allowed. */
const NOT_ALLOWED = -32000;

const errorMessage = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});

const listenRequest = z.object({
  method: z.literal('subscriptions/listen'),
  id: z.union([z.string(), z.number()]).nullable().catch(null),
});

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/**
 * Removes the text of unexpected errors from a response. The SDK puts such text into the error's data as a string, and
 * the list of a schema's errors into the error's message. That list has several lines; messages for clients have one.
 */
function withoutInternalErrors(text: string): string {
  if (!text.includes('"error":{"code":')) return text;
  const read = errorMessage.safeParse(parseJson(text));
  if (!read.success) return text;
  const { error, ...envelope } = read.data;
  const isSchemaError = error.message.includes('\n');
  if (!isSchemaError && typeof error.data !== 'string') return text;
  const code = isSchemaError && error.code === INTERNAL_ERROR ? INVALID_PARAMS : error.code;
  const message = isSchemaError ? 'Invalid params: they do not fit the method.' : error.message;
  return JSON.stringify({ ...envelope, error: { code, message } });
}

/** The error for a message that the SDK accepts but this server does not support. */
function unsupportedMessage(message: unknown): Response | undefined {
  // The protocol dropped batches in 2025-06-18. A batch would count as one request however many calls it has, and a
  // call that is canceled by the same batch would never get a response.
  if (Array.isArray(message)) {
    return errorResponse(400, null, INVALID_REQUEST, 'Batches are not taken: send each request by itself.');
  }
  const listen = listenRequest.safeParse(message);
  if (!listen.success) return undefined;
  return errorResponse(
    404,
    listen.data.id,
    METHOD_NOT_FOUND,
    'Method not found: there are no subscriptions.',
  );
}

function errorResponse(status: number, id: string | number | null, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

/** The response to a Host or Origin that is not allowed. */
function forbidden(message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: NOT_ALLOWED, message }, id: null }, { status: 403 });
}

/** The response to any method but POST. */
function methodNotAllowed(): Response {
  return Response.json(
    { detail: 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.' },
    { status: 405, headers: { Allow: 'POST' } },
  );
}

/** The parsed JSON; `undefined` for malformed JSON. */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

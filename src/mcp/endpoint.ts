import cors from '@koa/cors';
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  ProtocolErrorCode,
  type RequestId,
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
import { waitingSlots } from '../http/limits.ts';
import { answerOrdinary } from './ordinary-calls.ts';
import { MAX_ROSTER_ITEMS } from './parameters.ts';
import { type ToolServices, toolCaller, toolServers } from './tools.ts';

export const MCP_PATH = '/mcp';

/** The most requests at the same time. Further ones wait, so that callers with a key keep their share of capacity. */
export const MAX_IN_FLIGHT = 200;

/**
 * The most requests at the same time from one address: as many as a roster has items, because a client may send one
 * request per item. The users of a hosted assistant share its addresses, so an address range with a higher rate limit
 * gets proportionally more slots: up to half of all, as long as at most three quarters are taken. The last quarter is
 * reserved for other callers.
 */
export const MAX_IN_FLIGHT_PER_ADDRESS = 50;
const MAX_IN_FLIGHT_OF_HOSTS = MAX_IN_FLIGHT * 0.75;

/** How long a request waits for a slot. There are as many waiting places as slots. */
const SLOT_WAIT_MS = 1000;

/**
 * The MCP endpoint: stateless Streamable HTTP for the 2026 and 2025 revisions of the protocol, with JSON responses.
 * Ordinary tool calls bypass the SDK. Every other request gets its own server, because the SDK's HTTP transport cannot
 * be shared.
 */
export function mcpEndpoint(
  config: Config,
  services: ToolServices,
  limit: RateLimit,
  log: Logger,
): Middleware {
  const callTool = toolCaller(services, log);
  const newServer = toolServers(callTool);
  const modern = createMcpHandler(({ requestInfo }) => newServer(requestInfo?.signal), {
    legacy: 'reject',
    onerror: (error) => log.warn({ error: error.message }, 'MCP request refused'),
  });

  async function legacy(request: Request, parsedBody: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = newServer(request.signal);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }

  /** Parses the body once. Only malformed JSON goes to the SDK as text, so that the SDK rejects it. */
  async function respond(ctx: Context, text: string): Promise<void> {
    const parsedBody = parseJson(text);
    const { id, method, params } = message.parse(parsedBody);
    // Prefer the assistant's own trace: a proxy may have replaced the trace in the header.
    ctx.state.traceparent = traceparentOf(params?._meta?.[TRACEPARENT_META_KEY]) ?? ctx.state.traceparent;
    const items = params?.name === 'verify_roster' ? params.arguments?.items?.length : undefined;
    const points = Math.ceil(Math.min(items ?? 0, MAX_ROSTER_ITEMS) / config.ROSTER_ITEMS_PER_REQUEST);
    await spendMore(ctx, limit, points - 1);
    const ordinary = await answerOrdinary(callTool, ctx.req.headers, parsedBody, () => clientGone(ctx));
    if (ordinary !== undefined) {
      // Before the body: for a text, Koa would first find out its type.
      ctx.type = 'json';
      ctx.body = ordinary;
      return;
    }
    // The protocol dropped batches in revision 2025-06-18. A batch would count as one request, whatever its size, and a
    // call that the same batch cancels would never get a response.
    if (Array.isArray(parsedBody)) return sendError(ctx, 400, ProtocolErrorCode.InvalidRequest, NO_BATCHES);
    if (method === 'subscriptions/listen')
      return sendError(ctx, 404, ProtocolErrorCode.MethodNotFound, NO_SUBSCRIPTIONS, id);
    const headers = new Headers();
    for (const [name, value] of Object.entries(ctx.req.headers)) headers.set(name, String(value));
    // The SDK refuses clients that do not accept both media types of the protocol.
    headers.set('accept', 'application/json, text/event-stream');
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers,
      signal: clientGone(ctx),
      ...(parsedBody === undefined ? { body: text } : {}),
    });
    const isLegacy = await isLegacyRequest(request, parsedBody);
    const response = isLegacy ? legacy(request, parsedBody) : modern.fetch(request, { parsedBody });
    return sendResponse(ctx, await response);
  }

  const inFlight = waitingSlots(SLOT_WAIT_MS, MAX_IN_FLIGHT, (address, taken) => {
    if (taken >= MAX_IN_FLIGHT_OF_HOSTS) return MAX_IN_FLIGHT_PER_ADDRESS;
    const share = limit.limitFor(address) / config.MCP_REQUESTS_PER_MINUTE;
    return Math.min(MAX_IN_FLIGHT / 2, Math.ceil(MAX_IN_FLIGHT_PER_ADDRESS * share));
  });

  /** Reads the whole body first, so that a client that never finishes its body occupies no slot. */
  const handleRequest: Middleware = async (ctx) => {
    const text = await textBody(ctx);
    await inFlight(ctx.ip, 1, () => respond(ctx, text));
  };

  return compose([allowedOrigins(config), checkRequest(config), handleRequest]);
}

const listArguments = z.object({ items: z.array(z.unknown()).optional() });

const params = z.object({
  name: z.unknown(),
  arguments: listArguments.optional().catch(undefined),
  _meta: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

/** The parts of a message that this service reads itself. */
const message = z
  .object({
    id: z.union([z.string(), z.number()]).nullable().catch(null),
    method: z.unknown(),
    params: params.optional().catch(undefined),
  })
  .catch({ id: null, method: undefined });

/** Matches the Accept header of nearly every client. Parsing the whole header would take several µs. */
const ACCEPTS_JSON = /^application\/json(?:,|$)/;

type AllowedNames = Pick<Config, 'MCP_ALLOWED_HOSTS' | 'MCP_ALLOWED_ORIGINS'>;

/** Why an Origin is not allowed; `undefined` if it is. Only browsers send one; a request without Origin is allowed. */
function originError(origin: string, { MCP_ALLOWED_ORIGINS: allowed }: AllowedNames): string | undefined {
  if (allowed.includes(origin)) return undefined;
  const checked = validateOriginHeader(origin, [...localhostAllowedOrigins(), ...allowed]);
  return checked.ok
    ? undefined
    : `${checked.message}. The setting MCP_ALLOWED_ORIGINS has those that are allowed.`;
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
    // Seconds for which a browser may cache the response to a preflight request.
    maxAge: 600,
  });
}

/** Rejects a wrong Host, Origin, method or Accept before the body is read. */
function checkRequest(config: AllowedNames): Middleware {
  const hosts = [...localhostAllowedHostnames(), ...config.MCP_ALLOWED_HOSTS];
  return (ctx, next) => {
    const host = validateHostHeader(ctx.req.headers.host, hosts);
    const error = host.ok
      ? originError(ctx.get('origin'), config)
      : `${host.message}. The setting MCP_ALLOWED_HOSTS has those that are allowed.`;
    if (error !== undefined) return sendError(ctx, 403, NOT_ALLOWED, error);
    // A person has opened the server's address in a browser: redirect to the page that explains how to connect.
    if (ctx.method === 'GET' && ctx.get('accept').startsWith('text/html'))
      return ctx.redirect('/developers#assistants');
    const accepts = () => ACCEPTS_JSON.test(ctx.get('accept')) || ctx.accepts('json') !== false;
    if (ctx.method === 'POST' && accepts()) return next();
    if (ctx.method === 'POST') return sendError(ctx, 406, NOT_ALLOWED, 'Not Acceptable: the answer is JSON.');
    ctx.status = 405;
    ctx.set('allow', 'POST');
    ctx.body = { detail: 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.' };
  };
}

/** Sends a response of the SDK through Koa, without the text of internal errors. */
async function sendResponse(ctx: Context, response: Response): Promise<void> {
  for (const [name, value] of response.headers) {
    if (name === 'content-type') ctx.type = value;
    else ctx.set(name, value);
  }
  const text = withoutInternalErrors(await response.text());
  // For an empty text, Koa would set a content type.
  ctx.body = text === '' ? null : text;
  ctx.status = response.status;
}

/** The SDK's error code for a Host, Origin or Accept header that is not allowed. */
const NOT_ALLOWED = -32000;

const errorMessage = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});

const INVALID_PARAMS = 'Invalid params: they do not fit the method.';
const NO_BATCHES = 'Batches are not accepted: send each request by itself.';
const NO_SUBSCRIPTIONS = 'Method not found: there are no subscriptions.';

/**
 * Removes the text of unexpected errors from a response. The SDK puts such text into the error's data as a string, and
 * the validation errors of a schema into the error's message. They take several lines; messages for clients take one.
 */
function withoutInternalErrors(text: string): string {
  if (!text.includes('"error":{"code":')) return text;
  const read = errorMessage.safeParse(parseJson(text));
  if (!read.success) return text;
  const { error, ...envelope } = read.data;
  const { InternalError, InvalidParams } = ProtocolErrorCode;
  const { code, message } = error;
  if (message.includes('\n')) {
    const told = { code: code === InternalError ? InvalidParams : code, message: INVALID_PARAMS };
    return JSON.stringify({ ...envelope, error: told });
  }
  return typeof error.data === 'string' ? JSON.stringify({ ...envelope, error: { code, message } }) : text;
}

function sendError(ctx: Context, status: number, code: number, message: string, id: RequestId | null = null) {
  ctx.status = status;
  ctx.body = { jsonrpc: '2.0', id, error: { code, message } };
}

/** Parses JSON; `undefined` if it is malformed. */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

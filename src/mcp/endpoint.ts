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
import { z } from 'zod';
import type { Config } from '../config.ts';
import { textBody } from '../http/body.ts';
import type { Context, Middleware } from '../http/context.ts';
import type { Lookups } from '../lookup/service.ts';
import { TooBusyError } from '../storage/errors.ts';
import { toolServer } from './tools.ts';

export const MCP_PATH = '/mcp';

/** More at once are refused: callers without a key must not take all that callers with one share. */
const MAX_IN_FLIGHT = 200;

/** For so long a browser need not ask again whether a page of another origin may call. */
const PREFLIGHT_KEPT_SECONDS = 600;

/** What the SDK gives for a Host or Origin that is not allowed. */
const NOT_ALLOWED = -32000;

/**
 * The MCP endpoint: Streamable HTTP for the 2026 revision and the 2025 ones, stateless, answers in JSON. Each
 * request gets a server of its own, since one shared by concurrent requests fails.
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

  /** Why an Origin is refused; nothing is wrong with none, which is what all but browsers send. */
  function originRefusal(origin: string): string | undefined {
    if (config.MCP_ALLOWED_ORIGINS.includes(origin)) return undefined;
    const checked = validateOriginHeader(origin, originHosts);
    return checked.ok ? undefined : checked.message;
  }

  /** Refuses a Host, an Origin or a method before the body is read. */
  const guarded: Middleware = (ctx, next) => {
    const host = validateHostHeader(ctx.req.headers.host, hosts);
    const refusal = host.ok ? originRefusal(ctx.get('origin')) : host.message;
    if (refusal !== undefined) return send(ctx, forbidden(refusal));
    if (ctx.method !== 'POST') return send(ctx, methodNotAllowed());
    return next();
  };

  /** The body is read and parsed once; only one that is no JSON goes to the SDK as it is, to be refused there. */
  async function answer(ctx: Context): Promise<Response> {
    const text = await textBody(ctx);
    const parsedBody = parsed(text);
    const refused = refusedMessage(parsedBody);
    if (refused !== undefined) return refused;
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

  const answered: Middleware = async (ctx) => {
    if (inFlight >= MAX_IN_FLIGHT) throw new TooBusyError('Too many MCP requests are under way.');
    inFlight += 1;
    try {
      await send(ctx, await answer(ctx));
    } finally {
      inFlight -= 1;
    }
  };

  return compose([
    cors({
      origin: (ctx) => {
        const origin = ctx.get('origin');
        return origin !== '' && originRefusal(origin) === undefined ? origin : '';
      },
      allowMethods: ['POST'],
      exposeHeaders: 'Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
      maxAge: PREFLIGHT_KEPT_SECONDS,
    }),
    guarded,
    answered,
  ]);
}

async function send(ctx: Context, response: Response): Promise<void> {
  for (const [name, value] of response.headers) {
    if (name === 'content-type') ctx.type = value;
    else ctx.set(name, value);
  }
  ctx.body = withoutThrown(await response.text());
  ctx.status = response.status;
}

const errorAnswer = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});

const requestId = z.union([z.string(), z.number()]);

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/**
 * An answer as a client may read it. The SDK puts what was thrown into the error's message, such as a schema's list
 * of faults, which unlike messages written for clients has several lines, and into its data as a string.
 */
function withoutThrown(text: string): string {
  if (!text.includes('"error":{"code":')) return text;
  const read = errorAnswer.safeParse(parsed(text));
  if (!read.success) return text;
  const { error, ...envelope } = read.data;
  const isThrown = error.message.includes('\n');
  if (!isThrown && typeof error.data !== 'string') return text;
  const code = isThrown && error.code === INTERNAL_ERROR ? INVALID_PARAMS : error.code;
  const message = isThrown ? 'Invalid params: they do not fit the method.' : error.message;
  return JSON.stringify({ ...envelope, error: { code, message } });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The headers that the SDK reads; each one more costs a microsecond or two. */
function protocolHeaders(given: IncomingHttpHeaders): [string, string][] {
  return Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value !== undefined && (name === 'accept' || name === 'content-type' || name.startsWith('mcp-'))
      ? [[name, String(value)]]
      : [],
  );
}

/** The refusal of what the SDK would take, but this server does not. */
function refusedMessage(message: unknown): Response | undefined {
  // The protocol dropped batches in 2025-06-18. One would count as one request, however many calls it makes, and a
  // call that it cancels itself would never be answered.
  if (Array.isArray(message)) {
    return refusedCall(400, null, INVALID_REQUEST, 'Batches are not taken: send each request by itself.');
  }
  if (!isObject(message) || message.method !== 'subscriptions/listen') return undefined;
  const id = requestId.safeParse(message.id).data ?? null;
  return refusedCall(404, id, METHOD_NOT_FOUND, 'Method not found: there are no subscriptions.');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function refusedCall(status: number, id: string | number | null, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

function forbidden(message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: NOT_ALLOWED, message }, id: null }, { status: 403 });
}

function methodNotAllowed(): Response {
  return Response.json(
    { detail: 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.' },
    { status: 405, headers: { Allow: 'POST' } },
  );
}

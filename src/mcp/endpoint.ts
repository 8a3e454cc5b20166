import cors from '@fastify/cors';
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
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Lookups } from '../lookups.ts';
import { TooBusyError } from '../shared-requests.ts';
import { toolServer } from './tools.ts';

export const MCP_PATH = '/mcp';

/** More at once are refused: callers without a key must not take all that callers with one share. */
const MOST_AT_ONCE = 200;

/** For so long a browser need not ask again whether a page of another origin may call. */
const PREFLIGHT_KEPT_SECONDS = 600;

/**
 * The MCP endpoint: Streamable HTTP for the 2026 revision and the 2025 ones, stateless, answers in JSON. Each
 * request gets a server of its own, since one shared by concurrent requests fails.
 */
export async function mcpRoutes(
  mcp: FastifyInstance,
  config: Config,
  lookups: Lookups,
  log: Logger,
): Promise<void> {
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

  /** The refusal of a Host, an Origin or a method, told by these alone, before a body is read. */
  function refusal({ method, headers }: FastifyRequest): Response | undefined {
    const asked = new Request('http://localhost', { headers: { host: headers.host ?? '' } });
    return (
      hostHeaderValidationResponse(asked, hosts) ??
      originRefusal(headers.origin ?? '') ??
      (method === 'POST' ? undefined : methodNotAllowed())
    );
  }

  /** The refusal of an Origin; none of no Origin, which is what all but browsers send. */
  function originRefusal(origin: string): Response | undefined {
    if (config.MCP_ALLOWED_ORIGINS.includes(origin)) return undefined;
    return originValidationResponse(new Request('http://localhost', { headers: { origin } }), originHosts);
  }

  /** The body is read and parsed once; only one that is no JSON goes to the SDK as it is, to be refused there. */
  async function answer({ headers, body }: FastifyRequest): Promise<Response> {
    const text = typeof body === 'string' ? body : '';
    const parsedBody = parsed(text);
    const refused = refusedMessage(parsedBody);
    if (refused !== undefined) return refused;
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: webHeaders(headers),
      ...(parsedBody === undefined ? { body: text } : {}),
    });
    return (await isLegacyRequest(request, parsedBody))
      ? legacy(request, parsedBody)
      : modern.fetch(request, { parsedBody });
  }

  let underWay = 0;

  async function answerInTurn(request: FastifyRequest): Promise<Response> {
    if (underWay >= MOST_AT_ONCE) throw new TooBusyError('Too many MCP requests are under way.');
    underWay += 1;
    try {
      return await answer(request);
    } finally {
      underWay -= 1;
    }
  }

  await mcp.register(cors, {
    origin: (origin, decide) => decide(null, origin !== undefined && originRefusal(origin) === undefined),
    methods: ['POST'],
    exposedHeaders: ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
    maxAge: PREFLIGHT_KEPT_SECONDS,
  });
  mcp.removeAllContentTypeParsers();
  mcp.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  mcp.route({
    method: mcp.supportedMethods,
    url: '/',
    onRequest: async (request, reply) => {
      const response = refusal(request);
      if (response !== undefined) return sent(reply, response);
    },
    handler: async (request, reply) => sent(reply, await answerInTurn(request)),
  });
}

async function sent(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  for (const [name, value] of response.headers) reply.header(name, value);
  return reply.code(response.status).send(withoutThrown(await response.text()));
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

function webHeaders(given: FastifyRequest['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  return headers;
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

function methodNotAllowed(): Response {
  return Response.json(
    { detail: 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.' },
    { status: 405, headers: { Allow: 'POST' } },
  );
}

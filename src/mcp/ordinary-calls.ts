import type { IncomingHttpHeaders } from 'node:http';
import {
  classifyInboundRequest,
  isJSONRPCRequest,
  isJsonContentType,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageClassification,
  PerRequestHTTPServerTransport,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { InUse } from '../http/limits.ts';
import { type Context, clientGone } from '../http/route.ts';
import { type ToolServices, toolServer } from './tools.ts';

const LEGACY: MessageClassification = { era: 'legacy' };

/** The revision of the protocol that needs no session. The SDK serves one. */
const REVISION = '2026-07-28';
const MODERN: MessageClassification = { era: 'modern', revision: REVISION };

/** Answers a message if it is an ordinary tool call; `undefined` for any other, which the SDK's transports take. */
export type OrdinaryCalls = (ctx: Context, message: unknown) => Promise<JSONRPCMessage | undefined>;

/**
 * Answers ordinary tool calls by one SDK server for each era of the protocol. A server, a transport, a web request and
 * a web response for each call take more CPU than the lookup (docs/decisions/012).
 */
export function ordinaryCalls(services: ToolServices, log: Logger): OrdinaryCalls {
  async function connect(classification: MessageClassification, versions?: string[]): Promise<Connection> {
    const connection = new Connection(classification);
    await toolServer(services, log, (id) => connection.clientGone(id), versions).connect(connection);
    return connection;
  }
  const connections = {
    legacy: connect(LEGACY),
    modern: connect(MODERN, [...SUPPORTED_PROTOCOL_VERSIONS, REVISION]),
  };
  return async (ctx, message) => {
    if (!isJSONRPCRequest(message) || message.method !== 'tools/call') return undefined;
    const era = eraOf(ctx.req.headers, message);
    return era === undefined ? undefined : (await connections[era]).call(message, ctx);
  };
}

/** The era of a tool call whose headers the SDK's transports would take; `undefined` for one that they may refuse. */
function eraOf(headers: IncomingHttpHeaders, message: JSONRPCRequest): 'legacy' | 'modern' | undefined {
  if (!isJsonContentType(headers['content-type'])) return undefined;
  const version = headers['mcp-protocol-version'];
  const method = headers['mcp-method'];
  const name = headers['mcp-name'];
  const isRepeated = [version, method, name].some((value) => Array.isArray(value));
  if (isRepeated) return undefined;
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(version !== undefined && { protocolVersionHeader: String(version) }),
    ...(method !== undefined && { mcpMethodHeader: String(method) }),
    ...(name !== undefined && { mcpNameHeader: String(name) }),
  });
  if (route.kind === 'legacy') {
    const { accept = '' } = headers;
    const isAccepted = accept.includes('application/json') && accept.includes('text/event-stream');
    const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version));
    return isAccepted && isKnown ? 'legacy' : undefined;
  }
  if (route.kind !== 'modern' || route.classification.revision !== REVISION) return undefined;
  const hasHeaders = version === REVISION && method === message.method && name === message.params?.name;
  return hasHeaders ? 'modern' : undefined;
}

/** A call that waits for its response. */
interface Waiting {
  readonly ctx: Context;
  readonly answer: (message: JSONRPCMessage) => void;
}

/**
 * A connection to a server that all calls of an era share. A call has an id of its own on it, so calls at the same
 * moment do not meet. It extends the SDK's transport for one request because only that tells the server its era.
 */
class Connection extends PerRequestHTTPServerTransport {
  readonly #classification: MessageClassification;
  readonly #waiting = new InUse<Waiting>();

  constructor(classification: MessageClassification) {
    super({ classification });
    this.#classification = classification;
  }

  /** The server's response, with the id of the request; `undefined` when it refuses the request without a call. */
  call(request: JSONRPCRequest, ctx: Context): Promise<JSONRPCMessage | undefined> {
    return new Promise((resolve) => {
      // What is refused at once has statuses of its own, which the SDK's transports know.
      let isTaken = false;
      const answer = (message: JSONRPCMessage) =>
        resolve(isTaken ? { ...message, id: request.id } : undefined);
      const id = this.#waiting.add({ ctx, answer });
      this.onmessage?.({ ...request, id }, { classification: this.#classification });
      isTaken = true;
    });
  }

  /** Aborts when the client of a call is gone. */
  clientGone(id: RequestId): AbortSignal {
    const waiting = this.#waiting.get(Number(id));
    return waiting === undefined ? AbortSignal.abort() : clientGone(waiting.ctx);
  }

  /** Takes the server's responses. Nothing else is sent: tools send no notifications and ask clients nothing. */
  override async send(message: JSONRPCMessage): Promise<void> {
    const id = 'id' in message ? Number(message.id) : Number.NaN;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.remove(id, waiting);
    waiting.answer(message);
  }
}

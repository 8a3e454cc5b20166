import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** What OpenSearch, or the proxy in its place, answers. */
export interface ProxyAnswer {
  readonly status: number;
  readonly body: string;
}

/** A request on its way to OpenSearch. */
export interface ProxiedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
  /** Asks OpenSearch, with another body if one is given. */
  forward(body?: string): Promise<ProxyAnswer>;
}

/** What becomes of a request; `undefined` breaks the connection without an answer. */
export type ProxyHandler = (request: ProxiedRequest) => Promise<ProxyAnswer | undefined>;

/** A proxy in front of OpenSearch. */
export interface OpenSearchProxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function openSearchProxy(openSearch: string, handle: ProxyHandler): Promise<OpenSearchProxy> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const answered = await handle({
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      body,
      forward: (other = body) => forward(openSearch, request, other),
    });
    if (answered === undefined) response.destroy();
    else response.writeHead(answered.status, { 'content-type': 'application/json' }).end(answered.body);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${portOf(server)}`, close: () => closed(server) };
}

async function forward(openSearch: string, request: IncomingMessage, body: string): Promise<ProxyAnswer> {
  const answered = await fetch(`${openSearch}${request.url}`, {
    method: request.method ?? 'GET',
    headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
    ...(body === '' ? {} : { body }),
  });
  return { status: answered.status, body: await answered.text() };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** What becomes of a request to the API: it is forwarded, gets another answer, or loses its connection. */
export type ApiFate =
  | 'forward'
  | 'break'
  | { readonly status: number; readonly body: string; readonly retryAfter?: number };

/** A proxy in front of an API process. */
export interface ApiProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** @param fate decides what becomes of each request, by its body */
export async function apiProxy(url: string, fate: (body: string) => Promise<ApiFate>): Promise<ApiProxy> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const decided = await fate(body);
    if (decided === 'break') {
      response.destroy();
      return;
    }
    if (decided === 'forward') {
      const { 'content-type': type = '', 'x-api-key': key = '' } = request.headers;
      const headers = { 'content-type': type, 'x-api-key': String(key) };
      const answered = await fetch(url + request.url, { method: request.method ?? 'POST', headers, body });
      response.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' });
      response.end(await answered.bytes());
      return;
    }
    if (decided.retryAfter !== undefined) response.setHeader('retry-after', decided.retryAfter);
    response.writeHead(decided.status, { 'content-type': 'application/json' }).end(decided.body);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** What the proxy does with a bulk request. */
export type BulkFault =
  | 'none'
  /** OpenSearch is not asked; 429 for the whole request. */
  | 'refuse all'
  /** The first half goes through; 429 for each item of the other half. */
  | 'refuse half'
  /** OpenSearch does it, but the answer is lost. */
  | 'lose the answer';

/** A proxy in front of OpenSearch that disturbs bulk requests. */
export interface BulkProxy {
  readonly url: string;
  /** How many items each bulk request had. */
  readonly requests: number[];
  close(): Promise<void>;
}

const bulkResponse = z.looseObject({ errors: z.boolean(), items: z.array(z.unknown()) });

const REFUSED_ITEM = {
  create: { status: 429, error: { type: 'opensearch_rejected_execution_exception', reason: 'by the test' } },
};

/** @param faults what happens to the first bulk request, the second, …; the rest go through */
export async function bulkProxy(openSearch: string, faults: readonly BulkFault[]): Promise<BulkProxy> {
  const requests: number[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (!request.url?.includes('/_bulk')) return reply(response, await forward(request, body));
    const lines = body.split('\n').slice(0, -1);
    const items = lines.length / 2;
    const fault = faults[requests.length] ?? 'none';
    requests.push(items);
    if (fault === 'refuse all') return reply(response, { status: 429, body: '{"error":"by the test"}' });
    if (fault !== 'refuse half') {
      const answered = await forward(request, body);
      if (fault === 'lose the answer') response.destroy();
      else reply(response, answered);
      return;
    }
    const taken = Math.ceil(items / 2);
    const answered = await forward(request, `${lines.slice(0, 2 * taken).join('\n')}\n`);
    const parsed = bulkResponse.parse(JSON.parse(answered.body));
    parsed.items.push(...Array.from({ length: items - taken }, () => REFUSED_ITEM));
    reply(response, { status: 200, body: JSON.stringify({ ...parsed, errors: true }) });
  }

  async function forward(request: IncomingMessage, body: string): Promise<{ status: number; body: string }> {
    const method = request.method ?? 'GET';
    const answered = await fetch(`${openSearch}${request.url}`, {
      method,
      headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
      ...(body === '' ? {} : { body }),
    });
    return { status: answered.status, body: await answered.text() };
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${portOf(server)}`, requests, close: () => closed(server) };
}

function reply(response: ServerResponse, { status, body }: { status: number; body: string }): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

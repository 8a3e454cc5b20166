import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { atEndOfTestFile, once } from '../../scripts/clean-up.ts';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { openStore } from '../../src/storage/store.ts';

/** A web server on this machine. */
export type WebServer = Awaited<ReturnType<typeof webServer>>;

/** Makes a server listen on this machine. @returns the port; a free one unless given */
export async function listening(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return z.object({ port: z.int() }).parse(server.address()).port;
}

interface ServerOptions {
  /** The port; a free one unless given. */
  readonly port?: number;
  /** The key and certificate files for https. */
  readonly pem?: { readonly key: string; readonly certificate: string } | undefined;
}

export async function webServer(listener: RequestListener, { port, pem }: ServerOptions = {}) {
  // Keeps idle connections open, like OpenSearch. Otherwise the next request could use a connection that is just being
  // closed.
  const options = { keepAliveTimeout: 0 };
  const server =
    pem === undefined
      ? createServer(options, listener)
      : createTlsServer(
          { ...options, key: await readFile(pem.key), cert: await readFile(pem.certificate) },
          listener,
        );
  const taken = await listening(server, port);
  const close = once(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  atEndOfTestFile(close);
  return {
    url: `${pem === undefined ? 'http' : 'https'}://127.0.0.1:${taken}`,
    /** Breaks the open connections; the server keeps listening. */
    cut: () => server.closeAllConnections(),
    close,
  };
}

/** A response, from the server behind the proxy or made by a test. */
export interface ProxyAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request on its way to the server behind the proxy. */
export interface ProxiedRequest {
  readonly method: string;
  /** The path, including the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Forwards the request, optionally with another body or to another server. */
  forward(changed?: { readonly body?: string; readonly to?: string }): Promise<ProxyAnswer>;
}

/**
 * Handles a request in the proxy. A step may wait, inspect or change the request or response, or respond by itself.
 * `undefined` breaks the connection without a response.
 */
export type ProxyStep = (request: ProxiedRequest) => Promise<ProxyAnswer | undefined>;

export const pass: ProxyStep = (request) => request.forward();

/** The server gets no request and the client no response. */
export const cut: ProxyStep = async () => undefined;

/** The server gets no request; the client waits until the proxy is closed. */
export const hang: ProxyStep = () => new Promise(() => undefined);

/** The server handles the request, but the client gets no response. */
export const loseResponse: ProxyStep = async (request) => {
  await request.forward();
  return undefined;
};

/** The server gets no request; the proxy sends this response. */
export const answer =
  (status: number, body = '{"error":"by the test"}', headers: ProxyAnswer['headers'] = {}): ProxyStep =>
  async () => ({ status, body, headers });

/** The headers that the proxy forwards. Tests that need more add them here. */
const REQUEST_HEADERS = ['content-type', 'x-api-key'] as const;

/** A proxy in front of OpenSearch or of an API process. */
export function startProxy(server: string, step: ProxyStep, options?: ServerOptions): Promise<WebServer> {
  return webServer(async (incoming, response) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const forwarded = new Headers();
    for (const name of REQUEST_HEADERS)
      if (headers[name] !== undefined) forwarded.set(name, String(headers[name]));
    try {
      const body = (await buffer(incoming)).toString();
      const decided = await step({
        method,
        path,
        headers,
        body,
        forward: async ({ body: sent = body, to = server } = {}) => {
          const content = sent === '' ? {} : { body: sent };
          const answered = await fetch(to + path, { method, headers: forwarded, ...content });
          const type = answered.headers.get('content-type');
          // `text()` would remove a byte order mark.
          const text = Buffer.from(await answered.arrayBuffer()).toString();
          return { status: answered.status, body: text, headers: type ? { 'content-type': type } : {} };
        },
      });
      if (decided === undefined) response.destroy();
      else {
        const sent = { 'content-type': 'application/json', ...decided.headers };
        response.writeHead(decided.status, sent).end(decided.body);
      }
    } catch {
      response.destroy();
    }
  }, options);
}

/** Runs the work in this environment with a store whose requests to OpenSearch pass through this step. */
export async function throughProxy<Result>(
  environment: TestEnvironment,
  step: ProxyStep,
  work: (through: TestEnvironment) => Promise<Result>,
): Promise<Result> {
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, step);
  const store = openStore({ ...environment.config, OPENSEARCH_URL: proxy.url }, 60_000);
  try {
    return await work({ ...environment, store });
  } finally {
    await store.client.close();
    await proxy.close();
  }
}

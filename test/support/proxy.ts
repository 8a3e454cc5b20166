import { createServer, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { atEndOfTestFile, once } from '../../scripts/clean-up.ts';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { openStore } from '../../src/storage/store.ts';

/** A web server on this machine. */
export interface WebServer {
  readonly url: string;
  /** Cuts the open connections; it goes on to listen. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts a web server, on a free port unless given. */
export async function webServer(listener: RequestListener, port = 0): Promise<WebServer> {
  // As OpenSearch, it keeps idle connections: the next request may use one at the moment in which it is closed.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const close = once(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  atEndOfTestFile(close);
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    cut: () => server.closeAllConnections(),
    close,
  };
}

/** A response: from the server behind the proxy, or made up by a test. */
export interface ProxyAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request on its way to the server behind the proxy. */
export interface ProxiedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
  /** Sends it on, with another body or to another server if given. */
  forward(changed?: { readonly body?: string; readonly to?: string }): Promise<ProxyAnswer>;
}

/**
 * What happens to a request. A step may wait, look at what passes, change it, or answer by itself. `undefined` breaks
 * the connection without a response.
 */
export type ProxyStep = (request: ProxiedRequest) => Promise<ProxyAnswer | undefined>;

export const pass: ProxyStep = (request) => request.forward();

/** The server gets nothing, the client no response. */
export const cut: ProxyStep = async () => undefined;

/** The server gets nothing; the client waits until the proxy is closed. */
export const hang: ProxyStep = () => new Promise(() => undefined);

/** The server does what it is asked for, but the client gets no response. */
export const loseResponse: ProxyStep = async (request) => {
  await request.forward();
  return undefined;
};

/** The server gets nothing; this is the response. */
export function answer(
  status: number,
  body = '{"error":"by the test"}',
  headers: ProxyAnswer['headers'] = {},
): ProxyStep {
  return async () => ({ status, body, headers });
}

/** Headers that reach the server; what a test needs more is added here. */
const REQUEST_HEADERS = ['content-type', 'x-api-key'] as const;

/** A proxy in front of OpenSearch or of an API process. */
export function startProxy(server: string, step: ProxyStep, port = 0): Promise<WebServer> {
  return webServer(async (incoming, response) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const forwarded = REQUEST_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    try {
      const body = (await buffer(incoming)).toString();
      const decided = await step({
        method,
        path,
        body,
        forward: async ({ body: sent = body, to = server } = {}) => {
          const init = {
            method,
            headers: Object.fromEntries(forwarded),
            ...(sent === '' ? {} : { body: sent }),
          };
          const answered = await fetch(to + path, init);
          const type = answered.headers.get('content-type');
          return {
            status: answered.status,
            body: Buffer.from(await answered.arrayBuffer()).toString(),
            headers: type === null ? {} : { 'content-type': type },
          };
        },
      });
      if (decided === undefined) response.destroy();
      else
        response
          .writeHead(decided.status, { 'content-type': 'application/json', ...decided.headers })
          .end(decided.body);
    } catch {
      response.destroy();
    }
  }, port);
}

/** Does something in this environment, with a store whose requests to OpenSearch take this step. */
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

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import type { Logger } from 'pino';
import { ConfigError } from '../config.ts';
import { connectionsRefused } from '../telemetry/metrics.ts';
import { onceAMinute } from '../telemetry/process.ts';
import { lastResponses, type RequestState } from './app.ts';
import { slots } from './limits.ts';

const MAX_CONNECTIONS = 10_000;
/** The connections of one IPv4 address, or of the /64 of an IPv6 address. Behind proxies, only the proxies can count by client. */
export const MAX_CONNECTIONS_OF_ADDRESS = 1000;

/** An HTTP server for an app. It disconnects slow and half-open clients, and limits connections. */
export function httpServer(app: Koa<RequestState>, log: Logger): Server {
  const answer = app.callback();
  const server = createServer(
    {
      // Clients that send more slowly than this, or stop half-way, are disconnected.
      headersTimeout: 5000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1000,
      // Longer than proxies keep an idle connection, so that they close it first.
      keepAliveTimeout: 75_000,
      // The app explains the error; Node would send a 400 without a body.
      requireHostHeader: false,
    },
    answer,
  );
  // Node would send a 417 without a body, uncounted. A server may ignore an expectation (RFC 9110, 10.1.1).
  server.on('checkExpectation', answer);
  // A connection with a response in progress may be idle for at most this long.
  server.setTimeout(10_000);
  // The connections of a proxy belong to many clients.
  boundConnections(server, app.proxy ? MAX_CONNECTIONS : MAX_CONNECTIONS_OF_ADDRESS, log);
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, lastResponses.get(socket)));
  return server;
}

/**
 * Refuses connections over the limits. If the server is full, it closes idle connections, so that they never lock out
 * other clients.
 */
function boundConnections(server: Server, ofAddress: number, log: Logger): void {
  const logRefused = onceAMinute((connections) => log.warn({ connections }, 'connections refused: too many'));
  const refused = (reason: 'address' | 'all') => {
    connectionsRefused.inc({ reason });
    logRefused();
  };
  const open = slots(Number.POSITIVE_INFINITY, () => ofAddress);
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => {
    refused('all');
    server.closeIdleConnections();
  });
  server.on('connection', (socket) => {
    const { remoteAddress: address = '' } = socket;
    try {
      socket.once('close', open.take(address, 1));
    } catch {
      refused('address');
      socket.destroy();
    }
  });
}

/** The status for a request that Node cannot read, by error code; 400 for all other codes. */
const STATUSES = new Map(Object.entries({ HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }));

/** Answers a malformed request after the response to the preceding one. The app never sees malformed requests. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, before?: ServerResponse): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (before?.req.complete === true && !before.writableFinished) {
    before.once('close', () => answerBrokenRequest(error, socket));
    return;
  }
  const body = '{"detail":"This is not a request that can be answered."}';
  const status = STATUSES.get(error.code ?? '') ?? 400;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
}

/** Starts listening. @throws {ConfigError} with the address and the port, if it cannot */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  const listening = once(server.listen(port, host), 'listening');
  await listening.catch(({ message }: Error) => {
    throw new ConfigError(`Can't listen on ${host}:${port}: ${message}`);
  });
}

/** Accepts no more connections, and resolves when all requests in flight are answered. */
export async function close(server: Server): Promise<void> {
  // A connection becomes idle only when its request has been answered.
  const closingIdle = setInterval(() => server.closeIdleConnections(), 100);
  await server[Symbol.asyncDispose]();
  clearInterval(closingIdle);
}

import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { parsed } from './api.ts';

type RawRequest = RequestOptions & { readonly body?: string | Buffer };

/**
 * Sends an HTTP request to a port of this machine and adds nothing to it. The default method is GET. The headers are
 * sent unchanged, including Host and Origin, which fetch would not allow.
 */
export async function rawRequest(port: number, path: string, { body, ...options }: RawRequest = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options }, resolve);
    sent.on('error', reject).end(body);
  });
  const text = await textOf(response);
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { status: response.statusCode ?? 0, headers, text, body: parsed(text) };
}

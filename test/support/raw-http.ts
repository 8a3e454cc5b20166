import { request } from 'node:http';
import { type ApiAnswer, parsed } from './api.ts';

interface RawRequest {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  /** Sent as they are, Host and Origin too, which fetch would not let through. */
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** An HTTP request to this machine with nothing added to it. */
export function rawRequest({ port, method, path, headers = {}, body }: RawRequest): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const answered = Object.entries(response.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(answered),
          text,
          body: parsed(text),
        });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

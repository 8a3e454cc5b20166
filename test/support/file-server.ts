import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type WebServer, webServer } from './proxy.ts';

/** A function that answers one request. */
export type FileAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** A file and the headers to send with it, such as its ETag. */
export interface ServedFile {
  readonly content: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A web server on this machine that serves one file. */
export interface FileServer extends WebServer {
  /** The headers of each request so far. */
  readonly requests: readonly IncomingHttpHeaders[];
}

/** @param answers for the first request, the second, …; the last one is repeated */
export async function fileServer(...answers: readonly FileAnswer[]): Promise<FileServer> {
  const requests: IncomingHttpHeaders[] = [];
  const server = await webServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(request.headers);
    answer?.(request, response);
  });
  return { ...server, url: `${server.url}/individual.csv`, requests };
}

/** Serves the file and supports conditional and range requests. */
export function served(file: ServedFile): FileAnswer {
  return (request, response) => {
    const { status, headers, body } = answerTo(request.headers, file);
    response.writeHead(status, headers).end(body);
  };
}

/** Serves the file, but stops after this many bytes and keeps the connection open. */
export function stalledAfter(bytes: number, file: ServedFile): FileAnswer {
  return (request, response) => {
    const { status, headers, body } = answerTo(request.headers, file);
    response.writeHead(status, headers).write(body.subarray(0, bytes));
  };
}

/** Responds with this status and headers, and a short body or the given one. */
export function answered(
  status: number,
  headers: Record<string, string> = {},
  body: string | Buffer = 'by the test',
): FileAnswer {
  return (_request, response) => {
    response.writeHead(status, headers).end(body);
  };
}

interface Answered {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);

function answerTo(asked: IncomingHttpHeaders, { content, headers = {} }: ServedFile): Answered {
  const { etag, 'last-modified': lastModified } = headers;
  const isKnown =
    asked['if-none-match'] === undefined
      ? lastModified !== undefined && asked['if-modified-since'] === lastModified
      : asked['if-none-match'] === etag;
  if (isKnown) return { status: 304, headers: { ...headers }, body: NOTHING };
  const from = /^bytes=(\d+)-/.exec(asked.range ?? '')?.[1];
  if (from !== undefined && asked['if-match'] !== etag) return { status: 412, headers: {}, body: NOTHING };
  if (from === undefined) {
    return {
      status: 200,
      headers: { 'content-length': String(content.length), ...headers },
      body: content,
    };
  }
  const body = content.subarray(Number(from));
  const range = `bytes ${from}-${content.length - 1}/${content.length}`;
  return {
    status: 206,
    headers: { 'content-length': String(body.length), 'content-range': range, ...headers },
    body,
  };
}

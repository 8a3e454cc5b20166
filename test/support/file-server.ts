import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { webServer } from './proxy.ts';

/** A function that answers one request. */
export type FileAnswer = RequestListener;

/** A file and the headers to send with it, such as its ETag. */
export type ServedFile = { readonly content: Buffer; readonly headers?: Readonly<Record<string, string>> };

/** A web server on this machine that serves one file. */
export type FileServer = Awaited<ReturnType<typeof fileServer>>;

/** @param answers for the first request, the second, …; the last one is repeated */
export async function fileServer(...answers: readonly FileAnswer[]) {
  /** The headers of each request so far. */
  const requests: IncomingHttpHeaders[] = [];
  const server = await webServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(request.headers);
    answer?.(request, response);
  });
  return {
    ...server,
    url: `${server.url}/individual.csv`,
    requests: requests as readonly IncomingHttpHeaders[],
  };
}

/** Serves the file and supports conditional and range requests. */
export const served =
  (file: ServedFile): FileAnswer =>
  (request, response) => {
    const { status, headers, body } = answerTo(request.headers, file);
    response.writeHead(status, headers).end(body);
  };

/** Serves the file, but stops after this many bytes and keeps the connection open. */
export const stalledAfter =
  (bytes: number, file: ServedFile): FileAnswer =>
  (request, response) => {
    const { status, headers, body } = answerTo(request.headers, file);
    response.writeHead(status, headers).write(body.subarray(0, bytes));
  };

/** Responds with this status and headers, and a short body or the given one. */
export const answered =
  (status: number, headers = {}, body: string | Buffer = 'by the test'): FileAnswer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

function answerTo(asked: IncomingHttpHeaders, { content, headers = {} }: ServedFile) {
  const { etag, 'last-modified': lastModified } = headers;
  const isKnown =
    asked['if-none-match'] === undefined
      ? lastModified !== undefined && asked['if-modified-since'] === lastModified
      : asked['if-none-match'] === etag;
  if (isKnown) return { status: 304, headers, body: Buffer.alloc(0) };
  const from = /^bytes=(\d+)-/.exec(asked.range ?? '')?.[1];
  if (from !== undefined && asked['if-match'] !== etag) return { status: 412, body: Buffer.alloc(0) };
  const body = content.subarray(Number(from ?? 0));
  const sent = { 'content-length': String(body.length), ...headers };
  if (from === undefined) return { status: 200, headers: sent, body };
  const range = `bytes ${from}-${content.length - 1}/${content.length}`;
  return { status: 206, headers: { 'content-range': range, ...sent }, body };
}

import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import {
  CUT,
  download,
  downloadWithCuts,
  file,
  LONG_AGO,
  messageOf,
  namesIn,
  newDirectory,
  SHORT,
  SIZE,
  serving,
  sha256,
} from '../support/downloads.ts';
import { answered, type FileAnswer, served, stalledAfter } from '../support/file-server.ts';

describe('a download whose connection is lost', () => {
  test('resumes from its last byte, identified by its ETag', async () => {
    const one = file();
    const server = await serving(stalledAfter(CUT, one), served(one));
    const downloaded = await downloadWithCuts(server);
    expect(downloaded).toMatchObject({ length: SIZE, sha256: sha256(one.content) });
    expect((await readFile(downloaded.path)).equals(one.content)).toBe(true);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]).toMatchObject({ range: `bytes=${CUT}-${SIZE - 1}`, 'if-match': '"one"' });
  });

  test('resumes a file of unknown length', async () => {
    const { content, headers } = file();
    const chunked: FileAnswer = (_request, response) => {
      response.writeHead(200, { ...headers }).write(content.subarray(0, CUT));
    };
    const server = await serving(chunked, served({ content, ...(headers && { headers }) }));
    expect(await downloadWithCuts(server)).toMatchObject({ length: SIZE, sha256: sha256(content) });
    expect(server.requests[1]).toMatchObject({ range: `bytes=${CUT}-`, 'if-match': '"one"' });
  });

  test('resumes by the first address, which redirects again', async () => {
    const one = file();
    const elsewhere = await serving(stalledAfter(CUT, one), served(one));
    const server = await serving(answered(302, { location: elsewhere.url }));
    const cut = (bytes: number) => {
      if (bytes === CUT) elsewhere.cut();
    };
    const url = server.url.replace('//', '//ann:secret@');
    expect(await download(url, undefined, { onBytes: cut })).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests).toHaveLength(2);
    expect(elsewhere.requests[1]).toMatchObject({ range: `bytes=${CUT}-${SIZE - 1}` });
    for (const request of elsewhere.requests) expect(request).not.toHaveProperty('authorization');
  });

  test('resumes when no byte has arrived for too long', async () => {
    const one = file();
    const server = await serving(stalledAfter(CUT, one), served(one));
    const downloaded = await download(server.url, undefined, { timeouts: { ...SHORT, stallMs: 1000 } });
    expect(downloaded).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests[1]).toMatchObject({ range: `bytes=${CUT}-${SIZE - 1}` });
  });

  test('resumes several times', async () => {
    const one = file();
    const pieces = Array.from({ length: 6 }, () => stalledAfter(20_000, one));
    const server = await serving(...pieces, served(one));
    expect(await downloadWithCuts(server, 20_000)).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests).toHaveLength(7);
  });

  const other = file({ etag: '"two"' });
  const continued = (headers: Record<string, string>) => answered(206, headers, other.content.subarray(CUT));
  const rest = `bytes ${CUT}-${SIZE - 1}`;

  test.each<[string, FileAnswer]>([
    ['the file has changed', served(other)],
    ['the server sends the whole file', answered(200, { etag: '"two"' }, other.content)],
    [
      'the server sends a part of a changed file',
      continued({ etag: '"two"', 'content-range': `${rest}/${SIZE}` }),
    ],
    ['the server sends another part', continued({ 'content-range': `bytes 5-${SIZE - 1}/${SIZE}` })],
    ['the part has no Content-Range', continued({})],
    ['the part does not exist', answered(416)],
  ])('never joins the parts of two files, and leaves none, when %s', async (_what, second) => {
    const server = await serving(stalledAfter(CUT, file()), second);
    const directory = newDirectory();
    const cut = (bytes: number) => {
      if (bytes === CUT) server.cut();
    };
    await messageOf(download(server.url, directory, { onBytes: cut }));
    expect(await namesIn(directory)).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  test.each<[string, Record<string, string>]>([
    ['neither an ETag nor a date', {}],
    ['only a weak ETag', { etag: 'W/"one"' }],
    ['only a date', { 'last-modified': LONG_AGO }],
  ])('does not resume, and fails, when the server sent %s', async (_what, headers) => {
    const server = await serving(stalledAfter(CUT, file(headers)), served(other));
    expect(await messageOf(downloadWithCuts(server))).toContain('no ETag to resume by');
    expect(server.requests).toHaveLength(1);
  });

  test('fails with the reason of the abort signal and leaves no file', async () => {
    const server = await serving(stalledAfter(CUT, file()));
    const directory = newDirectory();
    const controller = new AbortController();
    const onBytes = () => controller.abort(new Error('aborted by the test'));
    const downloading = download(server.url, directory, { signal: controller.signal, onBytes });
    await expect(downloading).rejects.toThrow('aborted by the test');
    expect(await namesIn(directory)).toEqual([]);
  });

  test('stops immediately when aborted between two tries', async () => {
    const stopped = new AbortController();
    const server = await serving((request, response) => {
      answered(503)(request, response);
      response.once('close', () => stopped.abort());
    });
    const downloading = download(server.url, undefined, {
      signal: stopped.signal,
      timeouts: { ...SHORT, firstWaitMs: 20_000, maxWaitMs: 20_000 },
    });
    await expect(downloading).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a failing server', () => {
  test.each([500, 502, 503, 429])('gets the request again after %i', async (status) => {
    const one = file();
    const server = await serving(answered(status), answered(status), served(one));
    expect(await download(server.url)).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests).toHaveLength(3);
  });

  test.each<[string, string, number]>([
    ['as long as it asks for', '1', 900],
    ['no longer than may be', '86400', 250],
    ['no longer than may be for a date', 'Fri, 31 Dec 2100 23:59:59 GMT', 250],
  ])('is retried after the time of Retry-After, %s', async (_what, retryAfter, atLeastMs) => {
    const server = await serving(answered(503, { 'retry-after': retryAfter }), served(file()));
    const startedAt = Date.now();
    const maxWaitMs = retryAfter === '1' ? 5000 : 250;
    await download(server.url, undefined, { timeouts: { ...SHORT, maxWaitMs } });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(atLeastMs);
  });

  test('fails the download after nine tries', async () => {
    const server = await serving(answered(503));
    expect(await messageOf(download(server.url))).toContain('the server answered 503 Service Unavailable');
    expect(server.requests).toHaveLength(9);
  });

  test('fails the download when it refuses connections', async () => {
    const server = await serving(answered(200));
    await server.close();
    expect(await messageOf(download(server.url))).toContain('ECONNREFUSED');
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import {
  CUT,
  download,
  downloadWithCuts,
  file,
  interruptDownload,
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

describe('an interrupted download', () => {
  test.each<[string, Record<string, string>, string]>([
    ['its ETag', { etag: '"one"', 'last-modified': LONG_AGO }, '"one"'],
    ['its date if the ETag is weak', { etag: 'W/"one"', 'last-modified': LONG_AGO }, LONG_AGO],
  ])('resumes from its last byte, identified by %s', async (_what, headers, ifRange) => {
    const one = file(headers);
    const server = await serving(stalledAfter(CUT, one), served(one));
    expect(await downloadWithCuts(server)).toMatchObject({ bytes: SIZE, sha256: sha256(one.content) });
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]).toMatchObject({ range: `bytes=${CUT}-`, 'if-range': ifRange });
  });

  test('resumes in a later call', async () => {
    const one = file();
    const server = await serving(stalledAfter(CUT, one), served(one));
    const directory = newDirectory();
    await interruptDownload(server, directory);
    expect(await download(server.url, directory)).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests[1]).toMatchObject({ range: expect.stringMatching(/^bytes=[1-9]\d*-$/) });
    expect(await namesIn(directory)).toHaveLength(2);
  });

  test('resumes when no byte has arrived for too long', async () => {
    const one = file();
    const server = await serving(stalledAfter(CUT, one), served(one));
    const downloaded = await download(server.url, undefined, { timeouts: { ...SHORT, stallMs: 1000 } });
    expect(downloaded).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests[1]).toMatchObject({ range: `bytes=${CUT}-` });
  });

  test('is retried as long as each try brings new bytes', async () => {
    const one = file();
    const pieces = Array.from({ length: 12 }, () => stalledAfter(20_000, one));
    const server = await serving(...pieces, served(one));
    expect(await downloadWithCuts(server, 20_000)).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests).toHaveLength(13);
  });

  const other = file({ etag: '"two"' });
  const continued = (headers: Record<string, string>) => answered(206, headers, other.content.subarray(CUT));
  const rest = `bytes ${CUT}-${SIZE - 1}`;

  test.each<[string, Record<string, string>, FileAnswer]>([
    ['the file has changed', { etag: '"one"' }, served(other)],
    [
      'the server sends a part of a changed file',
      { etag: '"one"' },
      continued({ etag: '"two"', 'content-range': `${rest}/${SIZE}` }),
    ],
    [
      'the server sends another part',
      { etag: '"one"' },
      continued({ 'content-range': `bytes 5-${SIZE - 1}/${SIZE}` }),
    ],
    ['the length differs', { etag: '"one"' }, continued({ 'content-range': `${rest}/${SIZE + 1}` })],
    ['the part has no Content-Range', { etag: '"one"' }, continued({})],
    ['the part does not exist', { etag: '"one"' }, answered(416)],
  ])('starts over when %s', async (_what, headers, second) => {
    const server = await serving(stalledAfter(CUT, file(headers)), second, served(other));
    const downloaded = await downloadWithCuts(server);
    expect(downloaded).toMatchObject({ bytes: SIZE, sha256: sha256(other.content) });
    expect((await readFile(downloaded.path)).equals(other.content)).toBe(true);
  });

  test.each<[string, Record<string, string>]>([
    ['neither an ETag nor a date', {}],
    ['only a weak ETag', { etag: 'W/"one"' }],
    ['a date that is the current second', { 'last-modified': LONG_AGO, date: LONG_AGO }],
  ])('starts over when the server sent %s', async (_what, headers) => {
    const server = await serving(stalledAfter(CUT, file(headers)), served(other));
    expect(await downloadWithCuts(server)).toMatchObject({ sha256: sha256(other.content) });
    expect(server.requests[1]).not.toHaveProperty('range');
  });

  test('starts over when its metadata can not be read', async () => {
    const one = file();
    const server = await serving(stalledAfter(CUT, one), served(one));
    const directory = newDirectory();
    await interruptDownload(server, directory);
    const metadata = (await namesIn(directory)).find((name) => name.endsWith('.part.json'));
    await writeFile(`${directory}/${metadata}`, '{"etag":');
    expect(await download(server.url, directory)).toMatchObject({ sha256: sha256(one.content) });
    expect(server.requests[1]).not.toHaveProperty('range');
  });

  test('fails with the reason of the abort signal and keeps the partial file', async () => {
    const server = await serving(stalledAfter(CUT, file()));
    const directory = newDirectory();
    await interruptDownload(server, directory);
    expect(await namesIn(directory)).toEqual([
      expect.stringMatching(/csv\.part$/),
      expect.stringMatching(/csv\.part\.json$/),
    ]);
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
    const maxRetryAfterMs = retryAfter === '1' ? 5000 : 250;
    await download(server.url, undefined, { timeouts: { ...SHORT, maxRetryAfterMs } });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(atLeastMs);
  });

  test('fails the download after six tries without new bytes', async () => {
    const server = await serving(answered(503));
    const message = await messageOf(download(server.url));
    expect(message).toContain('6 tries in a row brought nothing. The last error: the server answered 503');
    expect(server.requests).toHaveLength(6);
  });

  test('fails the download when every try ends at the same byte', async () => {
    const server = await serving(stalledAfter(CUT, file({})));
    expect(await messageOf(downloadWithCuts(server))).toContain('the connection was lost');
    expect(server.requests).toHaveLength(7);
  });

  test('fails the download when it refuses connections', async () => {
    const server = await serving(answered(200));
    await server.close();
    expect(await messageOf(download(server.url))).toContain('the connection failed (ECONNREFUSED)');
  });
});

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type DownloadOptions, deleteOtherDownloads, downloadSource } from '../../src/dataset/download.ts';
import { DownloadError } from '../../src/dataset/source-url.ts';
import {
  answered,
  type FileAnswer,
  type FileServer,
  fileServer,
  type ServedFile,
  served,
  stalledAfter,
} from '../support/file-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
/** The size of served files in bytes. */
const SIZE = 300_000;
/** The connection is cut after this many bytes. */
const CUT = 100_000;
/** Short waiting times, so that tests are quick. */
const SHORT = { stallMs: 10_000, firstWaitMs: 1, maxWaitMs: 50 };
/** A Last-Modified date. */
const LONG_AGO = 'Sat, 01 Aug 2026 04:00:00 GMT';

let folders = 0;

/** A file of `SIZE` random bytes, served with these headers. */
const file = (headers: Record<string, string> = { etag: '"one"' }) => ({
  content: randomBytes(SIZE),
  headers,
});

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** A new directory for downloads. */
function newDirectory(): string {
  folders += 1;
  return folder.path(`downloads-${folders}`);
}

/** Downloads into a directory of its own, or the one given. */
function download(url: string, directory = newDirectory(), options: Partial<DownloadOptions> = {}) {
  const signal = AbortSignal.timeout(30_000);
  return downloadSource(url, { directory, signal, timeouts: SHORT, ...options });
}

/** Expects that a download brings exactly this file. */
async function expectFile(url: string, { content }: ServedFile, ...more: DownloadParameters) {
  const downloaded = await download(url, ...more);
  expect(downloaded).toMatchObject({ length: content.length, sha256: sha256(content) });
  expect((await readFile(downloaded.path)).equals(content)).toBe(true);
  return downloaded;
}

type DownloadParameters = [directory?: string, options?: Partial<DownloadOptions>];

/** Cuts the connections of a server once `CUT` bytes have come. */
const cutting = (server: FileServer) => ({
  onBytes: (bytes: number) => {
    if (bytes === CUT) server.cut();
  },
});

/** Expects that a download fails with these words, and leaves no file. @returns the message */
async function expectFailure(
  url: string,
  words: string | RegExp,
  options: Partial<DownloadOptions> = {},
): Promise<string> {
  const directory = newDirectory();
  const error: unknown = await download(url, directory, options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DownloadError);
  const { message } = z.object({ message: z.string() }).parse(error);
  expect(message).toEqual(
    typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
  );
  expect(message).not.toContain('secret');
  expect(await readdir(directory).catch(() => [])).toEqual([]);
  return message;
}

const namesIn = async (directory: string) => (await readdir(directory)).sort();

describe('a first download', () => {
  test('stores the whole file under its own name, with its metadata beside it', async () => {
    const one = file({ etag: '"one"', 'last-modified': LONG_AGO });
    const server = await fileServer(served(one));
    const directory = newDirectory();
    const reported: (number | undefined)[][] = [];
    const onBytes = (...bytes: (number | undefined)[]) => void reported.push(bytes);
    const downloaded = await expectFile(`${server.url}?token=secret`, one, directory, { onBytes });
    expect(reported.at(-1)).toEqual([SIZE, SIZE]);
    expect(reported).toEqual(reported.toSorted(([one = 0], [other = 0]) => one - other));
    expect(server.requests[0]).toMatchObject({ 'accept-encoding': 'identity' });
    expect(await namesIn(directory)).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}-individual\.csv$/),
      expect.stringMatching(/^[0-9a-f]{32}-individual\.csv\.json$/),
    ]);
    expect(JSON.parse(await readFile(`${downloaded.path}.json`, 'utf8'))).toEqual({
      ...{ url: `${server.url}?…`, etag: '"one"', last_modified: LONG_AGO },
      ...{ length: SIZE, sha256: sha256(one.content) },
    });
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test.each<[string, Buffer, Record<string, string>]>([
    ['of unknown length', randomBytes(SIZE), { 'transfer-encoding': 'chunked' }],
    ['that the server packs unasked', gzipSync('a,b\n'), { 'content-encoding': 'gzip' }],
    ['that is empty', Buffer.alloc(0), { 'content-length': '0' }],
  ])('brings a file %s', async (_what, content, headers) => {
    const server = await fileServer(answered(200, headers, content));
    await expectFile(server.url, { content });
  });

  test("sends the URL's user name and password, but not to another origin", async () => {
    const elsewhere = await fileServer(served(file()));
    const server = await fileServer(answered(302, { location: elsewhere.url }));
    await download(server.url.replace('//', '//ann:s%40fe@'));
    const expected = `Basic ${Buffer.from('ann:s@fe').toString('base64')}`;
    expect(server.requests[0]).toMatchObject({ authorization: expected });
    expect(elsewhere.requests[0]).not.toHaveProperty('authorization');
  });

  test('accepts a file with the SHA-256 in its URL', async () => {
    const one = file();
    const server = await fileServer(served(one));
    await expectFile(`${server.url}#sha256=${sha256(one.content).toUpperCase()}`, one);
  });
});

describe('the second download of a file', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['an ETag', { etag: '"one"' }, { 'if-none-match': '"one"' }],
    ['a weak ETag', { etag: 'W/"one"' }, { 'if-none-match': 'W/"one"' }],
    ['a date', { 'last-modified': LONG_AGO }, { 'if-modified-since': LONG_AGO }],
  ])('is skipped if the server says that it is unchanged, by %s', async (_what, headers, conditions) => {
    const server = await fileServer(served(file(headers)));
    const directory = newDirectory();
    const first = await download(server.url, directory);
    const reported: number[] = [];
    const again = await download(server.url, directory, { onBytes: (bytes) => reported.push(bytes) });
    expect(again).toEqual(first);
    expect(server.requests[1]).toMatchObject(conditions);
    expect(reported).toEqual([]);
  });

  test('stores a file that has changed, and keeps the earlier one where the new one is refused', async () => {
    const two = file({ etag: '"two"' });
    const tooLarge = answered(200, { 'content-length': String(9 * 2 ** 30) });
    const server = await fileServer(served(file()), served(two), tooLarge);
    const directory = newDirectory();
    await download(server.url, directory);
    const again = await expectFile(server.url, two, directory);
    await expect(download(server.url, directory)).rejects.toThrow(DownloadError);
    expect((await readFile(again.path)).equals(two.content)).toBe(true);
  });

  test.each<[string, (path: string) => Promise<void>]>([
    ['is damaged', (path) => writeFile(path, randomBytes(SIZE))],
    ['is shorter', (path) => writeFile(path, 'short')],
    ['is missing', (path) => rm(path)],
    ['has no metadata', (path) => rm(`${path}.json`)],
    ['has metadata that can not be read', (path) => writeFile(`${path}.json`, '{}')],
  ])('starts over when the file on disk %s', async (_what, damage) => {
    const one = file();
    const server = await fileServer(served(one));
    const directory = newDirectory();
    const first = await download(server.url, directory);
    await damage(first.path);
    await expectFile(server.url, one, directory);
    expect(server.requests[1]).not.toHaveProperty('if-none-match');
  });
});

describe('a download is refused', () => {
  const PAGE = '\ufeff\n<!DOCTYPE html><title>Maintenance</title>';
  const SENT_PAGE = 'the server sent a web page in place of the file; open the address in a browser';
  const elsewhere = { location: 'http://ann:secret@files.example/a.csv?token=secret' };
  const NO_HTTPS = 'redirects to http://files.example/a.csv?…, which is not https';
  const cutOff: FileAnswer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('short', () => response.destroy());
  };

  test.each<[string, FileAnswer, string]>([
    ['401', answered(401), 'the server answered 401 Unauthorized; check the user name, password or query'],
    ['a page, with 200', answered(200, { 'content-type': 'text/csv' }, PAGE), SENT_PAGE],
    ['404', answered(404), 'the server answered 404 Not Found'],
    ['403', answered(403), 'the server answered 403 Forbidden'],
    ['304 to an unconditional request', answered(304), 'the server answered 304 Not Modified'],
    ['206 to a request without Range', answered(206), 'the server answered 206 Partial Content'],
    ['a redirect without a Location', answered(302), 'the server answered 302 Found'],
    ['a redirect to itself', answered(302, { location: '/individual.csv' }), 'Redirect loop detected'],
    ['a redirect to http on another host', answered(301, elsewhere), NO_HTTPS],
    ['a redirect to a malformed URL', answered(302, { location: 'http://[' }), 'Invalid URL'],
    ['too many bytes', answered(200, { 'content-length': String(9 * 2 ** 30) }), 'more than 8 GiB'],
    ['fewer bytes than Content-Length', cutOff, 'could not be downloaded: '],
  ])('for %s, and no file is left', async (_what, answer, reason) => {
    const server = await fileServer(answer);
    const url = `${server.url.replace('//', '//ann:secret@')}?token=secret`;
    expect(await expectFailure(url, reason)).toContain(`${server.url}?…`);
  });

  test('at once for a host that does not exist', async () => {
    await expectFailure(
      'https://ann:secret@data.invalid/a?token=secret',
      /^https:\/\/data\.invalid\/a\?… could not be downloaded: there is no such host/,
      { timeouts: { ...SHORT, firstWaitMs: 60_000, maxWaitMs: 60_000 } },
    );
  });

  test('for another SHA-256 than the one in its URL', async () => {
    const server = await fileServer(served(file()));
    const hash = '0'.repeat(64);
    await expectFailure(`${server.url}#sha256=${hash}`, `not the one that its URL names (${hash})`);
  });

  test.each<[string, string, string]>([
    ['that is none', 'secret', 'needs a URL that begins with https://'],
    ['without https', 'ann:secret@files.example/a', 'needs a URL that begins with https://'],
    ['of http', 'http://ann:secret@files.example/a?b=secret', 'http://files.example/a?… is not https'],
    ['of a file', 'file:///secret', 'needs a URL that begins with https://'],
    ['with half a SHA-256', 'http://127.0.0.1/a.csv#sha256=secret', '64 hexadecimal digits'],
    ['with a stray %', 'https://ann:secret%@files.example/a', 'is not written %25'],
  ])('for a URL %s', async (_what, wrong, reason) => {
    await expectFailure(wrong, reason);
  });
});

test('downloads from other addresses are deleted, and the folder of a killed check', async () => {
  const directory = newDirectory();
  await mkdir(join(directory, 'checkabc', 'downloads'), { recursive: true });
  await writeFile(join(directory, 'checkabc', 'downloads', 'c.csv'), '');
  for (const name of ['a-1.csv', 'a-1.csv.json', 'a-2.csv', 'a-2.csv.json', 'b-1.csv', 'b-1.csv.part'])
    await writeFile(join(directory, name), '');
  await deleteOtherDownloads(directory, [join(directory, 'a-2.csv'), join(directory, 'b-2.csv')]);
  expect(await namesIn(directory)).toEqual(['a-2.csv', 'a-2.csv.json']);
});

describe('a download whose connection is lost', () => {
  const one = file();
  const chunked: FileAnswer = (_request, response) => {
    response.writeHead(200, { ...one.headers }).write(one.content.subarray(0, CUT));
  };
  const stalling = () => ({ timeouts: { ...SHORT, stallMs: 1000 } });
  const rest = `${CUT}-${SIZE - 1}`;

  test.each<[string, FileAnswer, (server: FileServer) => Partial<DownloadOptions>, range: string]>([
    ['from its last byte', stalledAfter(CUT, one), cutting, rest],
    ['although its length is unknown', chunked, cutting, `${CUT}-`],
    ['when no byte has arrived for too long', stalledAfter(CUT, one), stalling, rest],
  ])('resumes %s, identified by its ETag', async (_what, first, options, range) => {
    const server = await fileServer(first, served(one));
    await expectFile(server.url, one, undefined, options(server));
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]).toMatchObject({ range: `bytes=${range}`, 'if-match': '"one"' });
  });

  test('resumes by the first address, which redirects again', async () => {
    const elsewhere = await fileServer(stalledAfter(CUT, one), served(one));
    const server = await fileServer(answered(302, { location: elsewhere.url }));
    await expectFile(server.url.replace('//', '//ann:secret@'), one, undefined, cutting(elsewhere));
    expect(server.requests).toHaveLength(2);
    expect(elsewhere.requests[1]).toMatchObject({ range: `bytes=${rest}` });
    for (const request of elsewhere.requests) expect(request).not.toHaveProperty('authorization');
  });

  const other = file({ etag: '"two"' });
  const continued = (headers: Record<string, string>) => answered(206, headers, other.content.subarray(CUT));
  const ofOther = { etag: '"two"', 'content-range': `bytes ${rest}/${SIZE}` };

  test.each<[string, FileAnswer]>([
    ['the file has changed', served(other)],
    ['the server sends the whole file', answered(200, { etag: '"two"' }, other.content)],
    ['the server sends a part of a changed file', continued(ofOther)],
    ['the server sends another part', continued({ 'content-range': `bytes 5-${SIZE - 1}/${SIZE}` })],
    ['the part has no Content-Range', continued({})],
    ['the part does not exist', answered(416)],
  ])('never joins the parts of two files, and leaves none, when %s', async (_what, second) => {
    const server = await fileServer(stalledAfter(CUT, file()), second);
    await expectFailure(server.url, '', cutting(server));
    expect(server.requests).toHaveLength(2);
  });

  test.each<[string, Record<string, string>]>([
    ['neither an ETag nor a date', {}],
    ['only a weak ETag', { etag: 'W/"one"' }],
    ['only a date', { 'last-modified': LONG_AGO }],
  ])('does not resume, and fails, when the server sent %s', async (_what, headers) => {
    const server = await fileServer(stalledAfter(CUT, file(headers)), served(other));
    await expectFailure(server.url, 'no ETag to resume by', cutting(server));
    expect(server.requests).toHaveLength(1);
  });

  test('fails with the reason of the abort signal and leaves no file', async () => {
    const server = await fileServer(stalledAfter(CUT, file()));
    const directory = newDirectory();
    const controller = new AbortController();
    const onBytes = () => controller.abort(new Error('aborted by the test'));
    const downloading = download(server.url, directory, { signal: controller.signal, onBytes });
    await expect(downloading).rejects.toThrow('aborted by the test');
    expect(await namesIn(directory)).toEqual([]);
  });

  test('stops immediately when aborted between two tries', async () => {
    const stopped = new AbortController();
    const server = await fileServer((request, response) => {
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
    const server = await fileServer(answered(status), answered(status), served(one));
    await expectFile(server.url, one);
    expect(server.requests).toHaveLength(3);
  });

  test.each<[string, retryAfter: string, maxWaitMs: number, atLeastMs: number]>([
    ['as long as it asks for', '1', 5000, 900],
    ['no longer than may be', '86400', 250, 250],
    ['no longer than may be for a date', 'Fri, 31 Dec 2100 23:59:59 GMT', 250, 250],
  ])('is retried after the time of Retry-After, %s', async (_what, retryAfter, maxWaitMs, atLeastMs) => {
    const server = await fileServer(answered(503, { 'retry-after': retryAfter }), served(file()));
    const startedAt = Date.now();
    await download(server.url, undefined, { timeouts: { ...SHORT, maxWaitMs } });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(atLeastMs);
  });

  test('fails the download after nine tries', async () => {
    const server = await fileServer(answered(503));
    await expectFailure(server.url, 'the server answered 503 Service Unavailable');
    expect(server.requests).toHaveLength(9);
  });

  test('fails the download when it refuses connections', async () => {
    const server = await fileServer(answered(200));
    await server.close();
    await expectFailure(server.url, 'ECONNREFUSED');
  });
});

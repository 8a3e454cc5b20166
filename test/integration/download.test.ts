import { randomBytes } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  download,
  file,
  LONG_AGO,
  messageOf,
  namesIn,
  newDirectory,
  SIZE,
  serving,
  sha256,
} from '../support/downloads.ts';
import { answered, type FileAnswer, served } from '../support/file-server.ts';

describe('a first download', () => {
  test('stores the whole file under its own name, with its metadata beside it', async () => {
    const one = file({ etag: '"one"', 'last-modified': LONG_AGO });
    const server = await serving(served(one));
    const directory = newDirectory();
    const downloaded = await download(`${server.url}?token=secret`, directory);
    expect(downloaded).toMatchObject({ sha256: sha256(one.content), length: SIZE });
    expect((await readFile(downloaded.path)).equals(one.content)).toBe(true);
    expect(await namesIn(directory)).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}-individual\.csv$/),
      expect.stringMatching(/^[0-9a-f]{32}-individual\.csv\.json$/),
    ]);
    expect(JSON.parse(await readFile(`${downloaded.path}.json`, 'utf8'))).toEqual({
      url: `${server.url}?…`,
      etag: '"one"',
      last_modified: LONG_AGO,
      length: SIZE,
      sha256: sha256(one.content),
    });
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test('requests the bytes without compression', async () => {
    const server = await serving(served(file()));
    await download(server.url);
    expect(server.requests[0]).toMatchObject({ 'accept-encoding': 'identity' });
    expect(server.requests[0]).not.toHaveProperty('range');
  });

  test('reports the bytes on disk and the total', async () => {
    const server = await serving(served(file()));
    const reported: [number, number | undefined][] = [];
    await download(server.url, undefined, { onBytes: (...bytes) => reported.push(bytes) });
    expect(reported.at(-1)).toEqual([SIZE, SIZE]);
    const sizes = reported.map(([bytes]) => bytes);
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  });

  test.each<[string, Buffer, Record<string, string>]>([
    ['of unknown length', randomBytes(SIZE), { 'transfer-encoding': 'chunked' }],
    ['that the server packs unasked', gzipSync('a,b\n'), { 'content-encoding': 'gzip' }],
    ['that is empty', Buffer.alloc(0), { 'content-length': '0' }],
  ])('brings a file %s', async (_what, content, headers) => {
    const server = await serving(answered(200, headers, content));
    expect(await download(server.url)).toMatchObject({ length: content.length, sha256: sha256(content) });
  });

  test('brings a file that ends where the server closes the connection', async () => {
    const { content } = file();
    const server = await serving((_request, response) => {
      response.socket?.end(
        Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'), content]),
      );
    });
    expect(await download(server.url)).toMatchObject({ length: SIZE, sha256: sha256(content) });
  });

  test("sends the URL's user name and password, but not to another origin", async () => {
    const elsewhere = await serving(served(file()));
    const server = await serving(answered(302, { location: elsewhere.url }));
    await download(server.url.replace('//', '//ann:s%40fe@'));
    const expected = `Basic ${Buffer.from('ann:s@fe').toString('base64')}`;
    expect(server.requests[0]).toMatchObject({ authorization: expected });
    expect(elsewhere.requests[0]).not.toHaveProperty('authorization');
  });

  test('accepts a file with the SHA-256 in its URL', async () => {
    const one = file();
    const server = await serving(served(one));
    const url = `${server.url}#sha256=${sha256(one.content).toUpperCase()}`;
    expect(await download(url)).toMatchObject({ length: SIZE });
  });
});

describe('the second download of a file', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['an ETag', { etag: '"one"' }, { 'if-none-match': '"one"' }],
    ['a weak ETag', { etag: 'W/"one"' }, { 'if-none-match': 'W/"one"' }],
    ['a date', { 'last-modified': LONG_AGO }, { 'if-modified-since': LONG_AGO }],
  ])('is skipped if the server says that it is unchanged, by %s', async (_what, headers, conditions) => {
    const server = await serving(served(file(headers)));
    const directory = newDirectory();
    const first = await download(server.url, directory);
    const reported: number[] = [];
    const again = await download(server.url, directory, { onBytes: (bytes) => reported.push(bytes) });
    expect(again).toEqual(first);
    expect(server.requests[1]).toMatchObject(conditions);
    expect(reported).toEqual([]);
  });

  test('stores a file that has changed', async () => {
    const two = file({ etag: '"two"' });
    const server = await serving(served(file()), served(two));
    const directory = newDirectory();
    await download(server.url, directory);
    const again = await download(server.url, directory);
    expect(again).toMatchObject({ sha256: sha256(two.content) });
    expect((await readFile(again.path)).equals(two.content)).toBe(true);
  });

  const damages: [string, (path: string) => Promise<void>][] = [
    ['is damaged', (path) => writeFile(path, randomBytes(SIZE))],
    ['is shorter', (path) => writeFile(path, 'short')],
    ['is missing', (path) => rm(path)],
    ['has no metadata', (path) => rm(`${path}.json`)],
    ['has metadata that can not be read', (path) => writeFile(`${path}.json`, '{}')],
  ];
  test.each(damages)('starts over when the file on disk %s', async (_what, damage) => {
    const one = file();
    const server = await serving(served(one));
    const directory = newDirectory();
    const first = await download(server.url, directory);
    await damage(first.path);
    const again = await download(server.url, directory);
    expect(again.sha256).toBe(sha256(one.content));
    expect((await readFile(again.path)).equals(one.content)).toBe(true);
    expect(server.requests[1]).not.toHaveProperty('if-none-match');
  });

  test('keeps the earlier file when the new one is refused', async () => {
    const one = file();
    const server = await serving(served(one), answered(200, { 'content-length': String(9 * 2 ** 30) }));
    const directory = newDirectory();
    const first = await download(server.url, directory);
    await messageOf(download(server.url, directory));
    expect((await readFile(first.path)).equals(one.content)).toBe(true);
  });
});

describe('a download is refused', () => {
  const ZEROS = Buffer.alloc(32);
  const url = 'http://127.0.0.1';

  test.each<[string, FileAnswer, string]>([
    ['401', answered(401), 'the server answered 401 Unauthorized; check the user name, password or query'],
    [
      'a page that says why there is no file, with 200',
      answered(200, { 'content-type': 'text/csv' }, '\ufeff\n<!DOCTYPE html><title>Maintenance</title>'),
      'the server sent a web page in place of the file; open the address in a browser',
    ],
    ['404', answered(404), 'the server answered 404 Not Found'],
    ['403', answered(403), 'the server answered 403 Forbidden'],
    ['304 to an unconditional request', answered(304), 'the server answered 304 Not Modified'],
    ['206 to a request without Range', answered(206), 'the server answered 206 Partial Content'],
    ['a redirect without a Location', answered(302), 'the server answered 302 Found'],
    ['a redirect to itself', answered(302, { location: '/individual.csv' }), 'Redirect loop detected'],
    [
      'a redirect to http on another host',
      answered(301, { location: 'http://ann:secret@files.example/a.csv?token=secret' }),
      'redirects to http://files.example/a.csv?…, which is not https',
    ],
    ['a redirect to a malformed URL', answered(302, { location: 'http://[' }), 'Invalid URL'],
    ['too many bytes', answered(200, { 'content-length': String(9 * 2 ** 30) }), 'more than 8 GiB'],
  ])('for %s, and no file is left', async (_what, answer, reason) => {
    const server = await serving(answer);
    const directory = newDirectory();
    const message = await messageOf(
      download(`${server.url.replace('//', '//ann:secret@')}?token=secret`, directory),
    );
    expect(message).toContain(reason);
    expect(message).toContain(`${server.url}?…`);
    expect(message).not.toContain('secret');
    expect(await namesIn(directory)).toEqual([]);
  });

  test('at once for a host that does not exist', async () => {
    const message = await messageOf(
      download('https://ann:secret@data.invalid/a?token=secret', newDirectory(), {
        timeouts: { stallMs: 10_000, firstWaitMs: 60_000, maxWaitMs: 60_000 },
      }),
    );
    expect(message).toMatch(/^https:\/\/data\.invalid\/a\?… could not be downloaded: there is no such host/);
  });

  test('for fewer bytes than Content-Length', async () => {
    const server = await serving((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('short', () => response.destroy());
    });
    expect(await messageOf(download(server.url))).toContain('could not be downloaded: ');
  });

  test('for another SHA-256 than the one in its URL', async () => {
    const server = await serving(served(file()));
    const directory = newDirectory();
    const hash = ZEROS.toString('hex');
    const message = await messageOf(download(`${server.url}#sha256=${hash}`, directory));
    expect(message).toContain(`not the one that its URL names (${hash})`);
    expect(await namesIn(directory)).toEqual([]);
  });

  test.each<[string, string, string]>([
    ['that is none', 'secret', 'needs a URL that begins with https://'],
    ['without https', 'ann:secret@files.example/a', 'needs a URL that begins with https://'],
    [
      'of http elsewhere',
      'http://ann:secret@files.example/a?b=secret',
      'http://files.example/a?… is not https',
    ],
    ['of a file', 'file:///secret', 'needs a URL that begins with https://'],
    ['with half a SHA-256', `${url}/a.csv#sha256=secret`, '64 hexadecimal digits'],
    ['with a stray %', 'https://ann:secret%@files.example/a', 'is not written %25'],
  ])('for a URL %s', async (_what, wrong, reason) => {
    const directory = newDirectory();
    const message = await messageOf(download(wrong, directory));
    expect(message).toContain(reason);
    expect(message).not.toContain('secret');
  });
});

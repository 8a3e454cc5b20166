import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterEach, expect } from '@jest/globals';
import { type DownloadOptions, type DownloadTimeouts, downloadSource } from '../../src/dataset/download.ts';
import { DownloadError } from '../../src/dataset/source-url.ts';
import { type FileAnswer, type FileServer, fileServer, type ServedFile } from './file-server.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
/** The size of served files in bytes. */
export const SIZE = 300_000;
/** The connection is cut after this many bytes. */
export const CUT = 100_000;
/** Short waiting times, so that tests are quick. */
export const SHORT: DownloadTimeouts = { stallMs: 10_000, firstWaitMs: 1, maxWaitMs: 50 };
/** A Last-Modified date. */
export const LONG_AGO = 'Sat, 01 Aug 2026 04:00:00 GMT';

const servers: FileServer[] = [];
let folders = 0;

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A file server with these responses. It is closed after the test. */
export async function serving(...answers: FileAnswer[]): Promise<FileServer> {
  const server = await fileServer(...answers);
  servers.push(server);
  return server;
}

/** A file of `SIZE` random bytes, served with these headers. */
export function file(headers: Record<string, string> = { etag: '"one"' }): ServedFile {
  return { content: randomBytes(SIZE), headers };
}

export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A new directory for downloads. */
export function newDirectory(): string {
  folders += 1;
  return folder.path(`downloads-${folders}`);
}

/** Downloads into a directory of its own, or the one given. */
export function download(url: string, directory = newDirectory(), options: Partial<DownloadOptions> = {}) {
  const signal = AbortSignal.timeout(30_000);
  return downloadSource(url, { directory, signal, timeouts: SHORT, ...options });
}

/** Downloads while the connection is cut after every `every` bytes. */
export function downloadWithCuts(server: FileServer, every = CUT) {
  const cut = (bytes: number) => {
    if (bytes % every === 0 && bytes < SIZE) server.cut();
  };
  return download(server.url, undefined, { onBytes: cut });
}

/** The message of the error with which a download fails. */
export async function messageOf(downloading: Promise<unknown>): Promise<string> {
  const error: unknown = await downloading.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DownloadError);
  return error instanceof Error ? error.message : '';
}

/** The sorted names of the files in a directory. */
export async function namesIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).sort();
}

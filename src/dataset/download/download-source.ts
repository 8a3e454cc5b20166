import { mkdir, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadError, RetryableError } from './errors.ts';
import { requestSource, startStallTimer } from './http-request.ts';
import { preparePart, receiveBody } from './receive-part.ts';
import { parseSourceUrl, type SourceUrl } from './source-url.ts';
import {
  type CompleteMetadata,
  discardPart,
  isIntact,
  lastDownload,
  type PartMetadata,
  type ResumablePart,
  resumablePart,
  type StoredFiles,
  sha256Of,
  sizeOf,
  storedFiles,
} from './stored-files.ts';

export interface DownloadTimeouts {
  /** A connection is closed when no byte arrives for so long. */
  readonly stallMs: number;
  /** The wait before the second try. It doubles with each further try that brings nothing. */
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
  /** A longer Retry-After of the server is cut to this. */
  readonly maxRetryAfterMs: number;
}

const TIMEOUTS: DownloadTimeouts = {
  stallMs: 60_000,
  firstWaitMs: 1000,
  maxWaitMs: 30_000,
  maxRetryAfterMs: 300_000,
};

const MAX_TRIES = 6;

export interface DownloadOptions {
  /** Where downloaded files are kept. It is created, readable by its owner alone, if it is missing. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Called after each chunk with the bytes on disk. The number falls when the download has to start over. */
  readonly onBytes?: (bytes: number, total: number | undefined) => void;
  readonly timeouts?: DownloadTimeouts;
}

export interface DownloadedSource {
  readonly path: string;
  /** The URL without secrets. */
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Whether the content is that of the last download. */
  readonly isUnchanged: boolean;
}

interface Download {
  readonly source: SourceUrl;
  readonly files: StoredFiles;
  readonly options: DownloadOptions;
  readonly timeouts: DownloadTimeouts;
}

/**
 * Downloads a file, unless the server says that it has not changed since the last download. An interrupted download
 * is resumed, also by a later call, but only when the server confirms that the file is still the same. The result is
 * checked against the length and the SHA-256 that the server announces and against the SHA-256 in the URL's fragment
 * (`#sha256=…`).
 *
 * Only one process at a time may download a URL into a directory.
 *
 * @param url https, or http for this machine. Its user-info is sent as Basic credentials, only to its origin
 * @throws {DownloadError} when the server refuses the file, sends another one than expected, or six tries in a row
 *   bring no byte
 * @throws the signal's reason when it is aborted
 */
export async function downloadSource(url: string, options: DownloadOptions): Promise<DownloadedSource> {
  const source = parseSourceUrl(url);
  const timeouts = options.timeouts ?? TIMEOUTS;
  const download: Download = {
    source,
    files: storedFiles(options.directory, source.url),
    options,
    timeouts,
  };
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  let mostBytes = (await sizeOf(download.files.part)) ?? 0;
  let triesWithoutProgress = 0;
  for (;;) {
    try {
      return await tryDownload(download);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof RetryableError)) throw error;
      const bytes = (await sizeOf(download.files.part)) ?? 0;
      triesWithoutProgress = bytes > mostBytes ? 0 : triesWithoutProgress + 1;
      mostBytes = Math.max(mostBytes, bytes);
      if (triesWithoutProgress === MAX_TRIES) throw tooManyTries(source, error);
      await wait(waitMs(timeouts, triesWithoutProgress, error.retryAfterMs), options.signal);
    }
  }
}

function tooManyTries({ redacted }: SourceUrl, last: RetryableError): DownloadError {
  return new DownloadError(
    `${redacted} could not be downloaded: ${MAX_TRIES} tries in a row brought nothing. The last error: ${last.message}.`,
    { cause: last },
  );
}

function waitMs(
  { firstWaitMs, maxWaitMs, maxRetryAfterMs }: DownloadTimeouts,
  triesWithoutProgress: number,
  retryAfterMs: number,
): number {
  const backoff = Math.min(firstWaitMs * 2 ** Math.max(triesWithoutProgress - 1, 0), maxWaitMs);
  return Math.max(backoff * (0.5 + Math.random()), Math.min(retryAfterMs, maxRetryAfterMs));
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** One request: for the rest of the part, for the file if it has changed, or for the whole file. */
async function tryDownload({ source, files, options, timeouts }: Download): Promise<DownloadedSource> {
  const part = await resumablePart(source, files);
  const last = await lastDownload(source, files);
  const canReuseLast =
    part === undefined && last !== undefined && (await isIntact(files, source, last, options.signal));
  const reusable = canReuseLast ? last : undefined;
  const stallTimer = startStallTimer(options.signal, timeouts.stallMs);
  try {
    const headers = { ...rangeHeaders(part), ...conditionalHeaders(reusable) };
    const response = await requestSource(source, headers, stallTimer.signal);
    if (response.status === 304 && reusable !== undefined) {
      return downloaded(source, files, reusable, reusable);
    }
    const metadata = await preparePart(source, files, response, part);
    const bytes = await receiveBody(source, files, response, metadata, (received) => {
      stallTimer.restart();
      options.onBytes?.(received, metadata.length ?? undefined);
    });
    const sha256 = await verifiedSha256(source, files, metadata, options.signal);
    const complete = await keepAsComplete(files, metadata, bytes, sha256);
    return downloaded(source, files, complete, last);
  } finally {
    stallTimer.end();
  }
}

function rangeHeaders(part: ResumablePart | undefined): Record<string, string> {
  return part === undefined ? {} : { range: `bytes=${part.bytes}-`, 'if-range': part.ifRange };
}

function conditionalHeaders(complete: CompleteMetadata | undefined): Record<string, string> {
  const { etag = null, last_modified = null } = complete ?? {};
  return {
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(last_modified === null ? {} : { 'if-modified-since': last_modified }),
  };
}

/** The part's SHA-256. @throws {DownloadError} when the server or the URL names another one */
async function verifiedSha256(
  source: SourceUrl,
  files: StoredFiles,
  metadata: PartMetadata,
  signal: AbortSignal,
): Promise<string> {
  const sha256 = await sha256Of(files.part, signal);
  const expected = [
    { by: 'its server', sha256: metadata.sha256 ?? sha256 },
    { by: 'its URL', sha256: source.sha256 ?? sha256 },
  ];
  const mismatch = expected.find((digest) => digest.sha256 !== sha256);
  if (mismatch === undefined) return sha256;
  await discardPart(files);
  throw new DownloadError(
    `${source.redacted} has the SHA-256 ${sha256}, not the one that ${mismatch.by} names (${mismatch.sha256}).`,
  );
}

/** Makes the part the complete file. */
async function keepAsComplete(
  files: StoredFiles,
  { url, etag, last_modified }: PartMetadata,
  bytes: number,
  sha256: string,
): Promise<CompleteMetadata> {
  await rename(files.part, files.complete);
  const complete: CompleteMetadata = { url, etag, last_modified, length: bytes, sha256 };
  await writeFile(files.completeMetadata, JSON.stringify(complete));
  await discardPart(files);
  return complete;
}

function downloaded(
  source: SourceUrl,
  files: StoredFiles,
  { sha256, length }: CompleteMetadata,
  last: CompleteMetadata | undefined,
): DownloadedSource {
  return {
    path: files.complete,
    name: source.redacted,
    sha256,
    bytes: length,
    isUnchanged: last?.sha256 === sha256,
  };
}

import { open, writeFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { DownloadError, RetryableError } from './errors.ts';
import { bodyChunks } from './http-request.ts';
import {
  contentEncoding,
  contentRange,
  digestSha256,
  retryAfterMs,
  strongValidator,
} from './response-headers.ts';
import type { SourceUrl } from './source-url.ts';
import { discardPart, type PartMetadata, type ResumablePart, type StoredFiles } from './stored-files.ts';

/** The State's larger file has under 1 GiB. A file far beyond that is not the dataset and must not fill the disk. */
const MAX_BYTES = 8 * 2 ** 30;

/**
 * Prepares the part for the response's body: keeps it when the body continues it, else empties it.
 *
 * @throws {RetryableError} for a range that does not fit the part, or a server that is busy
 * @throws {DownloadError} for any other status than success
 */
export async function preparePart(
  source: SourceUrl,
  files: StoredFiles,
  response: Response,
  part: ResumablePart | undefined,
): Promise<PartMetadata> {
  const { status, headers } = response;
  if (part !== undefined && (status === 206 || status === 416)) {
    if (doesContinue(response, part)) return { ...part.metadata, length: contentRange(headers).fileLength };
    await discardPart(files);
    throw new RetryableError('the server does not continue the file where it broke off');
  }
  const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  if (status >= 500 || status === 429 || status === 408) {
    throw new RetryableError(`the server answered ${answer}`, retryAfterMs(headers));
  }
  if (status !== 200) {
    throw new DownloadError(`${source.redacted} could not be downloaded: the server answered ${answer}.`);
  }
  const metadata = partMetadataOf(source, headers);
  // In this order: the metadata must never stand beside the part of another file.
  await discardPart(files);
  await writeFile(files.partMetadata, JSON.stringify(metadata));
  return metadata;
}

/** Whether the response has the bytes after the part, of the same file. */
function doesContinue({ status, headers }: Response, { bytes, metadata }: ResumablePart): boolean {
  const { from, fileLength } = contentRange(headers);
  return (
    status === 206 &&
    contentEncoding(headers) === 'identity' &&
    from === bytes &&
    fileLength === (metadata.length ?? fileLength) &&
    (headers.get('etag') ?? metadata.etag) === metadata.etag &&
    (headers.get('last-modified') ?? metadata.last_modified) === metadata.last_modified
  );
}

function partMetadataOf(source: SourceUrl, headers: Headers): PartMetadata {
  const encoding = contentEncoding(headers);
  if (encoding !== 'identity') {
    // fetch has decompressed the body, so neither its length nor a range of it would match the server's headers.
    throw new DownloadError(
      `${source.redacted} is sent with Content-Encoding ${encoding}, although the request allowed none.`,
    );
  }
  const contentLength = headers.get('content-length');
  const length = contentLength === null ? null : Number(contentLength);
  if (length !== null && length > MAX_BYTES) throw tooLarge(source);
  return {
    url: source.redacted,
    etag: headers.get('etag'),
    last_modified: headers.get('last-modified'),
    if_range: strongValidator(headers),
    length,
    sha256: digestSha256(headers),
  };
}

/**
 * Appends the body to the part and checks the length that the server announced.
 *
 * @param onBytes called after each chunk with the size of the part
 * @returns the size of the part
 */
export async function receiveBody(
  source: SourceUrl,
  files: StoredFiles,
  response: Response,
  { length }: PartMetadata,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const bytes = await appendBody(files.part, response, onBytes);
  if (bytes > MAX_BYTES) {
    await discardPart(files);
    throw tooLarge(source);
  }
  if (length !== null && bytes > length) {
    await discardPart(files);
    throw new RetryableError(`the server sent more than the ${length} bytes that it announced`);
  }
  if (length !== null && bytes < length) {
    throw new RetryableError(`only ${bytes} of ${length} bytes arrived`);
  }
  return bytes;
}

/** Stops reading once the part is larger than is allowed. */
async function appendBody(
  path: string,
  response: Response,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const part = await open(path, 'a');
  try {
    let bytes = (await part.stat()).size;
    for await (const chunk of bodyChunks(response)) {
      await part.appendFile(chunk);
      bytes += chunk.length;
      onBytes(bytes);
      if (bytes > MAX_BYTES) break;
    }
    await part.sync();
    return bytes;
  } finally {
    await part.close();
  }
}

function tooLarge({ redacted }: SourceUrl): DownloadError {
  return new DownloadError(
    `${redacted} has more than ${MAX_BYTES / 2 ** 30} GiB, the most that is downloaded.`,
  );
}

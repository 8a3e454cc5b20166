import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { basename, join } from 'node:path';
import { Agent, type Dispatcher, interceptors, request } from 'undici';
import { z } from 'zod';
import { inspectFile } from './source-file.ts';
import { DownloadError, isLocalHttp, parseSourceUrl, redactUrl, type SourceUrl } from './source-url.ts';

const TIMEOUTS = {
  /** A connection is closed when no byte arrives for this long. */
  stallMs: 60_000,
  /** The wait before the second try. It doubles with each further try. */
  firstWaitMs: 1000,
  /** The longest wait. It also limits the wait that a server requests by Retry-After. */
  maxWaitMs: 60_000,
};

const MAX_RETRIES = 8;
const MAX_REDIRECTS = 5;
/**
 * Errors to retry. A refused connection is not among them: the next attempt of the publication tries again, so that the
 * operator sees the problem within a minute.
 */
const RETRIED_ERRORS = [
  ...['ECONNRESET', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'],
  ...['UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'],
];

/** The State's larger file is under 1 GiB. A far larger file is not the dataset and must not fill the disk. */
const MAX_BYTES = 8 * 2 ** 30;

export interface DownloadOptions {
  /** The folder for downloaded files. It is created if missing, readable only by its owner. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Called after each chunk with the number of bytes on disk. */
  readonly onBytes?: (bytes: number, total: number | undefined) => void;
  readonly timeouts?: Readonly<typeof TIMEOUTS>;
}

/**
 * Downloads a file, unless the server reports that it has not changed since the last download. When the connection is
 * lost, the download resumes if the server confirms by its ETag that the file is unchanged. The result is checked
 * against the length that the server announces and the SHA-256 in the URL's fragment (`#sha256=…`).
 *
 * Only one process at a time may download a URL into a directory.
 *
 *
 * @param url https, or http for this machine. Its user-info is sent as Basic credentials, only to its origin
 * @throws {DownloadError} when the server refuses the file, sends a different one than expected, or is unreachable
 * @throws the signal's reason when it is aborted
 */
export async function downloadSource(url: string, options: DownloadOptions) {
  const source = parseSourceUrl(url);
  const path = storedPath(options.directory, source.url);
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const last = await lastDownload(source, path);
  const { stallMs, firstWaitMs, maxWaitMs } = options.timeouts ?? TIMEOUTS;
  const agent = new Agent({ connect: { timeout: stallMs }, headersTimeout: stallMs, bodyTimeout: stallMs });
  const dispatcher = agent.compose(
    onlySafely(source),
    interceptors.redirect({ maxRedirections: MAX_REDIRECTS }),
    interceptors.retry({
      maxRetries: MAX_RETRIES,
      minTimeout: firstWaitMs,
      maxTimeout: maxWaitMs,
      errorCodes: RETRIED_ERRORS,
    }),
  );
  try {
    const headers = {
      'accept-encoding': 'identity',
      authorization: source.authorization,
      'if-none-match': last?.etag ?? undefined,
      'if-modified-since': last?.last_modified ?? undefined,
    };
    const response = await request(source.url, { dispatcher, headers, signal: options.signal });
    // A body that was not read to its end fails when the agent is destroyed.
    response.body.on('error', () => undefined);
    const isUnchanged = response.statusCode === 304 && last !== undefined;
    const stored = isUnchanged ? last : await receive(source, path, response, options.onBytes);
    return { path, ...stored };
  } catch (error) {
    options.signal.throwIfAborted();
    throw downloadError(source, error);
  } finally {
    await agent.destroy();
  }
}

/**
 * Allows requests only to https, so that nobody can change the file in transit, and from local http to local http. Lets
 * undici resume only if the server confirms the file by an ETag; without one, undici would join the parts of two files.
 */
function onlySafely(source: SourceUrl): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const target = new URL(options.path, options.origin);
    if (target.protocol !== 'https:' && !(isLocalHttp(target) && isLocalHttp(source.url))) {
      throw new DownloadError(`${source.redacted} redirects to ${redactUrl(target)}, which is not https.`);
    }
    const headers = options.headers ?? {};
    if ('range' in headers && !('if-match' in headers)) {
      throw new DownloadError(
        `${source.redacted} could not be downloaded: the connection was lost, and the server sends no ETag to resume by.`,
      );
    }
    return dispatch(options, handler);
  };
}

const failure = z.object({
  message: z.string(),
  code: z.string().optional().catch(undefined),
  statusCode: z.number().min(400).optional().catch(undefined),
});

/** The error to throw for an undici error. Its own properties are left out, because they may contain a whole URL. */
function downloadError({ redacted }: SourceUrl, error: unknown): unknown {
  const parsed = failure.safeParse(error).data;
  if (error instanceof DownloadError || parsed === undefined) return error;
  const reason = parsed.statusCode === undefined ? networkTrouble(parsed) : answered(parsed.statusCode);
  return new DownloadError(`${redacted} could not be downloaded: ${reason}.`);
}

function networkTrouble({ code = '', message }: z.output<typeof failure>): string {
  if (code === 'ENOTFOUND') return `there is no such host (${message})`;
  return /CERT|SSL|TLS/.test(code)
    ? `its certificate is not trusted (${message}); set NODE_EXTRA_CA_CERTS to the PEM file of its authority`
    : message;
}

function answered(status: number): string {
  const words = `the server answered ${status} ${STATUS_CODES[status] ?? ''}`.trim();
  return status === 401 || status === 403 ? `${words}; check the user name, password or query` : words;
}

/** An HTML page, such as an error page. No CSV, gzip or zip file begins like this. */
const WEB_PAGE = /^(?:\xef\xbb\xbf)?\s*<(?:!|html|head|\?xml)/i;
const WEB_PAGE_START = 200;

/** A header that a server sends several times is unreliable and counts as missing. */
const header = z.string().nullable().catch(null);

const responseHeaders = z.object({ etag: header, 'last-modified': header, 'content-length': header });

/**
 * Writes the response's body to the file. The file appears only after the whole body has arrived and matches what was
 * announced.
 *
 * @throws {DownloadError} for any status other than 200, a file that is too large, or an unexpected SHA-256
 */
async function receive(
  source: SourceUrl,
  path: string,
  response: Dispatcher.ResponseData,
  onBytes: DownloadOptions['onBytes'],
): Promise<StoredMetadata> {
  const { redacted } = source;
  const refused = (why: string) => new DownloadError(`${redacted} could not be downloaded: ${why}.`);
  if (response.statusCode !== 200) throw refused(answered(response.statusCode));
  const { etag, 'last-modified': last_modified, ...headers } = responseHeaders.parse(response.headers);
  const announced = headers['content-length'];
  const total = announced === null ? undefined : Number(announced);
  const part = `${path}.part`;
  const hash = createHash('sha256');
  let length = 0;
  async function* checkedChunks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of body) {
      if (length === 0 && WEB_PAGE.test(chunk.toString('latin1', 0, WEB_PAGE_START)))
        throw refused('the server sent a web page in place of the file; open the address in a browser');
      length += chunk.length;
      if (Math.max(length, total ?? 0) > MAX_BYTES)
        throw refused(`it has more than ${MAX_BYTES / 2 ** 30} GiB`);
      hash.update(chunk);
      yield chunk;
      onBytes?.(length, total);
    }
  }
  try {
    await writeFile(part, checkedChunks(response.body), { flush: true });
    const sha256 = hash.digest('hex');
    if (sha256 !== (source.sha256 ?? sha256)) {
      throw new DownloadError(
        `${redacted} has the SHA-256 ${sha256}, not the one that its URL names (${source.sha256}).`,
      );
    }
    const metadata = { url: redacted, etag, last_modified, length, sha256 };
    await rename(part, path);
    await writeFile(`${path}.json`, JSON.stringify(metadata));
    return metadata;
  } finally {
    await rm(part, { force: true });
  }
}

function storedPath(directory: string, url: URL): string {
  const hash = createHash('sha256').update(url.href).digest('hex').slice(0, 32);
  const name = (url.pathname.split('/').at(-1) ?? '').replace(/[^\w.-]+/g, '_').slice(-80);
  return join(directory, name === '' ? hash : `${hash}-${name}`);
}

/** Deletes downloads from URLs other than these, and leftovers of a check that was killed. */
export async function deleteOtherDownloads(directory: string, kept: readonly string[]): Promise<void> {
  const names = kept.map((path) => basename(path));
  for (const name of await readdir(directory).catch(() => [])) {
    if (!names.some((each) => name.startsWith(each)))
      await rm(join(directory, name), { recursive: true, force: true });
  }
}

const storedMetadata = z.object({
  /** The URL without its secrets. */
  url: z.string(),
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
  length: z.int().nonnegative(),
  sha256: z.string(),
});

type StoredMetadata = z.output<typeof storedMetadata>;

/** The last download of the URL; `undefined` unless the file is unchanged and is the one that the operator expects. */
async function lastDownload(
  { redacted, sha256 }: SourceUrl,
  path: string,
): Promise<StoredMetadata | undefined> {
  try {
    const metadata = storedMetadata.parse(JSON.parse(await readFile(`${path}.json`, 'utf8')));
    if (metadata.url !== redacted || metadata.sha256 !== (sha256 ?? metadata.sha256)) return undefined;
    return (await inspectFile(path)).sha256 === metadata.sha256 ? metadata : undefined;
  } catch {
    return undefined;
  }
}

import { z } from 'zod';
import { DownloadError, RetryableError } from './errors.ts';
import { isLocalHttp, redactUrl, type SourceUrl } from './source-url.ts';

/** Ends one request when no byte has arrived for too long. */
export interface StallTimer {
  /** Aborted by the timer or by the download's own signal. */
  readonly signal: AbortSignal;
  /** Starts the time anew, after bytes have arrived. */
  restart(): void;
  /** Closes the connection unless the body was read to its end. */
  end(): void;
}

/** Starts the timer of one request. */
export function startStallTimer(signal: AbortSignal, stallMs: number): StallTimer {
  const controller = new AbortController();
  const abort = () => controller.abort(new RetryableError(`nothing arrived for ${stallMs / 1000} seconds`));
  const timer = setTimeout(abort, stallMs);
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    restart: () => {
      timer.refresh();
    },
    end: () => {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Requests the source and follows up to five redirects.
 *
 * @throws {RetryableError} when the connection fails
 * @throws {DownloadError} for a redirect that must not be followed
 */
export async function requestSource(
  source: SourceUrl,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  let url = source.url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await sendRequest(source, url, headers, signal);
    const location = REDIRECT_STATUSES.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    url = redirectTarget(source, url, location);
  }
  throw new DownloadError(`${source.redacted} redirects more than ${MAX_REDIRECTS} times.`);
}

/** Sends the credentials only to the origin that the operator named. */
async function sendRequest(
  source: SourceUrl,
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  const { authorization } = source;
  const credentials =
    authorization === undefined || url.origin !== source.url.origin ? {} : { authorization };
  try {
    return await fetch(url, {
      headers: { ...headers, ...credentials, 'accept-encoding': 'identity' },
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    throw connectionError('the connection failed', error);
  }
}

/** Redirects are followed to https, so that nobody can change the file in transit, and from local to local http. */
function redirectTarget(source: SourceUrl, from: URL, location: string): URL {
  const target = URL.parse(location, from.href);
  if (target === null) throw new DownloadError(`${source.redacted} redirects to a malformed URL.`);
  if (target.protocol !== 'https:' && !(isLocalHttp(target) && isLocalHttp(source.url))) {
    throw new DownloadError(`${source.redacted} redirects to ${redactUrl(target)}, which is not https.`);
  }
  target.username = '';
  target.password = '';
  return target;
}

/** The body's chunks. @throws {RetryableError} when the connection is lost */
export async function* bodyChunks(response: Response): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw connectionError('the connection was lost', error);
  }
}

const errorWithCode = z.object({ cause: z.object({ code: z.string() }) });

function connectionError(what: string, error: unknown): RetryableError {
  if (error instanceof RetryableError) return error;
  const parsed = errorWithCode.safeParse(error);
  return new RetryableError(parsed.success ? `${what} (${parsed.data.cause.code})` : what);
}

import { todayInOhio } from '../licenses/dates.ts';

/** A source cannot be downloaded. The message says why, without any secret of its URL. */
export class DownloadError extends Error {
  /** undici retries errors without a code, so this error has one. */
  readonly code = 'ERR_DOWNLOAD';
}

/**
 * Whether the location of a source is a URL rather than a path. A mistyped URL (`https:/…`) or one of another kind
 * (`sftp:`) counts as a URL, because it may contain secrets and must not be shown as a path.
 */
export function isUrl(location: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]+:/i.test(location);
}

/** Whether the location is a path, or a URL that can be downloaded. */
export function isSource(location: string): boolean {
  try {
    return !isUrl(location) || parseSourceUrl(location) !== undefined;
  } catch {
    return false;
  }
}

/** Replaces `{date}` in a location by today's date in Ohio, for files whose names change every day. */
export function datedLocation(location: string, today: string = todayInOhio()): string {
  return location.replaceAll('{date}', today);
}

/** The parts of a source's URL. */
export type SourceUrl = Readonly<ReturnType<typeof parseSourceUrl>>;

const SHA256_FRAGMENT = /^#sha256=([0-9a-f]{64})$/i;

/** @throws {DownloadError} for a malformed URL, or one that is neither https nor local http */
export function parseSourceUrl(location: string) {
  const url = URL.parse(location);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new DownloadError('A source to be downloaded needs a URL that begins with https://.');
  }
  const authorization = basicCredentials(url);
  url.username = '';
  url.password = '';
  const redacted = redactUrl(url);
  if (url.protocol === 'http:' && !isLocalHttp(url)) {
    throw new DownloadError(`${redacted} is not https. Sources are downloaded only by https.`);
  }
  const sha256 = SHA256_FRAGMENT.exec(url.hash)?.[1]?.toLowerCase();
  if (sha256 === undefined && url.hash !== '') {
    throw new DownloadError(`${redacted} has a fragment that is not #sha256= and 64 hexadecimal digits.`);
  }
  url.hash = '';
  return {
    /** The URL without user-info and fragment. */
    url,
    /** The Authorization header made from the user-info. */
    authorization,
    /** The SHA-256 that the operator put into the fragment. */
    sha256,
    /** The URL without secrets, for messages and the ledger. */
    redacted,
  };
}

/** Stands for the parts left out of a location. */
const LEFT_OUT = '…';

/** A URL without user-info, query and fragment, which may hold secrets. */
export function redactUrl({ protocol, username, password, host, pathname, search }: URL): string {
  const user = `${username}${password}` === '' ? '' : `${LEFT_OUT}@`;
  return `${protocol}//${user}${host}${pathname}${search === '' ? '' : `?${LEFT_OUT}`}`;
}

/**
 * A location without secrets: the user-info and the query of a URL are left out. Paths and other URLs are unchanged.
 */
export function withoutSecrets(location: string): string {
  if (!isUrl(location)) return location;
  const url = URL.parse(location);
  const redacted = url === null ? LEFT_OUT : redactUrl(url);
  return redacted.includes(LEFT_OUT) ? redacted : location;
}

/** Whether a location has secrets, or had secrets that were left out. */
export function hasSecrets(location: string): boolean {
  return withoutSecrets(location) !== location || (isUrl(location) && location.includes(LEFT_OUT));
}

/** Whether this is an http URL of this machine. */
export function isLocalHttp({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function basicCredentials(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  } catch {
    throw new DownloadError(
      `${redactUrl(url)} has a user name or password with a % that is not written %25.`,
    );
  }
}

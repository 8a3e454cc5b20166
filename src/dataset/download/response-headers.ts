/** The Content-Encoding; `identity` without one. */
export function contentEncoding(headers: Headers): string {
  return headers.get('content-encoding') ?? 'identity';
}

/** Retry-After, a number of seconds or a date, in milliseconds from now; 0 without one. */
export function retryAfterMs(headers: Headers): number {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
}

/**
 * A validator that changes whenever the content does: a strong ETag, or a Last-Modified at least a second older
 * than the response. Within that second the file may have changed again (RFC 9110, 8.8.2.2).
 */
export function strongValidator(headers: Headers): string | null {
  const etag = headers.get('etag');
  if (etag?.startsWith('"')) return etag;
  const lastModified = headers.get('last-modified');
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(lastModified ?? '');
  return age >= 1000 ? lastModified : null;
}

/** The whole file's SHA-256, in hex, from `Repr-Digest` (RFC 9530) or the older `Digest` (RFC 3230). */
export function digestSha256(headers: Headers): string | null {
  const digest =
    /(?:^|,)\s*sha-256=:([\w+/=]+):/i.exec(headers.get('repr-digest') ?? '') ??
    /(?:^|,)\s*sha-256=([\w+/=]+)/i.exec(headers.get('digest') ?? '');
  const bytes = Buffer.from(digest?.[1] ?? '', 'base64');
  return bytes.length === 32 ? bytes.toString('hex') : null;
}

/** Where a range begins and how long the whole file is, from Content-Range; NaN without a valid one. */
export function contentRange(headers: Headers): { readonly from: number; readonly fileLength: number } {
  const [, from, fileLength] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  return { from: Number(from), fileLength: Number(fileLength) };
}

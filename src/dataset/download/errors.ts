/** A source can't be downloaded. The message says why and shows no secret of its URL. */
export class DownloadError extends Error {}

/** A fault that another try may solve: a lost connection, a busy server, a part that does not match. */
export class RetryableError extends Error {
  /** The server's Retry-After; 0 without one. */
  readonly retryAfterMs: number;

  constructor(reason: string, retryAfterMs = 0) {
    super(reason);
    this.retryAfterMs = retryAfterMs;
  }
}

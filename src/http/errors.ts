import { isHttpError } from 'http-errors';
import { TooManyRequestsError } from '../access/rate-limit.ts';
import { CursorExpiredError } from '../changes/service.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { NothingPublishedError } from '../publications/live.ts';
import { SeveralLiveError } from '../publications/metadata.ts';
import {
  isDenied,
  isIndexNotFound,
  isTransient,
  SearchUnavailableError,
  TooBusyError,
} from '../storage/errors.ts';

/** The request is refused. The message tells the client what to send instead. */
export class ClientError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const ENCODINGS = 'Unsupported Content-Encoding; send the body as it is, or with gzip, deflate or br.';

const OTHER_ORIGIN = 'This form was not sent from a page of this website. Go to the page and send it there.';

/** Refusals that any kind of request may get. */
export const REFUSED = {
  notJson: () => new ClientError(400, 'The body is not valid JSON.'),
  invalidKey: () => new ClientError(401, 'Invalid or inactive API key'),
  /** For a request that reached a trusted proxy over plain http. */
  plainHttp: () => new ClientError(403, 'Only https requests are accepted; use the https address.'),
  otherOrigin: () => new ClientError(403, OTHER_ORIGIN),
  nothingHere: () =>
    new ClientError(404, 'There is nothing at this address. Lookups are at POST /api/v1/lookup/verify.'),
  otherMethod: () => new ClientError(405, 'Method not allowed; see the Allow header.'),
  notUnpacked: () => new ClientError(400, 'The body does not match its Content-Encoding.'),
  otherEncoding: () => new ClientError(415, ENCODINGS),
  otherType: () => new ClientError(415, 'Send the body as JSON, with Content-Type: application/json.'),
};

/** The part of an error that a client may see. */
export type ErrorResponse = ReturnType<typeof told>;

/** @param retryAfter the number of seconds after which the client may retry */
function told(status: number, detail: string, retryAfter?: number) {
  return { status, detail, retryAfter };
}

/** Maps each kind of error to its status and a safe message, for all interfaces. */
export function errorResponse(error: unknown): ErrorResponse {
  if (error instanceof ClientError) return told(error.status, error.message);
  if (error instanceof BadRequestError) return told(400, error.message);
  if (error instanceof CursorExpiredError) return told(410, error.message);
  if (error instanceof TooManyRequestsError) return told(429, error.message, error.retryAfterSeconds);
  if (error instanceof NothingPublishedError)
    return told(503, 'No dataset has been published yet; try again later.', 60);
  if (error instanceof SeveralLiveError) return told(503, error.message, 60);
  if (error instanceof TooBusyError) return told(503, 'The service is overloaded; try again shortly.', 1);
  const isAway = error instanceof SearchUnavailableError || isTransient(error) || isDenied(error);
  // After an upgrade, an index is missing until a worker has created it.
  if (isAway || isIndexNotFound(error))
    return told(503, 'Lookups are not available right now; try again shortly.', 5);
  // An error from a library.
  if (isHttpError(error) && error.statusCode < 500)
    return told(error.statusCode, 'The request cannot be answered.');
  return told(500, 'Something went wrong on our side; the request was not answered.');
}

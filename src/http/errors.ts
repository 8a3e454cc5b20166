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

/** A request that is refused. The message says to its client what to send instead. */
export class ClientError extends Error {
  readonly status: number;
  /** What the body says beside the message. */
  readonly facts: object | undefined;

  constructor(status: number, message: string, facts?: object) {
    super(message);
    this.status = status;
    this.facts = facts;
  }
}

const ENCODINGS = 'This Content-Encoding is not taken; send the body as it is, or with gzip, deflate or br.';

/** The refusals that requests of every kind may meet. */
export const REFUSED = {
  notJson: () => new ClientError(400, 'The body is not valid JSON.'),
  invalidKey: () => new ClientError(401, 'Invalid or inactive API key'),
  /** For a request that came to a trusted proxy by plain http. */
  plainHttp: () =>
    new ClientError(403, 'Requests are taken by https only; send this one to the https address.'),
  nothingHere: () =>
    new ClientError(404, 'There is nothing at this address. Lookups are at POST /api/v1/lookup/verify.'),
  otherMethod: () => new ClientError(405, 'Method not allowed; see the Allow header.'),
  notUnpacked: () => new ClientError(400, 'The body can not be unpacked as its Content-Encoding says.'),
  otherEncoding: () => new ClientError(415, ENCODINGS),
  otherType: () => new ClientError(415, 'Send the body as JSON, with Content-Type: application/json.'),
};

/** The part of an error that a client may see. */
export interface ErrorResponse {
  readonly status: number;
  readonly detail: string;
  /** What it may see beside the detail. */
  readonly facts?: object | undefined;
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number;
}

/** The one table from each kind of error to its status and a safe message, for every interface. */
export function errorResponse(error: unknown): ErrorResponse {
  if (error instanceof ClientError)
    return { status: error.status, detail: error.message, facts: error.facts };
  if (error instanceof BadRequestError) return { status: 400, detail: error.message };
  if (error instanceof CursorExpiredError) return { status: 410, detail: error.message };
  if (error instanceof TooManyRequestsError)
    return { status: 429, detail: error.message, retryAfter: error.retryAfterSeconds };
  if (error instanceof NothingPublishedError)
    return { status: 503, detail: 'No dataset has been published yet; try again later.', retryAfter: 60 };
  if (error instanceof SeveralLiveError) return { status: 503, detail: error.message, retryAfter: 60 };
  if (error instanceof TooBusyError)
    return { status: 503, detail: 'The service is overloaded; try again shortly.', retryAfter: 1 };
  const isAway = error instanceof SearchUnavailableError || isTransient(error) || isDenied(error);
  // An index is missing after an upgrade, until a worker has prepared it.
  if (isAway || isIndexNotFound(error))
    return { status: 503, detail: 'Lookups are not available right now; try again shortly.', retryAfter: 5 };
  // Of a library.
  if (isHttpError(error) && error.statusCode < 500)
    return { status: error.statusCode, detail: 'The request cannot be answered.' };
  return { status: 500, detail: 'Something went wrong on our side; the request was not answered.' };
}

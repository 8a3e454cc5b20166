import { describe, expect, test } from '@jest/globals';
import { errors } from '@opensearch-project/opensearch';
import createError from 'http-errors';
import { TooManyRequestsError } from '../../src/access/rate-limit.ts';
import {
  errorResponse,
  InvalidKeyError,
  TooLargeError,
  UnsupportedMediaTypeError,
} from '../../src/http/errors.ts';
import { BadRequestError } from '../../src/licenses/bad-request.ts';
import { NothingPublishedError } from '../../src/publications/live.ts';
import { SearchUnavailableError, TooBusyError } from '../../src/storage/errors.ts';
import { openSearchError, openSearchTimeout } from '../support/open-search-errors.ts';

const SECRET = 'keys.number at 10.0.0.7:9200';
const AWAY = {
  status: 503,
  detail: 'Lookups are not available right now; try again shortly.',
  retryAfter: 5,
};
const OURS = { status: 500, detail: 'Something went wrong on our side; the request was not answered.' };

describe('errorResponse', () => {
  test.each([
    [
      'a bad request, in its own words',
      new BadRequestError('Say more.'),
      { status: 400, detail: 'Say more.' },
    ],
    [
      'a missing, wrong or revoked key, always in the same words',
      new InvalidKeyError(SECRET),
      { status: 401, detail: 'Invalid or inactive API key' },
    ],
    [
      'too many requests',
      new TooManyRequestsError(17),
      { status: 429, detail: 'Too many requests; try again in 17 seconds.', retryAfter: 17 },
    ],
    [
      'more sent than is taken',
      new TooLargeError('A roster takes at most 1 MB.'),
      { status: 413, detail: 'A roster takes at most 1 MB.' },
    ],
    [
      'a body of another type',
      new UnsupportedMediaTypeError('Send CSV.'),
      { status: 415, detail: 'Send CSV.' },
    ],
    [
      'nothing published',
      new NothingPublishedError(SECRET),
      { status: 503, detail: 'No dataset has been published yet; try again later.', retryAfter: 60 },
    ],
    [
      'more asked than can be answered',
      new TooBusyError(SECRET),
      { status: 503, detail: 'More is asked than can be answered now; try again shortly.', retryAfter: 1 },
    ],
    ['an answer of OpenSearch that is not whole', new SearchUnavailableError(SECRET), AWAY],
    ['OpenSearch not reached', new errors.ConnectionError(SECRET), AWAY],
    ['OpenSearch not answering in time', openSearchTimeout(SECRET), AWAY],
    ['OpenSearch refusing for load', openSearchError(429), AWAY],
    ['OpenSearch failing', openSearchError(503), AWAY],
    ['OpenSearch refusing a query, which is our fault', openSearchError(400), OURS],
    ['a document that is not there, which is our fault', openSearchError(404), OURS],
    ['any other error', new TypeError(SECRET), OURS],
    ['an internal error of the HTTP layer', createError(500, SECRET), OURS],
    ['what is no error at all', SECRET, OURS],
    ['nothing', undefined, OURS],
  ])('knows %s', (_what, error, failure) => {
    expect(errorResponse(error)).toEqual(failure);
  });

  test.each([
    [400, 'The body is not valid JSON.'],
    [404, 'There is nothing at this address. Lookups are at POST /api/v1/lookup/verify.'],
    [405, 'This address does not take that method; the Allow header names those it takes.'],
    [415, 'Send the body as JSON, with Content-Type: application/json.'],
    [418, 'The request can not be answered.'],
  ])('has words of its own for what the HTTP layer refuses with %d', (status, detail) => {
    expect(errorResponse(createError(status, SECRET))).toEqual({ status, detail });
  });
});

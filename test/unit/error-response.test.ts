import { expect, test } from '@jest/globals';
import { errors } from '@opensearch-project/opensearch';
import createError from 'http-errors';
import { TooManyRequestsError } from '../../src/access/rate-limit.ts';
import { CursorExpiredError } from '../../src/changes/service.ts';
import { ClientError, errorResponse, REFUSED } from '../../src/http/errors.ts';
import { BadRequestError } from '../../src/licenses/lookup.ts';
import { NothingPublishedError } from '../../src/publications/live.ts';
import { SeveralLiveError } from '../../src/publications/metadata.ts';
import { SearchUnavailableError, TooBusyError } from '../../src/storage/errors.ts';
import { openSearchError, openSearchTimeout } from '../support/open-search-errors.ts';

const SECRET = 'keys.number at 10.0.0.7:9200';
const NOT_NOW = 'Lookups are not available right now; try again shortly.';
const AWAY = { status: 503, detail: NOT_NOW, retryAfter: 5 };
const TOO_FAST = { status: 429, detail: 'Too many requests; try again in 17 seconds.', retryAfter: 17 };
const NO_DATA = 'No dataset has been published yet; try again later.';
const NOTHING = { status: 503, detail: NO_DATA, retryAfter: 60 };
const BUSY = { status: 503, detail: 'The service is overloaded; try again shortly.', retryAfter: 1 };
const SEVERAL = new SeveralLiveError(['licenses-a', 'licenses-b']);
const OURS = { status: 500, detail: 'Something went wrong on our side; the request was not answered.' };

test.each([
  ['a bad request', new BadRequestError('Say more.'), { status: 400, detail: 'Say more.' }],
  ['a missing or bad key', REFUSED.invalidKey(), { status: 401, detail: 'Invalid or inactive API key' }],
  ['too many requests', new TooManyRequestsError(17), TOO_FAST],
  ['what a client must change', new ClientError(415, 'Send CSV.'), { status: 415, detail: 'Send CSV.' }],
  ['no publication yet', new NothingPublishedError(SECRET), NOTHING],
  ['too many lookups in progress', new TooBusyError(SECRET), BUSY],
  ['a partial response of OpenSearch', new SearchUnavailableError(SECRET), AWAY],
  ['no connection to OpenSearch', new errors.ConnectionError(SECRET), AWAY],
  ['a timeout of OpenSearch', openSearchTimeout(SECRET), AWAY],
  ['OpenSearch rejecting requests because of load', openSearchError(429), AWAY],
  ['a failure of OpenSearch', openSearchError(503), AWAY],
  ['a refused user of OpenSearch', openSearchError(401), AWAY],
  ['a user of OpenSearch without permission', openSearchError(403, 'security_exception'), AWAY],
  ['an index that is not prepared yet', openSearchError(404, 'index_not_found_exception'), AWAY],
  ['several live indices', SEVERAL, { status: 503, detail: SEVERAL.message, retryAfter: 60 }],
  ['a cursor that is too old', new CursorExpiredError('Anew.'), { status: 410, detail: 'Anew.' }],
  ['an index that takes no writes', openSearchError(403, 'cluster_block_exception'), OURS],
  ['a query that OpenSearch rejects as invalid', openSearchError(400), OURS],
  ['a missing document', openSearchError(404), OURS],
  ['any other error', new TypeError(SECRET), OURS],
  ['an internal error of the HTTP layer', createError(500, SECRET), OURS],
  ['a thrown text', SECRET, OURS],
  ['undefined', undefined, OURS],
])('the response to an error is status, detail and Retry-After for %s', (_what, error, failure) => {
  expect(errorResponse(error)).toEqual(failure);
});

test.each([400, 404, 418])('the response has its own text for the status %d of a library', (status) => {
  const detail = 'The request cannot be answered.';
  expect(errorResponse(createError(status, SECRET))).toEqual({ status, detail });
});

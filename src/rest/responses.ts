import createError from 'http-errors';
import { z } from 'zod';
import { TooManyRequestsError } from '../access/rate-limit.ts';
import { errorResponse, HttpsRequiredError, InvalidKeyError } from '../http/errors.ts';
import { jsonResponse, type ResponseHeaders, responseHeader } from '../http/openapi.ts';
import { BOARDS } from '../licenses/boards.ts';
import { SearchUnavailableError } from '../storage/errors.ts';

/** Where the REST API is (specification 9.1). */
export const REST_PATH = '/api/v1';

const BOARD_NAMES = BOARDS.map(({ name }) => name);

/** A board's name, as the OpenAPI document describes it. */
export const boardName = z
  .enum(BOARD_NAMES)
  .meta({ id: 'BoardName', description: 'Exactly the name of a board' });

const detail = z
  .object({ detail: z.string() })
  .meta({ id: 'Detail', description: 'What is wrong and what to do' });

/** The headers of every response under the REST path. */
const LIMIT_HEADERS: ResponseHeaders = {
  'X-RateLimit-Limit': responseHeader('integer', 'Requests that this address may make in a minute'),
  'X-RateLimit-Remaining': responseHeader('integer', 'How many of them are left'),
  'X-RateLimit-Reset': responseHeader('integer', 'When the count begins anew, in Unix seconds'),
};

const RETRY_AFTER: ResponseHeaders = {
  'Retry-After': responseHeader('integer', 'Seconds after which another try makes sense'),
};

/** A response to a request that was understood. */
export function answered(
  description: string,
  schema: z.ZodType,
  examples: Record<string, { summary: string; value: unknown }>,
  headers: ResponseHeaders = {},
) {
  return jsonResponse(description, schema, { headers: { ...LIMIT_HEADERS, ...headers }, examples });
}

/** An error response; its example is worded as the service words such an error. */
export function refusal(description: string, error: Error, headers: ResponseHeaders = {}) {
  return jsonResponse(description, detail, {
    headers: { ...LIMIT_HEADERS, ...headers },
    example: { detail: errorResponse(error).detail },
  });
}

/** What every route of the REST API may answer. */
export const REFUSALS = {
  '401': refusal('No active key came with the request', new InvalidKeyError()),
  '403': refusal('The request came by plain http', new HttpsRequiredError()),
  '429': refusal('Too fast', new TooManyRequestsError(7), RETRY_AFTER),
  '500': refusal('A fault of the service', new Error()),
  '503': refusal(
    'Nothing is published yet, or lookups are not available now',
    new SearchUnavailableError(),
    RETRY_AFTER,
  ),
};

/** For an address under the REST path that nothing is at. */
export const NO_ADDRESS = refusal('An address that is none', createError(404));

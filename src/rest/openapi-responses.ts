import createError from 'http-errors';
import { z } from 'zod';
import { TooManyRequestsError } from '../access/rate-limit.ts';
import { errorResponse, httpsRequired, invalidKey } from '../http/errors.ts';
import { jsonResponse, type ResponseHeaders, responseHeader } from '../http/openapi.ts';
import { SearchUnavailableError } from '../storage/errors.ts';

const detail = z
  .object({ detail: z.string() })
  .meta({ id: 'Detail', description: 'What is wrong and what to do' });

/** The headers of every response of the REST API. */
const RATE_LIMIT_HEADERS: ResponseHeaders = {
  'X-RateLimit-Limit': responseHeader('integer', 'Requests that this address may make in a minute'),
  'X-RateLimit-Remaining': responseHeader('integer', 'How many of them are left'),
  'X-RateLimit-Reset': responseHeader('integer', 'When the count begins anew, in Unix seconds'),
};

const RETRY_AFTER: ResponseHeaders = {
  'Retry-After': responseHeader('integer', 'Seconds after which another try makes sense'),
};

/** The OpenAPI entry of a response with examples. */
export function responseEntry(
  description: string,
  schema: z.ZodType,
  examples: Record<string, { summary: string; value: unknown }>,
  headers: ResponseHeaders = {},
) {
  return jsonResponse(description, schema, { headers: { ...RATE_LIMIT_HEADERS, ...headers }, examples });
}

/** The OpenAPI entry of an error. Its example is the text that the service sends for it. */
export function errorEntry(description: string, error: Error, headers: ResponseHeaders = {}) {
  return jsonResponse(description, detail, {
    headers: { ...RATE_LIMIT_HEADERS, ...headers },
    example: { detail: errorResponse(error).detail },
  });
}

/** The errors of every route of the REST API. */
export const COMMON_ERRORS = {
  '401': errorEntry('No active key came with the request', invalidKey()),
  '403': errorEntry('The request came by plain http', httpsRequired()),
  '429': errorEntry('Too fast', new TooManyRequestsError(7), RETRY_AFTER),
  '500': errorEntry('A fault of the service', new Error()),
  '503': errorEntry(
    'Nothing is published yet, or lookups are not available now',
    new SearchUnavailableError(),
    RETRY_AFTER,
  ),
};

/** The error of a path under the REST path that has no route. */
export const UNKNOWN_PATH = errorEntry('An address that is none', createError(404));

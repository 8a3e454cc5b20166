import type { RouterContext } from '@koa/router';
import { z } from 'zod';
import { TooManyRequestsError } from '../access/rate-limit.ts';
import { dataAge } from '../answers/origin.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { errorResponse, httpsRequired, invalidKey } from '../http/errors.ts';
import { jsonResponse, type ResponseContent, type ResponseHeaders, responseHeader } from '../http/openapi.ts';
import type { Context } from '../http/route.ts';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import { BOARDS, type Board, boardByName } from '../licenses/boards.ts';
import { SearchUnavailableError } from '../storage/errors.ts';

/** The path under which the REST API is served (VERSIONS-01). */
export const REST_PATH = '/api/v1';

/** Exactly a board's name, in requests and in the OpenAPI document. */
export const boardName = z
  .enum(
    BOARDS.map(({ name }) => name),
    { error: ({ input }) => boardError(input) },
  )
  .meta({ id: 'BoardName', description: 'Exactly the name of a board' });

/** A board by exactly its name. */
export const board = boardName.transform((name): Board => {
  const named = boardByName(name);
  if (named === undefined) throw unknownBoard(name);
  return named;
});

function boardError(input: unknown): string {
  if (typeof input === 'string') return unknownBoard(input).message;
  return input === undefined || input === null ? 'board is needed.' : 'board must be a string.';
}

/** The error for a name that is not exactly one of the 24 boards'. */
export function unknownBoard(name: string): BadRequestError {
  return new BadRequestError(REQUEST_WORDS.rest.unknownBoard(name));
}

/** The id of the account that holds the request's key. Every route under `REST_PATH` is behind the check of the key. */
export function accountOf({ state: { account } }: Pick<Context, 'state'>): string {
  if (account === undefined) throw new Error('The key of this request was not checked.');
  return account;
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

/** A text of blanks counts as absent. */
export function absentIfBlank(value: unknown): unknown {
  return isBlank(value) ? undefined : value;
}

/** A query has only text. */
export function wholeNumber(text: unknown): unknown {
  return typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : text;
}

/**
 * The query parameters of a request, without those that are blank.
 *
 * @throws {BadRequestError} with the first message of the schema; for a parameter that is sent twice, with its name
 */
export function queryOf<Schema extends z.ZodType>(
  { query }: Pick<RouterContext, 'query'>,
  schema: Schema,
): z.output<Schema> {
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) throw new BadRequestError(`${name} is sent twice; send it once.`);
  }
  const sent = Object.entries(query).filter(([, value]) => !isBlank(value));
  return checked(schema, Object.fromEntries(sent));
}

const detail = z
  .object({
    detail: z.string(),
    data_age_days: dataAge.data_age_days.nullable().optional().describe('Of lookups alone'),
  })
  .meta({ id: 'Detail', description: 'What is wrong and what to do' });

/** The headers of every response of the REST API. */
const RATE_LIMIT_HEADERS: ResponseHeaders = {
  'X-RateLimit-Limit': responseHeader('integer', 'Requests that this address may make in a minute'),
  'X-RateLimit-Remaining': responseHeader('integer', 'How many of them are left'),
  'X-RateLimit-Reset': responseHeader('integer', 'When the count starts again, in Unix seconds'),
};

const RETRY_AFTER: ResponseHeaders = {
  'Retry-After': responseHeader('integer', 'Seconds after which another try makes sense'),
};

/** The OpenAPI entry of a response. */
export function responseEntry(
  description: string,
  schema: z.ZodType,
  { headers = {}, ...examples }: ResponseContent,
) {
  return jsonResponse(description, schema, { headers: { ...RATE_LIMIT_HEADERS, ...headers }, ...examples });
}

/** The OpenAPI entry of an error. Its example is the text that the service sends for it. */
export function errorEntry(description: string, error: Error, headers: ResponseHeaders = {}) {
  return responseEntry(description, detail, { headers, example: { detail: errorResponse(error).detail } });
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

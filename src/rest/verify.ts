import createError from 'http-errors';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { REQUEST_WORDS } from '../answers/words.ts';
import { bodyTooLarge, jsonBody, LOOKUP_LIMIT } from '../http/body.ts';
import { type ResponseHeaders, responseHeader } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { mapFilters } from '../licenses/filters.ts';
import { lookupFields, readLookup } from '../licenses/lookup.ts';
import type { Lookups } from '../lookup/service.ts';
import { boardName, COMMON_ERRORS, errorEntry, REST_PATH, responseEntry, unknownBoard } from './operation.ts';
import {
  FOUND_EXAMPLES,
  licenseBody,
  matchesBody,
  NUMBER_NOT_FOUND_EXAMPLES,
  noMatchBody,
  numberNotFoundBody,
  REQUEST_EXAMPLES,
  verifyResponse,
} from './verify-response.ts';

/** A required text. A text of blanks counts as absent. */
const NOT_BLANK = { type: 'string', pattern: '\\S' } as const;
const BLANK = { pattern: '^\\s*$' };
const BUSINESS = { type: 'string', pattern: '^\\s*business\\s*$' } as const;
/** A searched name and a filter need a letter or a digit. */
const WORDS = { type: 'string', pattern: '[\\p{L}\\p{N}]' } as const;
const BLANK_OR_WORDS = { pattern: '^\\s*$|[\\p{L}\\p{N}]' };
const FILTERS = mapFilters(() => BLANK_OR_WORDS);

type Properties = Record<string, z.core.JSONSchema.BaseSchema>;

function combination(title: string, required: Properties, optional: Properties = {}) {
  return { title, required: Object.keys(required), properties: { ...required, ...optional } };
}

/** The combinations of fields that `readLookup` accepts, which a schema of each field alone can not say. */
const FIELD_COMBINATIONS = [
  combination(
    'By number, of a person or a business',
    { license_number: NOT_BLANK },
    { business_name: BLANK, search_type: BLANK },
  ),
  combination('By number, of a business', { license_number: NOT_BLANK, search_type: BUSINESS }),
  combination(
    'By person',
    { last_name: WORDS },
    { first_name: BLANK_OR_WORDS, business_name: BLANK, search_type: BLANK, ...FILTERS },
  ),
  combination('By business', { search_type: BUSINESS, business_name: WORDS }, FILTERS),
];

/** The body in the OpenAPI document: with the names of the boards and the combinations of fields. */
const documentedVerifyBody = lookupFields.extend({ board: boardName }).meta({
  id: 'VerifyRequest',
  description:
    'By number: board and license_number. By person: board and last_name. By business: board, search_type and ' +
    'business_name or license_number. Null and blank texts count as absent, unknown fields are ignored.',
  override: ({ jsonSchema }) => {
    jsonSchema.anyOf = FIELD_COMBINATIONS;
  },
});

function foundEntry(headers: ResponseHeaders = {}) {
  const body = z.union([licenseBody, matchesBody, noMatchBody]);
  const content = { headers, examples: FOUND_EXAMPLES };
  return responseEntry('The record, the matches, or that a name has none', body, content);
}

const VERIFY_OPERATION: ZodOpenApiOperationObject = {
  operationId: 'verify',
  tags: ['Lookups'],
  summary: 'Verify a license',
  description: 'By number (200 or 404), by person or by business (always 200; see found).',
  requestBody: {
    required: true,
    content: { 'application/json': { schema: documentedVerifyBody, examples: REQUEST_EXAMPLES } },
  },
  responses: {
    '200': foundEntry(),
    '400': errorEntry(
      'A board that is not one of the 24, a license type that the board does not have, or a body without search criteria',
      unknownBoard('Nursing'),
    ),
    ...COMMON_ERRORS,
    '404': responseEntry('No license for the number at the board', numberNotFoundBody, {
      examples: NUMBER_NOT_FOUND_EXAMPLES,
    }),
    '413': errorEntry('A body of more than 16 KB', bodyTooLarge(LOOKUP_LIMIT)),
    '415': errorEntry('A body that is not JSON, or has another Content-Encoding', createError(415)),
  },
};

/** When POST /lookup/verify replaced POST /lookup/cached (RFC 9745: `@` and a Unix time). */
const CACHED_DEPRECATED = '@1767225600';

/** The deprecated alias (VERSIONS-04). */
const CACHED_OPERATION: ZodOpenApiOperationObject = {
  ...VERIFY_OPERATION,
  operationId: 'cached',
  summary: 'The earlier name of /lookup/verify',
  description: 'Answers exactly as /lookup/verify.',
  deprecated: true,
  responses: {
    ...VERIFY_OPERATION.responses,
    '200': foundEntry({
      Deprecation: responseHeader('string', 'Since when (RFC 9745)'),
      Link: responseHeader('string', 'The address that took its place'),
    }),
  },
};

/** POST /lookup/verify (LOOKUP-10) and POST /lookup/cached. */
export function verifyRoutes(lookups: Lookups): Route[] {
  const verify: Route['handle'] = async (ctx) => {
    const request = readLookup(await jsonBody(ctx), REQUEST_WORDS.rest);
    const { outcome, ...origin } = await lookups.lookUp(request, ctx.state.keyCheckedMs);
    const { status, body } = verifyResponse(outcome, origin);
    ctx.state.outcome = outcome.outcome;
    ctx.status = status;
    ctx.body = body;
  };
  const cached: Route['handle'] = (ctx) => {
    ctx.set('deprecation', CACHED_DEPRECATED);
    ctx.set('link', `<${REST_PATH}/lookup/verify>; rel="successor-version"`);
    return verify(ctx);
  };
  return [
    { method: 'POST', path: `${REST_PATH}/lookup/verify`, operation: VERIFY_OPERATION, handle: verify },
    { method: 'POST', path: `${REST_PATH}/lookup/cached`, operation: CACHED_OPERATION, handle: cached },
  ];
}

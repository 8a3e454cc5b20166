import createError from 'http-errors';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { bodyTooLarge, jsonBody, LOOKUP_LIMIT } from '../http/body.ts';
import { type ResponseHeaders, responseHeader } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookup/service.ts';
import { lookupOutcome } from '../telemetry/outcome.ts';
import { REST_PATH } from './base-path.ts';
import { unknownBoard } from './board-name.ts';
import { COMMON_ERRORS, errorEntry, responseEntry } from './openapi-responses.ts';
import { FOUND_EXAMPLES, NUMBER_NOT_FOUND_EXAMPLES, REQUEST_EXAMPLES } from './verify-examples.ts';
import { documentedVerifyBody, verifyRequest } from './verify-request.ts';
import {
  licenseBody,
  matchesBody,
  noMatchBody,
  numberNotFoundBody,
  verifyResponse,
} from './verify-response.ts';

/** POST /lookup/verify (LOOKUP-10). */
export function verifyRoute(lookups: Lookups): Route {
  return {
    method: 'POST',
    path: `${REST_PATH}/lookup/verify`,
    operation: verifyOperation({
      operationId: 'verify',
      summary: 'Verify a license',
      description: 'By number (200 or 404), by person or by business (always 200; see found).',
    }),
    handle: verifyHandler(lookups),
  };
}

/** When POST /lookup/verify replaced POST /lookup/cached (RFC 9745: `@` and a Unix time). */
const CACHED_DEPRECATED = '@1767225600';

/** POST /lookup/cached, the deprecated alias (VERSIONS-04). */
export function cachedRoute(lookups: Lookups): Route {
  const verify = verifyHandler(lookups);
  return {
    method: 'POST',
    path: `${REST_PATH}/lookup/cached`,
    operation: verifyOperation(
      {
        operationId: 'cached',
        summary: 'The earlier name of /lookup/verify',
        description: 'Answers exactly as /lookup/verify.',
        deprecated: true,
      },
      {
        Deprecation: responseHeader('string', 'Since when (RFC 9745)'),
        Link: responseHeader('string', 'The address that took its place'),
      },
    ),
    handle: (ctx) => {
      ctx.set('deprecation', CACHED_DEPRECATED);
      ctx.set('link', `<${REST_PATH}/lookup/verify>; rel="successor-version"`);
      return verify(ctx);
    },
  };
}

function verifyHandler(lookups: Lookups): Route['handle'] {
  return async (ctx) => {
    const request = verifyRequest(await jsonBody(ctx));
    const { outcome, date } = await lookups.lookUp(request, ctx.state.keyCheckedMs);
    const { status, body } = verifyResponse(outcome, date, todayInOhio());
    ctx.state.outcome = lookupOutcome(outcome);
    ctx.status = status;
    ctx.body = body;
  };
}

type OperationTexts = Pick<
  ZodOpenApiOperationObject,
  'operationId' | 'summary' | 'description' | 'deprecated'
>;

function verifyOperation(texts: OperationTexts, headers: ResponseHeaders = {}): ZodOpenApiOperationObject {
  return {
    ...texts,
    tags: ['Lookups'],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: documentedVerifyBody,
          examples: REQUEST_EXAMPLES,
        },
      },
    },
    responses: {
      '200': responseEntry(
        'The record, the matches, or that a name has none',
        z.union([licenseBody, matchesBody, noMatchBody]),
        FOUND_EXAMPLES,
        headers,
      ),
      '400': errorEntry(
        'A board that is not one of the 24, a license type that the board does not have, or a body that asks for nothing',
        unknownBoard('Nursing'),
      ),
      ...COMMON_ERRORS,
      '404': responseEntry(
        'No license for the number at the board',
        numberNotFoundBody,
        NUMBER_NOT_FOUND_EXAMPLES,
      ),
      '413': errorEntry('A body of more than 16 KB', bodyTooLarge(LOOKUP_LIMIT)),
      '415': errorEntry('A body that is not JSON, or has another Content-Encoding', createError(415)),
    },
  };
}

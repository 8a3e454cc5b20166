import createError from 'http-errors';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { jsonBody } from '../http/body.ts';
import { type ResponseHeaders, responseHeader } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { type LicenseRecord, responseRecord } from '../licenses/license-record.ts';
import type { LookupOutcome } from '../licenses/lookup-outcome.ts';
import { MAX_MATCHES } from '../licenses/lookup-outcome.ts';
import type { Lookups } from '../lookup/service.ts';
import { lookupOutcome } from '../telemetry/outcome.ts';
import { answered, boardName, REFUSALS, REST_PATH, refusal } from './responses.ts';
import { matchesAnswer, noMatchAnswer, numberMissAnswer, verifyAnswer } from './verify-answer.ts';
import { unknownBoard, verifyBody, verifyRequest } from './verify-request.ts';

const licenseRecord = responseRecord.meta({ id: 'LicenseRecord', description: 'A license and its holder' });
const matches = matchesAnswer
  .extend({ multiple: z.array(licenseRecord).min(2).max(MAX_MATCHES) })
  .meta({ id: 'Matches', description: 'More than one match of a search by name' });
const noMatch = noMatchAnswer.meta({
  id: 'NoMatch',
  description: 'No match of a search by name: an answer, not an error, and never "unlicensed"',
});
const numberMiss = numberMissAnswer.meta({ id: 'NumberMiss' });
/** Null and blank texts count as absent, so what must be there is a text with a character that is no blank. */
const NOT_BLANK = { type: 'string', pattern: '\\S' } as const;
const BLANK = { pattern: '^\\s*$' };
const BUSINESS = { type: 'string', pattern: '^\\s*business\\s*$' } as const;
/** A name that is searched for, or a filter, asks for nothing without a letter or a digit. */
const WORDS = { type: 'string', pattern: '[\\p{L}\\p{N}]' } as const;
const BLANK_OR_WORDS = { pattern: '^\\s*$|[\\p{L}\\p{N}]' };
const FILTERS = {
  license_type: BLANK_OR_WORDS,
  status: BLANK_OR_WORDS,
  city: BLANK_OR_WORDS,
  county: BLANK_OR_WORDS,
};

/** Which fields must come together, as `verifyRequest` asks for them. */
const LOOKUPS = [
  {
    title: 'By number, of a person or a business',
    required: ['license_number'],
    properties: { license_number: NOT_BLANK, business_name: BLANK, search_type: BLANK },
  },
  {
    title: 'By number, of a business',
    required: ['license_number', 'search_type'],
    properties: { license_number: NOT_BLANK, search_type: BUSINESS },
  },
  {
    title: 'By person',
    required: ['last_name'],
    properties: {
      last_name: WORDS,
      first_name: BLANK_OR_WORDS,
      business_name: BLANK,
      search_type: BLANK,
      ...FILTERS,
    },
  },
  {
    title: 'By business',
    required: ['search_type', 'business_name'],
    properties: { search_type: BUSINESS, business_name: WORDS, ...FILTERS },
  },
];

const request = verifyBody.extend({ board: boardName }).meta({
  id: 'VerifyRequest',
  description:
    'By number: board and license_number. By person: board and last_name. By business: board, search_type and ' +
    'business_name or license_number. Null and blank texts count as absent, unknown fields are ignored.',
  override: ({ jsonSchema }) => {
    jsonSchema.anyOf = LOOKUPS;
  },
});

const EXAMPLE_DATE = '2026-11-20';

/** In the sample data that `npm start` publishes, as is every license in the examples, so that they can be tried. */
const EXAMPLE: LicenseRecord = {
  license_number: 'RN.124396',
  full_name: 'BOWEN, SUSAN KIM',
  board: 'Nursing Board',
  license_type: 'Registered Nurse (RN)',
  status: 'ACTIVE',
  expiry_date: '2027-08-31',
  city: 'Wolf Run',
  state: 'OH',
  raw_status: 'Active - Probation',
  county: 'Jefferson',
  issue_date: '2009-07-16',
  extra_data: {
    'Board Action': 'Yes',
    County: 'Jefferson',
    ZIP: '43970',
    Country: 'United States',
    'Compact Eligibility': 'Single-State',
    'Issue Date': '2009-07-16',
    'Effective Date': '2025-09-01',
  },
};
const OTHER_EXAMPLE: LicenseRecord = {
  license_number: 'PN.470899',
  full_name: 'BOWEN, BERTHA T',
  board: 'Nursing Board',
  license_type: 'Licensed Practical Nurse (LPN)',
  status: 'CLOSED',
  expiry_date: '2024-10-22',
  city: 'Cincinnati',
  state: 'OH',
  raw_status: 'Closed - Deceased',
  county: 'Hamilton',
  issue_date: '1979-02-12',
  extra_data: {
    'Board Action': 'No',
    County: 'Hamilton',
    ZIP: '45221',
    Country: 'United States',
    'Issue Date': '1979-02-12',
    'Effective Date': '2022-10-24',
  },
};

/** The body with which the service answers this outcome. */
function exampleBody(outcome: LookupOutcome): unknown {
  return verifyAnswer(outcome, EXAMPLE_DATE, EXAMPLE_DATE).body;
}

const VERIFY_EXAMPLES = {
  record: {
    summary: 'A number, or the only match',
    value: exampleBody({ outcome: 'record', record: EXAMPLE }),
  },
  matches: {
    summary: 'Several matches',
    value: exampleBody({ outcome: 'matches', records: [OTHER_EXAMPLE, EXAMPLE], truncated: false }),
  },
  no_match: {
    summary: 'No match of a name',
    value: exampleBody({ outcome: 'no_match', didYouMean: ['BOWEN'] }),
  },
};

const MISS_EXAMPLES = {
  unknown: {
    summary: 'A mistyped number',
    value: exampleBody({ outcome: 'number_not_found', miss: 'unknown', didYouMean: ['RN.124396'] }),
  },
};

/** POST /lookup/verify (specification 4.3). */
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

/** When POST /lookup/verify took the place of POST /lookup/cached (RFC 9745: `@` and a Unix time). */
const CACHED_DEPRECATED = '@1767225600';

/** POST /lookup/cached, the deprecated alias (specification 9.2). */
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
    const { status, body } = verifyAnswer(outcome, date, todayInOhio());
    ctx.state.outcome = lookupOutcome(outcome);
    ctx.status = status;
    ctx.body = body;
  };
}

type Described = Pick<ZodOpenApiOperationObject, 'operationId' | 'summary' | 'description' | 'deprecated'>;

function verifyOperation(described: Described, headers: ResponseHeaders = {}): ZodOpenApiOperationObject {
  return {
    ...described,
    tags: ['Lookups'],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: request,
          examples: {
            number: { value: { board: 'Nursing Board', license_number: 'RN.124396' } },
            person: { value: { board: 'Nursing Board', last_name: 'Bowen', first_name: 'Su' } },
            business: {
              value: {
                board: 'Board of Pharmacy',
                search_type: 'business',
                business_name: 'Main Street Pharmacy',
              },
            },
          },
        },
      },
    },
    responses: {
      '200': answered(
        'The record, the matches, or that a name has none',
        z.union([licenseRecord, matches, noMatch]),
        VERIFY_EXAMPLES,
        headers,
      ),
      '400': refusal(
        'A board that is not one of the 24, a license type that the board does not have, or a body that asks for nothing',
        unknownBoard('Nursing'),
      ),
      ...REFUSALS,
      '404': answered('No license for the number at the board', numberMiss, MISS_EXAMPLES),
      '413': refusal('A body of more than 16 KB', createError(413)),
      '415': refusal('A body that is not JSON, or has another Content-Encoding', createError(415)),
    },
  };
}

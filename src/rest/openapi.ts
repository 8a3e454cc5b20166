import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { statusAnswer } from '../http/status.ts';
import { BOARDS } from '../licenses/boards.ts';
import { MAX_MATCHES } from '../licenses/queries.ts';
import { answeredRecord } from '../licenses/record.ts';
import { SERVICE_VERSION } from '../version.ts';
import { boardsAnswer, boardTypesAnswer, REST_PATH } from './routes.ts';
import { matchesAnswer, noMatchAnswer, numberMissAnswer } from './verify-answer.ts';
import { verifyBody } from './verify-request.ts';

const BOARD_NAMES = BOARDS.map(({ name }) => name);
const LAST_SCRAPED = '2026-11-20T00:00:00';

const record = {
  found: true,
  license_number: 'RN.700001',
  full_name: 'EXAMPLE, JANE Q',
  board: 'Nursing Board',
  license_type: 'Registered Nurse (RN)',
  status: 'ACTIVE',
  expiry_date: '2027-10-31',
  days_until_expiry: 343,
  city: 'Columbus',
  state: 'OH',
  raw_status: 'Active - Probation',
  county: 'Franklin',
  issue_date: '2015-06-01',
  extra_data: { County: 'Franklin', ZIP: '43215', 'Issue Date': '2015-06-01' },
  source: 'dataset',
  last_scraped: LAST_SCRAPED,
};

const licenseRecord = answeredRecord.meta({ id: 'LicenseRecord', description: 'A license and its holder' });
const matches = matchesAnswer
  .extend({ multiple: z.array(licenseRecord).min(2).max(MAX_MATCHES) })
  .meta({ id: 'Matches', description: 'More than one match of a search by name' });
const noMatch = noMatchAnswer.meta({
  id: 'NoMatch',
  description: 'No match of a search by name: an answer, not an error, and never "unlicensed"',
});
const numberMiss = numberMissAnswer.meta({ id: 'NumberMiss' });
const detail = z
  .object({ detail: z.string() })
  .meta({ id: 'Detail', description: 'What is wrong and what to do' });

const boardName = z.enum(BOARD_NAMES).meta({ id: 'BoardName', description: 'Exactly the name of a board' });

/** Blank texts count as absent, so what must be there must have a character that is none. */
const NOT_BLANK = { pattern: '\\S' };
const BLANK = { pattern: '^\\s*$' };
const BUSINESS = { pattern: '^\\s*business\\s*$' };

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
    properties: { last_name: NOT_BLANK, business_name: BLANK, search_type: BLANK },
  },
  {
    title: 'By business',
    required: ['search_type', 'business_name'],
    properties: { search_type: BUSINESS, business_name: NOT_BLANK },
  },
];

const request = verifyBody.extend({ board: boardName }).meta({
  id: 'VerifyRequest',
  description:
    'By number: board and license_number. By person: board and last_name. By business: board, search_type and ' +
    'business_name or license_number. Blank texts count as absent, unknown fields are ignored.',
  override: ({ jsonSchema }) => {
    jsonSchema.anyOf = LOOKUPS;
  },
});

const header = (type: 'string' | 'integer', description: string) =>
  ({ description, required: true, schema: { type } }) as const;

const headers = {
  'X-Request-Id': header(
    'string',
    'The id of the request: the one sent, where it is sensible, else a new one',
  ),
};

const limitHeaders = {
  'X-RateLimit-Limit': header('integer', 'Requests that this address may make in a minute'),
  'X-RateLimit-Remaining': header('integer', 'How many of them are left'),
  'X-RateLimit-Reset': header('integer', 'When the count begins anew, in Unix seconds'),
};

const retryAfter = {
  'Retry-After': header('integer', 'Seconds after which another try makes sense'),
};

type Headers = NonNullable<ZodOpenApiResponseObject['headers']>;

function refusal(description: string, example: string, more: Headers = {}): ZodOpenApiResponseObject {
  return {
    description,
    headers: { ...headers, ...more },
    content: { 'application/json': { schema: detail, example: { detail: example } } },
  };
}

/** What every address of the versioned API may answer. */
const REFUSALS = {
  '401': refusal('No active key came with the request', 'Invalid or inactive API key', limitHeaders),
  '429': refusal('Too fast', 'Too many requests; try again in 7 seconds.', {
    ...limitHeaders,
    ...retryAfter,
  }),
  '500': refusal(
    'A fault of the service',
    'Something went wrong on our side; the request was not answered.',
    limitHeaders,
  ),
  '503': refusal(
    'Nothing is published yet, or lookups are not available now',
    'Lookups are not available right now; try again shortly.',
    { ...limitHeaders, ...retryAfter },
  ),
};

const UNKNOWN_BOARD = refusal(
  'A board that is not one of the 24, or a body that asks for nothing',
  'No board has exactly the name given; the nearest is "Nursing Board". GET /lookup/boards lists all.',
  limitHeaders,
);

function answered(
  description: string,
  schema: z.ZodType,
  examples: Record<string, { summary: string; value: unknown }>,
  more: Headers = {},
): ZodOpenApiResponseObject {
  return {
    description,
    headers: { ...headers, ...limitHeaders, ...more },
    content: { 'application/json': { schema, examples } },
  };
}

const origin = { source: 'dataset', last_scraped: LAST_SCRAPED };
const VERIFY_EXAMPLES = {
  record: { summary: 'A number, or the only match', value: record },
  matches: {
    summary: 'Several matches',
    value: {
      found: true,
      count: 2,
      truncated: false,
      multiple: [record, { ...record, license_number: 'RN.700002' }],
      ...origin,
    },
  },
  no_match: {
    summary: 'No match of a name',
    value: {
      found: false,
      count: 0,
      message:
        'No license of the board asked matches this name and narrowing in the State’s dataset of 2026-11-20.',
      did_you_mean: ['EXAMPEL'],
      ...origin,
    },
  },
};

function verifyOperation(
  operationId: string,
  more: { deprecated?: true; headers?: Headers } = {},
): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: ['Lookups'],
    summary: more.deprecated ? 'The earlier name of /lookup/verify' : 'Verify a license',
    description: more.deprecated
      ? 'Answers exactly as /lookup/verify.'
      : 'By number (200 or 404), by person or by business (always 200; see found).',
    ...(more.deprecated ? { deprecated: true } : {}),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: request,
          examples: {
            number: { value: { board: 'Nursing Board', license_number: 'RN.700001' } },
            person: { value: { board: 'Nursing Board', last_name: 'Example', first_name: 'Ja' } },
            business: {
              value: { board: 'Board of Pharmacy', search_type: 'business', business_name: 'Example Drugs' },
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
        more.headers,
      ),
      '400': UNKNOWN_BOARD,
      ...REFUSALS,
      '404': answered('No license for the number at the board', numberMiss, {
        unknown: {
          summary: 'A mistyped number',
          value: {
            detail:
              'No license with this number is in the State’s dataset of 2026-11-20. Numbers that are: RN.700001. The issuing board is the authority; ask it before you conclude anything.',
            did_you_mean: ['RN.700001'],
          },
        },
      }),
      '413': refusal(
        'A body of more than 16 KB',
        'The body is too large; a lookup takes at most 16 KB.',
        limitHeaders,
      ),
      '415': refusal(
        'A body that is not JSON',
        'Send the body as JSON, with Content-Type: application/json.',
        limitHeaders,
      ),
    },
  };
}

/** The OpenAPI 3.1 document of the REST API, made of the schemas that check requests and shape answers. */
export function openApiDocument(): object {
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Ohio License Verification Service',
      version: SERVICE_VERSION,
      description:
        'Verifies professional and business licenses of Ohio’s 24 licensing boards from the State’s daily dataset. ' +
        'Every answer says which day’s dataset it is from; the issuing board is the authority. Requests are limited ' +
        'per client address and minute; every error has a detail that says what to do.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
    paths: {
      [`${REST_PATH}/lookup/verify`]: { post: verifyOperation('verify') },
      [`${REST_PATH}/lookup/cached`]: {
        post: verifyOperation('cached', {
          deprecated: true,
          headers: {
            Deprecation: header('string', 'Since when (RFC 9745)'),
            Link: header('string', 'The address that took its place'),
          },
        }),
      },
      [`${REST_PATH}/lookup/boards`]: {
        get: {
          operationId: 'boards',
          tags: ['Boards'],
          summary: 'The 24 boards and their license types',
          responses: {
            '200': answered('The boards', boardsAnswer.meta({ id: 'Boards' }), {
              one: {
                summary: 'One of them',
                value: {
                  boards: ['Nursing Board'],
                  board_details: {
                    'Nursing Board': { code: 'NUR', license_types: ['Registered Nurse (RN)'] },
                  },
                },
              },
            }),
            ...REFUSALS,
          },
        },
      },
      [`${REST_PATH}/lookup/boards/{board}/types`]: {
        get: {
          operationId: 'boardTypes',
          tags: ['Boards'],
          summary: 'The license types of one board',
          requestParams: {
            path: z.object({
              board: boardName.meta({ description: 'The name of the board, percent-encoded' }),
            }),
          },
          responses: {
            '200': answered('The types', boardTypesAnswer.meta({ id: 'BoardTypes' }), {
              nursing: {
                summary: 'Of the Nursing Board',
                value: { board: 'Nursing Board', code: 'NUR', license_types: ['Registered Nurse (RN)'] },
              },
            }),
            '400': UNKNOWN_BOARD,
            ...REFUSALS,
            '404': refusal('An address that is none', 'There is nothing at this address.', limitHeaders),
          },
        },
      },
      '/status': {
        get: {
          operationId: 'status',
          tags: ['Service'],
          summary: 'How current the data is',
          security: [],
          responses: {
            '200': {
              description: 'The live publication and the last runs, as last known',
              headers,
              content: { 'application/json': { schema: statusAnswer.meta({ id: 'Status' }) } },
            },
          },
        },
      },
    },
  });
}

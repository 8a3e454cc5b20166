import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import recorded from '../../data/openapi-examples.json' with { type: 'json' };
import { TooManyRequestsError } from '../access/rate-limit.ts';
import { dataAge } from '../answers/origin.ts';
import { type Config, SERVICE_VERSION } from '../config.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import { bodyTooLarge, LOOKUP_LIMIT } from './body.ts';
import { errorResponse, REFUSED } from './errors.ts';
import { header, idempotencyHeader, named, type Operation, type ResponseEntry, type Route } from './guard.ts';

type Limits = Pick<Config, 'REST_REQUESTS_PER_MINUTE' | 'MCP_REQUESTS_PER_MINUTE'>;

/** Explains how a client gets a key, and the fair use of the API. */
function keyDescription({ REST_REQUESTS_PER_MINUTE: requests }: Limits): string {
  return (
    'A key is free for every verified business: ask the operator of this service, who verifies the business and ' +
    `issues the key. Fair use applies: ${requests.toLocaleString('en-US')} requests a minute from one client ` +
    'address; more get 429 with Retry-After. Keep the key on your servers: it never belongs in client-side code, ' +
    'such as a web page or an app, where anybody can read it.'
  );
}

/**
 * The OpenAPI document of these routes, made from the schemas that check requests and shape responses. Its version is
 * 3.0.3, which client generators support completely (docs/decisions/010).
 */
export function openApiDocument(routes: readonly Route[], limits: Limits): object {
  const paths = new Map<string, ZodOpenApiPathsObject[string]>();
  for (const { method, path, operation } of routes) {
    if (operation === undefined) continue;
    const documented = path.replaceAll(/:(\w+)/g, '{$1}');
    paths.set(documented, { ...paths.get(documented), [method.toLowerCase()]: operationEntry(operation) });
  }
  const document: ZodOpenApiObject = {
    openapi: '3.0.3',
    info: {
      title: 'Ohio License Verification Service',
      version: SERVICE_VERSION,
      description:
        'Verifies professional and business licenses of Ohio’s 24 licensing boards from the State’s daily dataset. ' +
        'Every record says which day’s dataset it is from; the issuing board is the authority. Every error has a ' +
        `detail that says what to do.\n\n**API keys.** ${keyDescription(limits)}\n\n**Assistants** connect to the ` +
        `MCP server at \`/mcp\` without a key (${limits.MCP_REQUESTS_PER_MINUTE.toLocaleString('en-US')} requests a minute ` +
        'from one client address).',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: keyDescription(limits) },
      },
    },
    paths: Object.fromEntries(paths),
  };
  return createDocument(document, { override: withoutEngineLimits });
}

/** Removes the bounds of JavaScript integers, which say nothing about the field. */
const withoutEngineLimits: ZodOpenApiOverride = ({ jsonSchema }) => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

const example = z.unknown().transform((value) => ({ value }));
const examples = z.record(z.string(), z.record(z.string(), z.record(z.string(), example)));

/** Recorded requests and responses: by operation, then by `request` or status, then by name. */
const EXAMPLES = new Map(Object.entries(examples.parse(recorded)));

/** The request body in the document. */
export function requestBody(id: string, schema: z.ZodType) {
  const content = { 'application/json': { schema, examples: EXAMPLES.get(id)?.request ?? {} } };
  return { required: true, content };
}

const data_age_days = dataAge.data_age_days.nullable().optional().describe('Only for lookups');
const detail = named('Detail', { detail: z.string(), data_age_days }, 'What is wrong and what to do');

function operationEntry(operation: Operation): ZodOpenApiOperationObject {
  const { id, tag, input = {}, limit, firstAnswers, shownBody = input.body, responses, ...own } = operation;
  const { body: _, ...params } = input;
  const answered = new Map(Object.entries(EXAMPLES.get(id) ?? {}));
  const needsKey = own.security === undefined;
  const errors = needsKey ? errorsOf(input, limit, shownBody !== undefined) : {};
  const headers = { ...REQUEST_ID, ...(needsKey && LIMIT_HEADERS) };
  const all = Object.entries<ResponseEntry>({ ...errors, ...responses });
  return {
    ...own,
    operationId: id,
    tags: [tag],
    requestParams: { ...params, ...(firstAnswers && { header: idempotencyHeader }) },
    ...(shownBody && { requestBody: requestBody(id, shownBody) }),
    responses: Object.fromEntries(
      all.map(([status, { when, body, error, alternatives, ...own }]) => {
        const shown = error && { example: { value: { detail: errorResponse(error).detail } } };
        const json = { schema: body ?? detail, examples: answered.get(status) ?? shown ?? {} };
        const content = { 'application/json': json, ...alternatives };
        const hasBody = body !== undefined || status >= '400';
        const about = { description: when, headers: { ...headers, ...own.headers } };
        return [status, { ...about, ...(hasBody && { content }) }];
      }),
    ),
  };
}

const AWAY = 'Nothing is published yet, or lookups are not available now';

/** The errors of every operation, and those that depend on its input. */
function errorsOf(input: object, limit = LOOKUP_LIMIT, hasBody = false) {
  return {
    ...(Object.keys(input).length > 0 && {
      400: { when: 'The request is invalid; detail says why' },
    }),
    401: { when: 'No active key came with the request', error: REFUSED.invalidKey() },
    403: { when: 'The request came by plain http', error: REFUSED.plainHttp() },
    ...(hasBody && {
      413: { when: 'The body is too large', error: bodyTooLarge(limit) },
      415: { when: 'The body is not JSON, or has another Content-Encoding', error: REFUSED.otherType() },
    }),
    429: { when: 'Too fast', error: new TooManyRequestsError(7), headers: RETRY_AFTER },
    500: { when: 'A fault of the service', error: new Error() },
    503: { when: AWAY, error: new SearchUnavailableError(), headers: RETRY_AFTER },
  };
}

const RETRY_AFTER = { 'Retry-After': header('Seconds after which another try makes sense', 'integer') };

const REQUEST_ID = {
  'X-Request-Id': header('The id of the request: the one sent, where it is sensible, else a new one'),
};

const LIMIT_HEADERS = {
  'X-RateLimit-Limit': header('Requests that this address may make in a minute', 'integer'),
  'X-RateLimit-Remaining': header('How many of them are left', 'integer'),
  'X-RateLimit-Reset': header('When the count starts again, in Unix seconds', 'integer'),
};

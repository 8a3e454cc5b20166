import type { z } from 'zod';
import { createDocument, type ZodOpenApiResponseObject } from 'zod-openapi';
import { type Config, SERVICE_VERSION } from '../config.ts';
import { openApiPaths, type Route } from './route.ts';

export type ResponseHeaders = NonNullable<ZodOpenApiResponseObject['headers']>;

export function responseHeader(type: 'string' | 'integer', description: string) {
  return { description, required: true, schema: { type } } as const;
}

/** The headers of every response. */
const HEADERS: ResponseHeaders = {
  'X-Request-Id': responseHeader(
    'string',
    'The id of the request: the one sent, where it is sensible, else a new one',
  ),
};

interface ResponseContent {
  readonly headers?: ResponseHeaders;
  readonly example?: unknown;
  readonly examples?: Record<string, { summary: string; value: unknown }>;
}

/** A JSON response as the OpenAPI document describes it. */
export function jsonResponse(
  description: string,
  schema: z.ZodType,
  { headers = {}, ...examples }: ResponseContent = {},
): ZodOpenApiResponseObject {
  return {
    description,
    headers: { ...HEADERS, ...headers },
    content: { 'application/json': { schema, ...examples } },
  };
}

type Limits = Pick<Config, 'REST_REQUESTS_PER_MINUTE' | 'MCP_REQUESTS_PER_MINUTE'>;

/** How a client gets a key, and what fair use is. */
function keyDescription({ REST_REQUESTS_PER_MINUTE: requests }: Limits): string {
  return (
    'A key is free for every verified business: ask the operator of this service, who verifies the business and ' +
    `issues the key. Fair use applies: ${requests.toLocaleString('en-US')} requests a minute from one client ` +
    'address; more get 429 with Retry-After. Keep the key on your servers: it never belongs in client-side code, ' +
    'such as a web page or an app, where anybody can read it.'
  );
}

/** The OpenAPI 3.1 document of these routes, made of the schemas that check requests and shape responses. */
export function openApiDocument(routes: readonly Route[], limits: Limits): object {
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Ohio License Verification Service',
      version: SERVICE_VERSION,
      description:
        'Verifies professional and business licenses of Ohio’s 24 licensing boards from the State’s daily dataset. ' +
        'Every answer says which day’s dataset it is from; the issuing board is the authority. Every error has a ' +
        `detail that says what to do.\n\n**API keys.** ${keyDescription(limits)}\n\n**Assistants** connect to the ` +
        `MCP server at \`/mcp\` without a key (${limits.MCP_REQUESTS_PER_MINUTE.toLocaleString('en-US')} requests a minute ` +
        'from one client address).',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: keyDescription(limits) },
      },
    },
    paths: openApiPaths(routes),
  });
}

import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { createDocument, type ZodOpenApiPathsObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { type Config, SERVICE_VERSION } from '../config.ts';
import { type Route, staticFile } from './route.ts';

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

export interface ResponseContent {
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

/**
 * The OpenAPI 3.1 document of these routes, made of the schemas that check requests and shape responses.
 *
 * @param webhooks the messages that the service sends
 */
export function openApiDocument(
  routes: readonly Route[],
  webhooks: ZodOpenApiPathsObject,
  limits: Limits,
): object {
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Ohio License Verification Service',
      version: SERVICE_VERSION,
      description:
        'Verifies professional and business licenses of Ohio’s 24 licensing boards from the State’s daily dataset. ' +
        'Every record says which day’s dataset it is from; the issuing board is the authority. Every error has a ' +
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
    webhooks,
  });
}

/** The routes' entries in the OpenAPI document, by path and method. */
function openApiPaths(routes: readonly Route[]): ZodOpenApiPathsObject {
  const paths = new Map<string, ZodOpenApiPathsObject[string]>();
  for (const { method, path, operation } of routes) {
    if (operation === undefined) continue;
    const documented = path.replaceAll(/:(\w+)/g, '{$1}');
    paths.set(documented, { ...paths.get(documented), [method.toLowerCase()]: operation });
  }
  return Object.fromEntries(paths);
}

/** Of swagger-ui-dist. */
const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'] as const;

/** The page's own script; what it shows comes from `/openapi.json`. */
const SCRIPT = `window.ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true });\n`;

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ohio License Verification Service: REST API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<p style="margin: 0; padding: 1rem; background: #1d2a4d; font-family: sans-serif"><a style="color: #fff" href="/developers">Ohio License Verification: for developers</a></p>
<noscript><p>This page needs JavaScript. <a href="/openapi.json">The document that it shows</a> does not.</p></noscript>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</html>
`;

/** Everything comes from this origin; Swagger UI sets styles of its own and has its icons in data addresses. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; frame-ancestors 'none'";

const CACHED = 'public, max-age=86400';

/** The OpenAPI document and a page that shows it, from files of this machine alone. */
export function docsRoutes(document: object): Promise<Route[]> {
  return Promise.all([
    staticFile('/openapi.json', JSON.stringify(document)),
    staticFile('/docs', PAGE, { 'content-security-policy': POLICY }),
    staticFile('/docs/page.js', SCRIPT),
    ...FILES.map(async (name) => {
      const content = await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
      return staticFile(`/docs/${name}`, content, { 'cache-control': CACHED });
    }),
  ]);
}

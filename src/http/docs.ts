import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { refuseOtherMethods } from './app.ts';

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** Of swagger-ui-dist. */
const FILES = [
  { name: 'swagger-ui.css', type: 'text/css; charset=utf-8' },
  { name: 'swagger-ui-bundle.js', type: SCRIPT_TYPE },
] as const;

/** The page's own script; what it shows comes from `/openapi.json`. */
const SCRIPT = `window.ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true });\n`;

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ohio License Verification Service: REST API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
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
export async function docsRoutes(app: FastifyInstance, document: object): Promise<void> {
  app.get('/openapi.json', (_request, reply) => reply.send(document));
  app.get('/docs', (_request, reply) =>
    reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(PAGE),
  );
  app.get('/docs/page.js', (_request, reply) => reply.type(SCRIPT_TYPE).send(SCRIPT));
  for (const { name, type } of FILES) {
    const content = await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
    app.get(`/docs/${name}`, (_request, reply) =>
      reply.header('cache-control', CACHED).type(type).send(content),
    );
  }
  const files = ['page.js', ...FILES.map(({ name }) => name)];
  for (const url of ['/openapi.json', '/docs', ...files.map((name) => `/docs/${name}`)]) {
    refuseOtherMethods(app, url, ['HEAD', 'GET']);
  }
}

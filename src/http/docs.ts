import { readFile } from 'node:fs/promises';
import type { Route } from './route.ts';

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
export async function docsRoutes(document: object): Promise<Route[]> {
  const json = Buffer.from(JSON.stringify(document));
  const files = await Promise.all(
    FILES.map(async ({ name, type }) => {
      const content = await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
      return file(`/docs/${name}`, type, content, { 'cache-control': CACHED });
    }),
  );
  return [
    file('/openapi.json', 'application/json; charset=utf-8', json),
    file('/docs', 'text/html; charset=utf-8', PAGE, { 'content-security-policy': POLICY }),
    file('/docs/page.js', SCRIPT_TYPE, SCRIPT),
    ...files,
  ];
}

function file(
  path: string,
  type: string,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Route {
  return {
    method: 'GET',
    path,
    handle: (ctx) => {
      ctx.set(headers);
      ctx.type = type;
      ctx.body = content;
    },
  };
}

import { readFile } from 'node:fs/promises';
import type { Route } from '../http/guard.ts';
import { staticFile } from '../http/static.ts';

/** The page's own script. It shows `/openapi.json`. */
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

/** Everything comes from this origin. Swagger UI needs inline styles, and icons in `data:` URLs. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; frame-ancestors 'none'";

/** The OpenAPI document and a page that shows it. The page loads no files from other servers. */
export function docsRoutes(document: object): Promise<Route[]> {
  return Promise.all([
    staticFile('/openapi.json', JSON.stringify(document)),
    staticFile('/docs', PAGE, { 'content-security-policy': POLICY }),
    staticFile('/docs/page.js', SCRIPT),
    ...['swagger-ui.css', 'swagger-ui-bundle.js'].map(async (name) => {
      const content = await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
      return staticFile(`/docs/${name}`, content, { 'cache-control': 'public, max-age=86400' });
    }),
  ]);
}

import type { LivePublication, LivePublicationTracker } from '../publications/live.ts';
import type { Route } from './route.ts';

/** The plain page at `/`; it needs no key. */
export function frontPageRoute(tracker: LivePublicationTracker): Route {
  return {
    method: 'GET',
    path: '/',
    handle: (ctx) => {
      ctx.type = 'text/html; charset=utf-8';
      ctx.body = frontPage(tracker.current());
    },
  };
}

function frontPage(live: LivePublication | undefined): string {
  const data =
    live === undefined
      ? 'No dataset has been published yet.'
      : `It answers from the dataset of ${live.metadata.date}${live.metadata.sample ? ', which is generated sample data' : ''}.`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Ohio License Verification Service</title>
<h1>Ohio License Verification Service</h1>
<p>Verifies professional and business licenses of Ohio's 24 licensing boards. ${data}</p>
<ul>
<li>REST API: <code>POST /api/v1/lookup/verify</code>, with an API key</li>
<li>MCP server for assistants: <a href="/mcp">/mcp</a>, without a key</li>
<li>How to use it: <a href="/docs">/docs</a>, and as an OpenAPI document <a href="/openapi.json">/openapi.json</a></li>
<li>State of the data: <a href="/status">/status</a></li>
</ul>
`;
}

import type { Config } from '../config.ts';
import { type Html, html } from './page.ts';
import { count } from './words.ts';

/** Explains how programs and assistants use the service. @param address where visitors find this website */
export function developersBody(address: string, limits: Config): Html {
  return html`<p>Verify licenses from a program: one at a time, a thousand per request, or only what has changed since yesterday.</p>
<h2>Get a key</h2>
<p>The REST API needs a key in the header <code>X-API-Key</code>. Ask <a href="/about#operator">the operator</a> for one. The MCP server needs none.</p>
<h2 id="assistants">Connect an assistant</h2>
<p>Any assistant with MCP support can look up licenses here. It needs this address, and no key:</p>
<p><code>${address}/mcp</code></p>
<ul><li><strong>Claude</strong>: Customize, Connectors, +, “Add custom connector”.</li><li><strong>ChatGPT</strong>: chatgpt.com/plugins, +, “Add custom MCP server”, without authentication.</li><li><strong>Claude Code</strong>: <code>claude mcp add --transport http ohio-licenses ${address}/mcp</code></li></ul>
<p>Then ask: “Is the Ohio nurse RN.987654321 licensed?”</p>
<h2>Limits</h2>
<p>Per IP address: ${count(limits.REST_REQUESTS_PER_MINUTE)} REST requests, ${count(limits.MCP_REQUESTS_PER_MINUTE)} MCP requests and ${count(limits.WEB_REQUESTS_PER_MINUTE)} pages a minute. ${count(limits.ROSTER_ITEMS_PER_REQUEST)} rows of a roster count as one request. Every response says what is left (<code>X-RateLimit-Remaining</code>); a 429 says when to retry (<code>Retry-After</code>).</p>
<h2>Three examples</h2>
<h3>Verify a number</h3>
${code(`export KEY=YOUR_KEY
curl -s ${address}/api/v1/lookup/verify -H "X-API-Key: $KEY" -H "Content-Type: application/json" \\
  -d '{"board": "Nursing Board", "license_number": "RN.987654321"}'`)}
<h3>Verify a list</h3>
${code(`curl -s ${address}/api/v1/lookup/batch -H "X-API-Key: $KEY" -H "Content-Type: text/csv" \\
  --data-binary 'board,license_number,last_name
Nursing Board,RN.987654321,Example
Nursing Board,,Smith
'`)}
<h3>Learn what has changed</h3>
${code(`curl -s "${address}/api/v1/changes?limit=10" -H "X-API-Key: $KEY"`)}
<h2>More</h2>
<ul><li><a href="/docs">Read and try the REST API</a></li><li><a href="/openapi.json">Its OpenAPI document</a></li><li><a href="/docs#/Changes">The feed of changes</a></li><li><a href="/status">The state of the data</a>, as JSON</li></ul>`;
}

function code(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`;
}

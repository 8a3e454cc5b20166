/**
 * Calls tools with version 1 of the MCP project's TypeScript SDK, which most clients use.
 *
 *     node sdk-v1-client.js URL < calls.json
 *
 * Run it in the folder in which the SDK is installed. It prints the server's results as JSON.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

const require = createRequire(join(process.cwd(), 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const [, , url] = process.argv;
const client = new Client({ name: 'tests', version: '1' });
const transport = new StreamableHTTPClientTransport(new URL(url));

async function answerTo({ tool, arguments: given }) {
  try {
    const { isError, structuredContent, content } = await client.callTool({ name: tool, arguments: given });
    return {
      is_error: isError ?? false,
      structured: structuredContent ?? null,
      text: content.map(({ text }) => text),
    };
  } catch (error) {
    return { thrown: String(error) };
  }
}

await client.connect(transport);
const { tools } = await client.listTools();
const answers = [];
for (const call of await json(process.stdin)) answers.push(await answerTo(call));
const session = { protocol: transport.protocolVersion, tools: tools.map(({ name }) => name), answers };
process.stdout.write(`${JSON.stringify(session)}\n`);
await client.close();

import { appendFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { print } from '../scripts/terminal.ts';
import { textOf } from './evaluation/replay.ts';

/**
 * A model's tools as commands, for a model that can run programs. Each call and each answer is a line of the transcript.
 *
 *     npm run bench conversation -- URL TRANSCRIPT tools
 *     npm run bench conversation -- URL TRANSCRIPT call TOOL ARGUMENTS
 *     npm run bench conversation -- URL TRANSCRIPT answer QUESTION ANSWER
 */
const [url = '', transcript = '', command, first = '', second = ''] = process.argv.slice(3);

async function withClient(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: 'conversation', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

function record(line: object): Promise<void> {
  return appendFile(transcript, `${JSON.stringify(line)}\n`);
}

switch (command) {
  case 'tools':
    await withClient(async (client) => {
      const { tools } = await client.listTools();
      print(client.getInstructions() ?? '');
      for (const { outputSchema: _, ...tool } of tools) print(JSON.stringify(tool, undefined, 1));
    });
    break;
  case 'call':
    await withClient(async (client) => {
      const parameters = JSON.parse(second);
      const { isError, text } = textOf(await client.callTool({ name: first, arguments: parameters }));
      await record({ call: first, arguments: parameters, isError, result: text });
      print(text);
    });
    break;
  case 'answer':
    await record({ question: first, answer: second });
    break;
  default:
    throw new Error('The command is tools, call or answer.');
}

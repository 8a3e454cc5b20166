import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { startServices } from '../scripts/services.ts';
import { evaluationFiles } from '../test/evaluation/licenses.ts';
import { QUESTIONS } from '../test/evaluation/questions.ts';
import { type Replayed, replay, tokensOf } from '../test/evaluation/replay.ts';
import { startService } from '../test/support/service.ts';
import { print } from './lookups/measure.ts';
import { median } from './median.ts';

const result = z.object({ outcome: z.string().optional(), count: z.int().optional() });

/** The tool, and how its call ended. */
function told({ call, isError, content }: Replayed): string {
  const { outcome = 'answered', count } = result.parse(content);
  const ending = isError ? 'refused' : outcome;
  return `${call.tool}: ${ending}${count !== undefined && count > 1 ? ` ${count}` : ''}`;
}

/** Replays the evaluation's questions and prints what came of each, and how many tokens a model reads. */
async function main(): Promise<void> {
  const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
  process.env.OPENSEARCH_URL = services.opensearch;
  process.env.REDIS_URL = services.redis;
  const service = await startService({ files: evaluationFiles });
  const client = new Client({ name: 'evaluation', version: '1' });
  try {
    const address = `http://127.0.0.1:${service.environment.config.PORT}/mcp`;
    await client.connect(new StreamableHTTPClientTransport(new URL(address)));
    const all: number[] = [];
    print('| question | calls | tokens |\n| --- | --- | ---: |');
    for (const question of QUESTIONS) {
      const answers = await replay(client, question);
      const tokens = answers.map((each) => each.tokens);
      all.push(...tokens);
      print(`| ${question.ask} | ${answers.map(told).join('<br>')} | ${tokens.join(' + ')} |`);
    }
    const { tools } = await client.listTools();
    const shown = tools.map(({ outputSchema: _, ...tool }) => tool);
    print(`\nTokens of an answer: median ${median(all)}, most ${Math.max(...all)}.`);
    print(
      `Tokens of the tools as models are shown them, without output schemas: ${tokensOf(JSON.stringify(shown))}.`,
    );
    print(`Tokens of the instructions: ${tokensOf(client.getInstructions() ?? '')}.`);
  } finally {
    await client.close();
    await service.stop();
    await services.stop();
  }
}

await main();

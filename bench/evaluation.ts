import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { evaluationDays } from '../sample-data/evaluation/days.ts';
import { askModel } from '../sample-data/evaluation/model.ts';
import { QUESTIONS } from '../sample-data/evaluation/questions.ts';
import { type Replayed, replay, tokensOf } from '../sample-data/evaluation/replay.ts';
import { startApi, startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { ASKED, type ModelRun, runSummary, writeRun } from '../scripts/questions-page.ts';
import { optionsOf, text } from './options.ts';
import { published } from './published.ts';
import { median } from './rounds.ts';
import { withEnvironment } from './service.ts';

const TRIALS = 3;

const result = z.object({ outcome: z.string().optional(), count: z.int().optional() });

/** The tool and the outcome of its call. */
function summaryOf({ call, isError, content }: Replayed): string {
  const { outcome = 'answered', count } = result.parse(content);
  const ending = isError ? 'refused' : outcome;
  return `${call.tool}: ${ending}${count !== undefined && count > 1 ? ` ${count}` : ''}`;
}

/** Replays the questions, and prints the outcome of each call and the number of tokens that a model reads. */
async function printAnswers(client: Client): Promise<void> {
  const all: number[] = [];
  print('| question | calls | tokens |\n| --- | --- | ---: |');
  for (const question of QUESTIONS) {
    const answers = await replay(client, question);
    const tokens = answers.map((each) => each.tokens);
    all.push(...tokens);
    print(`| ${question.ask} | ${answers.map(summaryOf).join('<br>')} | ${tokens.join(' + ')} |`);
  }
  const { tools } = await client.listTools();
  const shown = tools.map(({ outputSchema: _, ...tool }) => tool);
  print(`\nTokens of an answer: median ${median(all)}, most ${Math.max(...all)}.`);
  print(
    `Tokens of the tools as models are shown them, without output schemas: ${tokensOf(JSON.stringify(shown))}.`,
  );
  print(`Tokens of the instructions: ${tokensOf(client.getInstructions() ?? '')}.`);
}

/**
 * Asks a model each kind of question in three trials, and writes the results into the page of questions. The page only
 * claims what the model's command did.
 */
async function recordModel(client: Client, command: string): Promise<void> {
  const questions: ModelRun['questions'] = [];
  for (const question of ASKED) {
    const trials: ModelRun['questions'][number]['trials'] = [];
    while (trials.length < TRIALS) {
      const { calls, answer, mistakes } = await askModel(client, question, command);
      const tokens = calls.reduce((sum, each) => sum + each.tokens, 0);
      const made = calls.map((each) => ({ arguments: each.call.arguments, ending: summaryOf(each) }));
      trials.push({ calls: made, answer: answer ?? null, tokens, mistakes: [...mistakes] });
    }
    questions.push({ ask: question.ask, trials });
  }
  const run = { askedOn: new Date().toISOString().slice(0, 10), command, questions };
  await writeRun(run);
  print(runSummary(run));
}

const { model } = optionsOf({ model: text });

await withEnvironment(async ({ config, variables, folder }) => {
  const worker = await startWorker(variables);
  try {
    for (const files of await evaluationDays(folder)) await published(config, files, { force: 'bench' });
  } finally {
    await worker.stop();
  }
  const api = await startApi(variables);
  const client = new Client({ name: 'evaluation', version: '1' });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${config.PORT}/mcp`)));
    await (model === undefined ? printAnswers(client) : recordModel(client, model));
  } finally {
    await client.close();
    await api.stop();
  }
});

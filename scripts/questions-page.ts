import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type Call, QUESTIONS } from '../sample-data/evaluation/questions.ts';

const trial = z.strictObject({
  calls: z.array(z.strictObject({ arguments: z.record(z.string(), z.unknown()), ending: z.string() })),
  /** Null if the model made more calls than any question needs. */
  answer: z.string().nullable(),
  /** The number of tokens of all results that the model read. */
  tokens: z.int(),
  mistakes: z.array(z.string()),
});

const modelRun = z.strictObject({
  /** `YYYY-MM-DD`. */
  askedOn: z.string(),
  command: z.string(),
  questions: z.array(z.strictObject({ ask: z.string(), trials: z.array(trial) })),
});

/** A model's answers to the questions, with its calls. */
export type ModelRun = z.output<typeof modelRun>;

/** The questions for models: one of each kind, and the questions that need no tool. */
export const ASKED = QUESTIONS.filter(({ kind, calls }) => kind !== undefined || calls.length === 0);

const RUN_FILE = resolve(import.meta.dirname, '../docs/performance/evaluation.json');
const PAGE_FILE = resolve(import.meta.dirname, '../docs/generated/questions.md');

/** Stores a run, and updates the page with it. */
export async function writeRun(run: ModelRun): Promise<void> {
  await writeFile(RUN_FILE, `${JSON.stringify(run)}\n`);
  await writeFile(PAGE_FILE, questionsPage(run));
}

function recordedRun(): ModelRun | undefined {
  return existsSync(RUN_FILE) ? modelRun.parse(JSON.parse(readFileSync(RUN_FILE, 'utf8'))) : undefined;
}

/**
 * The questions to assistants with their scripted tool calls, test cases made from them, and a model's results, as
 * Markdown.
 */
export function questionsPage(run = recordedRun()): string {
  const questions = QUESTIONS.map(({ ask, calls }) =>
    `1. ${ask}\n${calls.map(callLine).join('\n')}`.trimEnd(),
  );
  return `# Questions to assistants

\`npm run generated-pages\` writes this page from \`sample-data/evaluation/questions.yaml\`. Below each of the ${QUESTIONS.length} questions are the tool calls of a careful assistant. A test replays the calls and checks the facts in their results. \`npm run bench evaluation\` prints how many tokens each answer takes.

\`npm run bench evaluation -- --model COMMAND\` asks a model ${ASKED.length} of them in three trials, and writes what it did below. For each turn, the command reads \`{"instructions", "tools", "question", "calls": [{"tool", "arguments", "result"}]}\` from standard input, and prints \`{"tool", "arguments"}\` or \`{"answer"}\`. An answer is wrong if no call had the facts, if it does not give the date of the data or name a board as the authority, or if it calls somebody unlicensed who was not found.

## What a model did

${run === undefined ? 'No model has been asked yet.' : runText(run)}

## Test cases for directories

Directories of assistants ask for five that need a tool, and three that need none. They need the data of \`sample-data/evaluation\`.

${directoryCases()}

## All questions

${questions.join('\n')}
`;
}

/** Summarizes a model's run in one sentence. */
export function runSummary({ askedOn, command, questions }: ModelRun): string {
  const trials = questions.flatMap((question) => question.trials);
  const right = trials.filter(({ mistakes }) => mistakes.length === 0).length;
  const once = trials.filter(({ calls }) => calls.length <= 1).length;
  return `Asked on ${askedOn} by \`${command}\`: ${right} of ${trials.length} answers without a mistake, ${once} with one call or none.`;
}

function runText(run: ModelRun): string {
  const questions = run.questions.map(({ ask, trials }) => `1. ${ask}\n${trials.map(trialLine).join('\n')}`);
  return `${runSummary(run)}\n\n${questions.join('\n')}`;
}

function trialLine({
  calls,
  answer,
  tokens,
  mistakes,
}: ModelRun['questions'][number]['trials'][number]): string {
  const made = calls.map((call) => `${call.ending} ${code(JSON.stringify(call.arguments))}`);
  const faults = mistakes.length === 0 ? '' : `. Mistakes: ${mistakes.join(', ')}`;
  return `   - ${[...made, `${tokens} tokens`, `answer ${code(answer ?? 'none')}`].join('; ')}${faults}`;
}

/** Text as inline code on one line, which no character in the text can end. */
function code(text: string): string {
  return `\`${text.replaceAll('`', "'").replaceAll(/\s+/g, ' ').trim()}\``;
}

/** For each lookup tool, the first question that needs only one call; and the questions that need no call. */
function directoryCases(): string {
  const single = QUESTIONS.flatMap(({ ask, calls: [call, another] }) =>
    call === undefined || another !== undefined ? [] : [{ ask, call }],
  );
  const positive = [...Map.groupBy(single, ({ call }) => call.tool)].flatMap(([tool, [first]]) =>
    tool === 'list_ohio_boards' || first === undefined
      ? []
      : [`1. ${first.ask}\n${callLine(first.call)}, with ${code(JSON.stringify(first.call.facts))}`],
  );
  const negative = QUESTIONS.filter(({ calls }) => calls.length === 0);
  return [...positive, ...negative.map(({ ask }) => `1. ${ask}\n   - no call`)].join('\n');
}

function callLine({ tool, arguments: given, isError, facts }: Call): string {
  const { outcome = 'answered', count } = facts;
  const ending = isError
    ? 'refused'
    : `${outcome}${typeof count === 'number' && count > 1 ? ` ${count}` : ''}`;
  return `   - \`${tool}\` \`${JSON.stringify(given)}\`: ${ending}`;
}

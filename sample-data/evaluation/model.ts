import { partialDeepStrictEqual } from 'node:assert/strict';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { run } from '../../scripts/processes.ts';
import type { Question } from './questions.ts';
import { called, type Replayed } from './replay.ts';

/** The limit of calls for one question. A careful agent needs two. */
const MAX_CALLS = 8;

const TURN_WITHIN_MS = 120_000;

/** The output of a model's command: a tool to call, or its answer to the person who asked. */
const turn = z.union([
  z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) }),
  z.strictObject({ answer: z.string() }),
]);

/** The JSON input of a command, once for each turn. A command keeps no state between turns. */
const modelInput = z.object({
  instructions: z.string(),
  tools: z.array(z.unknown()),
  question: z.string(),
  /** The calls so far, each with the result text that the model reads. */
  calls: z.array(
    z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()), result: z.string() }),
  ),
});

/** A model's calls and answer to one question, and its mistakes. */
export interface Graded {
  readonly calls: readonly Replayed[];
  /** The answer; `undefined` if the model made more calls than any question needs. */
  readonly answer: string | undefined;
  /** The mistakes; empty if there were none. */
  readonly mistakes: readonly string[];
}

/**
 * Asks a model one question: the model calls tools as it likes and answers.
 *
 * @param command a shell command that reads a `modelInput` and prints a tool to call or its answer, as JSON
 * @throws {Error} when the command fails or prints anything else
 */
export async function askModel(client: Client, question: Question, command: string): Promise<Graded> {
  const { tools } = await client.listTools();
  const shown = tools.map(({ outputSchema: _, ...tool }) => tool);
  const calls: Replayed[] = [];
  for (;;) {
    const input: z.output<typeof modelInput> = {
      instructions: client.getInstructions() ?? '',
      tools: shown,
      question: question.ask,
      calls: calls.map(({ call, text }) => ({ tool: call.tool, arguments: call.arguments, result: text })),
    };
    const options = { name: 'the model', input: JSON.stringify(input), withinMs: TURN_WITHIN_MS };
    const next = turn.parse(JSON.parse(await run('sh', ['-c', command], options)));
    if ('answer' in next) {
      return { calls, answer: next.answer, mistakes: mistakesIn(question, calls, next.answer) };
    }
    if (calls.length === MAX_CALLS) return { calls, answer: undefined, mistakes: ['no answer'] };
    calls.push(await called(client, next));
  }
}

/** The result of the last scripted call contains what the question asks for. */
function mistakesIn({ calls: scripted }: Question, calls: readonly Replayed[], answer: string): string[] {
  if (scripted.length === 0) return calls.length === 0 ? [] : ['a call, although none is needed'];
  const wanted = scripted.at(-1)?.facts ?? {};
  const isMiss = 'outcome' in wanted && wanted.outcome !== 'found';
  const checks: readonly (readonly [string, boolean])[] = [
    ['no call with the facts', calls.some(({ content }) => hasFacts(content, wanted))],
    ['no date of the data', calls.every(({ content }) => saysDate(answer, content))],
    ['no issuing board as the authority', /\bboard/i.test(answer)],
    [
      'says that somebody is unlicensed',
      !(isMiss && /\bunlicensed\b|\b(?:not|isn.t) licensed\b/i.test(answer)),
    ],
  ];
  return checks.flatMap(([mistake, isRight]) => (isRight ? [] : [mistake]));
}

function hasFacts(content: unknown, facts: object): boolean {
  try {
    partialDeepStrictEqual(content, facts);
    return true;
  } catch {
    return false;
  }
}

const dated = z.object({ data_as_of: z.iso.date() });

/** Whether an answer contains the date of a result: `2026-11-20`, `November 20, 2026` or `Nov 20, 2026`. */
function saysDate(answer: string, content: unknown): boolean {
  const date = dated.safeParse(content).data?.data_as_of;
  if (date === undefined) return true;
  const written = (['long', 'short'] as const).map((month) =>
    new Date(date).toLocaleDateString('en-US', { timeZone: 'UTC', year: 'numeric', month, day: 'numeric' }),
  );
  return [date, ...written].some((text) => answer.includes(text));
}

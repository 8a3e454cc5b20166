import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { QUESTIONS } from '../../sample-data/evaluation/questions.ts';

/**
 * A program that stands in for a model: it calls tools and answers according to the question's script. As `hasty` it
 * answers at once; as `endless` it never answers.
 */
const input = z.object({ question: z.string(), calls: z.array(z.object({ result: z.string() })) });

const [manner] = process.argv.slice(2);
const { question, calls } = input.parse(JSON.parse(await text(process.stdin)));
const next = QUESTIONS.find(({ ask }) => ask === question)?.calls[manner === 'endless' ? 0 : calls.length];
const result = z
  .object({ data_as_of: z.string().default('') })
  .parse(JSON.parse(calls.at(-1)?.result ?? '{}'));

function turn(): object {
  if (manner === 'hasty') return { answer: 'This person is unlicensed.' };
  if (next !== undefined) return { tool: next.tool, arguments: next.arguments };
  return { answer: `See above, as of ${result.data_as_of}. The issuing board is the authority.` };
}

process.stdout.write(JSON.stringify(turn()));

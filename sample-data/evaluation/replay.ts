import type { Client } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';
import type { Call, Question } from './questions.ts';

/** The result of a call. */
export interface Replayed {
  readonly call: Call;
  readonly isError: boolean;
  readonly content: unknown;
  /** The text that a model reads. */
  readonly text: string;
  /** The number of o200k tokens of the text. Tokenizers of other models differ by about a third. */
  readonly tokens: number;
}

const toolResult = z.object({
  isError: z.boolean().default(false),
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
});

/** Makes the calls of a question in order. */
export async function replay(client: Client, { calls }: Question): Promise<Replayed[]> {
  const replayed: Replayed[] = [];
  for (const call of calls) {
    const result = await client.callTool({ name: call.tool, arguments: call.arguments });
    const { isError, content } = toolResult.parse(result);
    const [{ text }] = content;
    replayed.push({ call, isError, content: JSON.parse(text), text, tokens: tokensOf(text) });
  }
  return replayed;
}

export function tokensOf(text: string): number {
  return encode(text).length;
}

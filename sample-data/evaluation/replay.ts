import type { Client } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';
import type { Call, Question } from './questions.ts';

/** A call, made by a script or by a model, with its result. */
export interface Replayed<Made = Pick<Call, 'tool' | 'arguments'>> {
  readonly call: Made;
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
export async function replay(client: Client, { calls }: Question): Promise<Replayed<Call>[]> {
  const replayed: Replayed<Call>[] = [];
  for (const call of calls) replayed.push(await called(client, call));
  return replayed;
}

/** Makes one call. @throws {Error} for a tool that does not exist */
export async function called<Made extends Pick<Call, 'tool' | 'arguments'>>(
  client: Client,
  call: Made,
): Promise<Replayed<Made>> {
  const result = await client.callTool({ name: call.tool, arguments: call.arguments });
  const { isError, content } = toolResult.parse(result);
  const [{ text }] = content;
  return { call, isError, content: JSON.parse(text), text, tokens: tokensOf(text) };
}

export function tokensOf(text: string): number {
  return encode(text).length;
}

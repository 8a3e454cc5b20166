import type { Client } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';

/** A scripted tool call, as a careful agent makes it, and what the result must contain. */
export interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether the tool refuses the call. */
  readonly isError?: boolean;
  /** Fields that the result must have. It may have more. */
  readonly facts: object;
  /** What its text must match. */
  readonly says?: RegExp;
  /** What its text must not contain. */
  readonly never?: readonly string[];
}

/** A question to an assistant. */
export interface Question {
  readonly ask: string;
  readonly calls: readonly Call[];
}

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

/** The text of a tool's result, which a model reads. */
export function textOf(result: unknown): { readonly isError: boolean; readonly text: string } {
  const { isError, content } = toolResult.parse(result);
  const [{ text }] = content;
  return { isError, text };
}

/** Makes the calls of a question in order. */
export async function replay(client: Client, { calls }: Question): Promise<Replayed[]> {
  const replayed: Replayed[] = [];
  for (const call of calls) {
    const result = await client.callTool({ name: call.tool, arguments: { ...call.arguments } });
    const { isError, text } = textOf(result);
    replayed.push({ call, isError, content: JSON.parse(text), text, tokens: tokensOf(text) });
  }
  return replayed;
}

export function tokensOf(text: string): number {
  return encode(text).length;
}

import type { Client } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';

/** A call that a careful agent makes, and what the answer must have. */
export interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | number>>;
  /** Whether the tool refuses the call. */
  readonly isError?: boolean;
  /** What the answer has, more aside. */
  readonly facts: object;
  /** What its message says. */
  readonly says?: RegExp;
  /** What stands nowhere in it. */
  readonly never?: readonly string[];
}

/** A question that an assistant gets. */
export interface Question {
  readonly ask: string;
  readonly calls: readonly Call[];
}

/** What came of a call. */
export interface Replayed {
  readonly call: Call;
  readonly isError: boolean;
  readonly content: unknown;
  /** The answer as a model reads it. */
  readonly text: string;
  /** Of the text, by the o200k tokenizer; other models' differ by a third or so. */
  readonly tokens: number;
}

const toolResult = z.object({
  isError: z.boolean().default(false),
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
});

/** Makes a question's calls, one after the other. */
export async function replay(client: Client, { calls }: Question): Promise<Replayed[]> {
  const replayed: Replayed[] = [];
  for (const call of calls) {
    const result = await client.callTool({ name: call.tool, arguments: { ...call.arguments } });
    const { isError, content } = toolResult.parse(result);
    const [{ text }] = content;
    replayed.push({ call, isError, content: JSON.parse(text), text, tokens: tokensOf(text) });
  }
  return replayed;
}

export function tokensOf(text: string): number {
  return encode(text).length;
}

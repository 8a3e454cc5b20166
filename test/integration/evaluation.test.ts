import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { askModel } from '../../sample-data/evaluation/model.ts';
import { QUESTIONS } from '../../sample-data/evaluation/questions.ts';
import { type Replayed, replay, tokensOf } from '../../sample-data/evaluation/replay.ts';
import { sharedService } from '../support/shared-service.ts';

const MAX_TOKENS = 15_000;
/** The most tokens of a short response: one license, a few, none, or an error. */
const MAX_TOKENS_OF_SHORT_RESULT = 1000;
const SHORT = 5;

const counted = z.object({ count: z.number().default(0), boards: z.unknown().optional() });

const { environment } = await sharedService('evaluation');
const client = new Client({ name: 'evaluation', version: '1' });
await client.connect(
  new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${environment.config.PORT}/mcp`)),
);
afterAll(() => client.close());

const letters = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Everything that an agent has read before a call: the tools, the question and the earlier results. */
async function readBefore(ask: string, answers: readonly Replayed[]): Promise<string> {
  const { tools } = await client.listTools();
  return letters([JSON.stringify(tools), ask, ...answers.map(({ text }) => text)].join(' '));
}

test.each(QUESTIONS)('the scripted calls answer $ask', async (question) => {
  const answers = await replay(client, question);
  for (const [at, { call, isError, content, text, tokens }] of answers.entries()) {
    expect([call.arguments, isError]).toEqual([call.arguments, call.isError ?? false]);
    expect(content).toMatchObject({ data_as_of: '2026-11-20', ...call.facts });
    if (call.says !== undefined) expect(text).toMatch(call.says);
    for (const words of call.never ?? []) expect(text).not.toContain(words);
    expect(tokens).toBeLessThan(isShort(content) ? MAX_TOKENS_OF_SHORT_RESULT : MAX_TOKENS);
    // An agent can only send what it has read.
    const read = await readBefore(question.ask, answers.slice(0, at));
    for (const value of Object.values(call.arguments)) {
      if (typeof value !== 'string') continue;
      // The prefix of a bare number may stand elsewhere.
      const parts = letters(value).match(/[a-z]+|\d+/g) ?? [];
      expect([value, parts.every((part) => read.includes(part))]).toEqual([value, true]);
    }
  }
});

function isShort(content: unknown): boolean {
  const { count, boards } = counted.parse(content);
  return count <= SHORT && boards === undefined;
}

describe('a model', () => {
  const command = (manner: string) =>
    `'${process.execPath}' '${resolve(import.meta.dirname, '../support/scripted-model.ts')}' ${manner}`;
  const asked = async (ask: string, manner: string, run = command(manner)) => {
    const question = QUESTIONS.find((each) => each.ask === ask);
    if (question === undefined) throw new Error(`There is no question ${ask}`);
    return askModel(client, question, run);
  };
  const MISS = 'Is nurse Beatrice Hollaway licensed?';

  test.each([
    [MISS, 1],
    ['Check number 35.900088812 with the Ohio Nursing Board.', 2],
    ['Is the lawyer John Marsh licensed in Ohio?', 1],
    ['Has Beatrice Holloway, RN.900418822, renewed her license this month?', 1],
    ['How do I renew my Ohio driver’s license?', 0],
  ])('that calls as the script does, and tells the date and the authority: %s', async (ask, made) => {
    const { calls, mistakes } = await asked(ask, 'careful');
    expect([calls.length, mistakes]).toEqual([made, []]);
  });

  const HASTY = ['no call with the facts', 'no issuing board as the authority'];

  test.each([
    ['answers without a call', 'hasty', [...HASTY, 'says that somebody is unlicensed'], 0],
    ['never answers', 'endless', ['no answer'], 8],
  ])('that %s has the mistakes told', async (_what, manner, expected, made) => {
    const { calls, mistakes } = await asked(MISS, manner);
    expect([calls.length, mistakes]).toEqual([made, expected]);
  });

  test.each(['exit 3', 'echo hello', `echo '{"tool": 7}'`])('whose command is %j fails', async (failing) => {
    await expect(asked(MISS, 'careful', failing)).rejects.toThrow();
  });
});

test('a hundred matches take less than 15,000 tokens', async () => {
  const parameters = { board: 'Nursing Board', last_name: 'Baxter' };
  const call = { name: 'search_licenses_by_name', arguments: parameters };
  const { content, structuredContent } = await client.callTool(call);
  expect(structuredContent).toMatchObject({ count: 100, truncated: true });
  expect(tokensOf(JSON.stringify(content))).toBeLessThan(MAX_TOKENS);
});

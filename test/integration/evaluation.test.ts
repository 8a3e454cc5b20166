import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { askModel } from '../../sample-data/evaluation/model.ts';
import { QUESTIONS } from '../../sample-data/evaluation/questions.ts';
import { type Replayed, replay, tokensOf } from '../../sample-data/evaluation/replay.ts';
import { questionsPage } from '../../scripts/questions-page.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';

const MAX_TOKENS = 15_000;
/** The most tokens of a short response: one license, a few, none, or an error. */
const MAX_TOKENS_OF_SHORT_RESULT = 1000;
const SHORT = 5;

const counted = z.object({ count: z.number().default(0), boards: z.unknown().optional() });

let service: ReadService;
let client: Client;

beforeAll(async () => {
  service = await sharedService('evaluation');
  client = new Client({ name: 'evaluation', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${service.environment.config.PORT}/mcp`)),
  );
});
afterAll(() => client.close());

function letters(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Everything that an agent has read before a call: the tools, the question and the earlier results. */
async function readBefore(ask: string, answers: readonly Replayed[]): Promise<string> {
  const { tools } = await client.listTools();
  return letters([JSON.stringify(tools), ask, ...answers.map(({ text }) => text)].join(' '));
}

test('the questions are different, and of 25 kinds; three need no tool', () => {
  expect(new Set(QUESTIONS.map(({ ask }) => ask)).size).toBe(QUESTIONS.length);
  const kinds = QUESTIONS.flatMap(({ kind = [] }) => kind);
  expect([kinds.length, new Set(kinds).size]).toEqual([25, 25]);
  expect(QUESTIONS.filter(({ calls }) => calls.length === 0)).toHaveLength(3);
});

test('the page of the questions has what a model did, and test cases of five tools', () => {
  const call = { arguments: { license_number: 'RN.1' }, ending: 'verify_license: found' };
  const trial = {
    calls: [call],
    answer: 'Yes | as of\n2026-11-20.',
    tokens: 7,
    mistakes: ['no date of the data'],
  };
  const right = { ...trial, mistakes: [] };
  const run = {
    askedOn: '2026-11-27',
    command: 'ask',
    questions: [{ ask: 'Is it?', trials: [trial, right, right] }],
  };
  const page = questionsPage(run);
  expect(page).toContain(
    'Asked on 2026-11-27 by `ask`: 2 of 3 answers without a mistake, 3 with one call or none.',
  );
  expect(page).toContain(
    '1. Is it?\n   - verify_license: found `{"license_number":"RN.1"}`; 7 tokens; answer `Yes | as of 2026-11-20.`. Mistakes: no date of the data\n',
  );
  const [, cases = ''] = page.split(/## Test cases for directories|## All questions/);
  expect(new Set(cases.match(/(?<=- `)\w+(?=` `\{)/g)).size).toBe(5);
  expect(cases.match(/- no call/g)).toHaveLength(3);
});

describe('the scripted calls answer', () => {
  test.each(QUESTIONS)('$ask', async (question) => {
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
});

function isShort(content: unknown): boolean {
  const { count, boards } = counted.parse(content);
  return count <= SHORT && boards === undefined;
}

describe('a model', () => {
  const command = (manner: string) =>
    `'${process.execPath}' '${resolve(import.meta.dirname, '../support/scripted-model.ts')}' ${manner}`;
  const asked = (ask: string, manner: string) => {
    const question = QUESTIONS.find((each) => each.ask === ask);
    if (question === undefined) throw new Error(`There is no question ${ask}`);
    return askModel(client, question, command(manner));
  };
  const MISS = 'Is nurse Beatrice Hollaway licensed?';

  test.each([
    [MISS, 1],
    ['Check number 35.900088812 with the Ohio Nursing Board.', 2],
    ['Is the lawyer John Marsh licensed in Ohio?', 1],
    ['Has Beatrice Holloway, RN.900418822, renewed her license this month?', 1],
    ['How do I renew my Ohio driver’s license?', 0],
  ])(
    'that calls as the script does and says the date and the authority has no mistake: %s',
    async (ask, made) => {
      const { calls, mistakes } = await asked(ask, 'careful');
      expect([calls.length, mistakes]).toEqual([made, []]);
    },
  );

  test('that answers without a call has the mistakes told', async () => {
    const { calls, mistakes } = await asked(MISS, 'hasty');
    expect(calls).toEqual([]);
    expect(mistakes).toEqual([
      'no call with the facts',
      'no issuing board as the authority',
      'says that somebody is unlicensed',
    ]);
  });

  test('that never answers is stopped', async () => {
    const { calls, answer, mistakes } = await asked(MISS, 'endless');
    expect([calls.length, answer, mistakes]).toEqual([8, undefined, ['no answer']]);
  });

  test.each(['exit 3', 'echo hello', `echo '{"tool": 7}'`])('whose command is %j fails', async (failing) => {
    const [question] = QUESTIONS;
    if (question === undefined) throw new Error('There are no questions.');
    await expect(askModel(client, question, failing)).rejects.toThrow();
  });
});

test('a hundred matches take less than 15,000 tokens', async () => {
  const call = {
    name: 'search_licenses_by_name',
    arguments: { board: 'Nursing Board', last_name: 'Baxter' },
  };
  const { content, structuredContent } = await client.callTool(call);
  expect(structuredContent).toMatchObject({ count: 100, truncated: true });
  expect(tokensOf(JSON.stringify(content))).toBeLessThan(MAX_TOKENS);
});

import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { runProgram } from '../../scripts/processes.ts';
import { commandsToTry, startSample } from '../../scripts/welcome.ts';
import { daysBetween } from '../../src/licenses/dates.ts';
import { licenseRecord } from '../../src/licenses/license.ts';
import { describeUnless, missing } from '../support/describe-unless.ts';
import {
  codeBlocks,
  DOCUMENTED_ADDRESS,
  DOCUMENTS,
  documentedCommands,
  documentText,
} from '../support/documented.ts';
import { issuableNumbers } from '../support/issuable-numbers.ts';
import { openApiIn, requestExamples, responseExamples } from '../support/openapi.ts';
import { startSampleService } from '../support/shared-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const VERIFY = '/api/v1/lookup/verify';
const NURSING = 'Nursing Board';

const { date, rest, url } = await startSampleService();
const document = openApiIn(await rest.get('/openapi.json'));

/** Runs a documented command against this service, with its key in $KEY and $LICENSES_KEY. */
async function answerTo(command: string): Promise<unknown> {
  const { code, stdout, stderr } = await runProgram(
    ['bash', '-c', command.replace(DOCUMENTED_ADDRESS, url)],
    { variables: { KEY: rest.key, LICENSES_KEY: rest.key } },
  );
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const toolAnswer = z.object({ result: z.object({ structuredContent: z.record(z.string(), z.unknown()) }) });

/** The tool result in a response of the MCP server. Any other response unchanged. */
function shownOf(answer: unknown): unknown {
  const { success, data } = toolAnswer.safeParse(answer);
  return success ? data.result.structuredContent : answer;
}

const DATED_FIELDS = new Set(['days_until_expiry', 'last_scraped', 'data_as_of', 'data_age_days']);

/** A response as formatted JSON, without values that depend on the day. */
function withoutDates(answer: unknown): string {
  const masked = (name: string, value: unknown) => {
    if (DATED_FIELDS.has(name)) return value === null ? null : `(${typeof value})`;
    return typeof value === 'string'
      ? value.replace(/dataset of \d{4}-\d\d-\d\d/, 'dataset of (date)')
      : value;
  };
  return JSON.stringify(answer, masked, 2);
}

const found = z.union([
  z.object({ found: z.literal(true) }),
  z.object({ outcome: z.literal('found') }),
  z.object({ summary: z.object({ found: z.int().min(1) }) }),
  z.object({ record: z.object({ found: z.literal(true) }) }),
  z.object({ changes: z.array(z.unknown()), next: z.string() }),
  z.object({ publication: z.object({ sample: z.literal(true) }) }),
  licenseRecord,
]);

describeUnless(missing('curl'), 'the documented commands', () => {
  const withResponses = ['README.md'];
  const files = ['README.md', 'docs/api.md', 'docs/mcp.md', 'docs/tutorial.md'];

  test.each(files)('in %s find licenses and print the documented response', async (file) => {
    const commands = documentedCommands(file);
    for (const { command, response } of commands) {
      const shown = shownOf(await answerTo(command));
      found.parse(shown);
      if (response !== undefined) expect(withoutDates(shown)).toBe(withoutDates(JSON.parse(response)));
    }
    expect(commands.some(({ response }) => response !== undefined)).toBe(withResponses.includes(file));
  });

  test('are only in the documents listed here', () => {
    expect(DOCUMENTS.filter((file) => documentedCommands(file).length > 0)).toEqual(files);
  });

  test('that npm start prints find licenses', async () => {
    const commands = commandsToTry(url, rest.key);
    expect(commands).toHaveLength(3);
    for (const command of commands) found.parse(shownOf(await answerTo(command)));
  });
});

test('the OpenAPI document, the tools and the pages have no license number that a board could issue', async () => {
  const tools = rest.request('POST', '/mcp', {
    headers: { accept: 'application/json, text/event-stream' },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  });
  const pages = ['/openapi.json', '/', '/developers'].map((path) => rest.get(path));
  for (const { text } of await Promise.all([tools, ...pages])) {
    expect(text).toContain('RN.987654321');
    expect(issuableNumbers(text)).toEqual([]);
  }
});

describe('docs/assistants.md', () => {
  const license = {
    ...{ full_name: 'EXAMPLE, PAT SAMPLE', license_type: 'Registered Nurse (RN)' },
    ...{ raw_status: 'Active', board_action: 'No' },
  };
  /** For each question in the table, the parameters of the tool call, and the result that the table shows. */
  const QUESTIONS: [question: string, parameters: Record<string, string>, result: object][] = [
    ['Is Ohio nurse RN.987654321 licensed?', { license_number: 'RN.987654321' }, { licenses: [license] }],
    [
      'RN.987654321 should be a nurse called Jones. Is that so?',
      { license_number: 'RN.987654321', last_name: 'Jones' },
      { licenses: [{ name_match: false }] },
    ],
    [
      'Look up nurse Smyth in Ohio.',
      { board: NURSING, last_name: 'Smyth' },
      { outcome: 'not_found', did_you_mean: ['SMITH'] },
    ],
  ];

  test.each(QUESTIONS)('%s', async (_question, parameters, result) => {
    const tool = 'license_number' in parameters ? 'verify_license' : 'search_licenses_by_name';
    const { body } = await rest.callTool(tool, parameters);
    expect(shownOf(body)).toMatchObject({ ...result, message: expect.stringMatching(/^SAMPLE DATA: /) });
  });

  test('has exactly these questions and license numbers', () => {
    const text = documentText('docs/assistants.md');
    const [, table = ''] = text.split('\n## Examples\n');
    const asked = [...table.matchAll(/^\| ([^|]*[.?]) +\|/gm)].map(([, question = '']) => question.trim());
    expect(asked).toEqual(QUESTIONS.map(([question]) => question));
    expect(new Set(text.match(/\b[A-Z]{2}\.\d+/g))).toEqual(new Set(['RN.987654321']));
  });

  test('docs/mcp.md has a TypeScript program that prints the license', async () => {
    const program = codeBlocks('docs/mcp.md').find((block) => block.startsWith('import {')) ?? '';
    const { code, stdout, stderr } = await runProgram(
      [process.execPath, '--input-type=module', '--eval', program.replace(DOCUMENTED_ADDRESS, url)],
      { cwd: ROOT },
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('EXAMPLE, PAT SAMPLE');
  });
});

const folder = temporaryFolder();

test("the tutorial's next day differs from the sample data in the license of its nurse alone", async () => {
  const block = codeBlocks('docs/tutorial.md').find((each) => each.startsWith('sed ')) ?? '';
  const [command = ''] = block.split('\n');
  const sample = { ...startSample(), rows: 2000, directory: folder.path('.local/sample') };
  const { individual } = await writeSampleData(sample);
  const { code } = await runProgram(['bash', '-c', command], { cwd: folder.path() });
  expect(code).toBe(0);
  const linesOf = async (file: string) => (await readFile(file, 'utf8')).split('\n');
  const before = new Set(await linesOf(individual));
  const changed = (await linesOf(folder.path('next.csv'))).filter((line) => !before.has(line));
  expect(changed).toEqual([expect.stringMatching(/RN\.987654321,.*,Inactive,Suspended,,Yes,/)]);
});

const EXAMPLES_FILE = 'data/openapi-examples.json';
const EXAMPLES = z
  .record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown())))
  .parse(JSON.parse(documentText(EXAMPLES_FILE)));
const EXAMPLE_DATE = '2026-11-20';
const EXAMPLE_CURSOR = '0f3a9c2be871.3k.1f0c2d3e';
const PAT = { board: NURSING, license_number: 'RN.987654321' };
const MISTYPED = { board: NURSING, license_number: 'RN.987654312' };
const UNKNOWN_BOARD = { board: 'Nursing', license_number: 'RN.987654321' };

/** Requests whose responses the OpenAPI document shows: the operation, the name of the example, the request. */
const ASKED: readonly [id: string, name: string, method: string, path: string, body?: object][] = [
  ...['verify', 'cached'].flatMap((id): typeof ASKED => [
    [id, 'record', 'POST', `/lookup/${id}`, PAT],
    [id, 'matches', 'POST', `/lookup/${id}`, { board: NURSING, last_name: 'Example' }],
    [id, 'no_match', 'POST', `/lookup/${id}`, { board: NURSING, last_name: 'Exampel' }],
    [id, 'unknown', 'POST', `/lookup/${id}`, MISTYPED],
    [id, 'example', 'POST', `/lookup/${id}`, UNKNOWN_BOARD],
  ]),
  ['verifyRoster', 'example', 'POST', '/lookup/batch', EXAMPLES.verifyRoster?.request?.roster ?? {}],
  ['verifyRoster', 'example', 'POST', '/lookup/batch', { items: [] }],
  ['boardTypes', 'example', 'GET', '/lookup/boards/Nursing/types'],
  ['boardTypes', 'example', 'GET', '/lookup/nothing'],
  ['changes', 'example', 'GET', '/changes?since=x'],
  ['history', 'example', 'GET', `/history?board=${NURSING}`],
  ['subscribe', 'example', 'POST', '/subscriptions', UNKNOWN_BOARD],
  ['subscribe', 'unknown', 'POST', '/subscriptions', MISTYPED],
  ['subscribeAll', 'example', 'POST', '/subscriptions/batch', { items: [] }],
  ['subscriptions', 'example', 'GET', '/subscriptions?after=x'],
  ['unsubscribe', 'example', 'DELETE', '/subscriptions/x'],
  ['saveRecord', 'example', 'POST', '/records', { ...PAT, reference: 'x\ny' }],
  ['saveRecord', 'unknown', 'POST', '/records', MISTYPED],
  ['putWebhook', 'example', 'PUT', '/webhook', {}],
  ['putWebhook', 'example', 'PUT', '/webhook', { url: 'https://hooks.example.com/licenses' }],
  ['webhook', 'example', 'GET', '/webhook'],
  ['deleteWebhook', 'example', 'DELETE', '/webhook'],
  ['testWebhook', 'example', 'POST', '/webhook/test'],
  ['rotateWebhook', 'example', 'POST', '/webhook/rotate'],
];

/** An answer, as it was on a day. */
const asOf = (date: string, text: string) =>
  JSON.stringify(JSON.parse(text), function (this: unknown, name, value: unknown) {
    if (name === 'data_age_days') return 0;
    if (name === 'feed_cursor') return EXAMPLE_CURSOR;
    if (name !== 'days_until_expiry' || typeof value !== 'number') return value;
    const { expiry_date: expires } = z.looseObject({ expiry_date: z.string() }).parse(this);
    return daysBetween(date, expires);
  });

const PATHS = [VERIFY, '/api/v1/lookup/cached'];

test('the OpenAPI document has example requests that find one license each', async () => {
  const examples = requestExamples(document, 'post', VERIFY);
  expect(await Promise.all(examples.map((example) => rest.verify(example)))).toMatchObject([
    ...Array(2).fill({ body: { license_number: 'RN.987654321' } }),
    { body: { full_name: 'EXAMPLE PHARMACY INC' } },
  ]);
});

test('the OpenAPI document has the responses that the service gives', async () => {
  const recorded: typeof EXAMPLES = structuredClone(EXAMPLES);
  for (const [id, name, method, path, body] of ASKED) {
    const answer = await rest.request(method, `/api/v1${path}`, { json: body });
    const examples = recorded[id]?.[answer.status] ?? {};
    examples[name] = JSON.parse(asOf(EXAMPLE_DATE, answer.text.replaceAll(date, EXAMPLE_DATE)));
    recorded[id] = { ...recorded[id], [answer.status]: examples };
  }
  if (process.env.RECORD === '1') await writeFile(EXAMPLES_FILE, `${JSON.stringify(recorded, null, 2)}\n`);
  else expect(EXAMPLES).toEqual(recorded);
});

test('the OpenAPI document has no further example response for a valid lookup', () => {
  for (const path of PATHS) {
    const names = ['200', '404'].flatMap((status) =>
      Object.keys(responseExamples(document, 'post', path, status)),
    );
    expect(names).toEqual(['record', 'matches', 'no_match', 'unknown']);
  }
});

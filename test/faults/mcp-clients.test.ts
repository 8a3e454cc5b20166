/** @long @room clients */
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { installedPackages } from '../support/npm-packages.ts';
import { installedRequirements, NO_PYTHON, runPython } from '../support/python.ts';
import { sharedService } from '../support/shared-service.ts';

const PROGRAMS = resolve(import.meta.dirname, '../mcp-clients');
const MODERN = '2026-07-28';
const BEFORE = '2025-11-25';
const NURSING = 'Nursing Board';

/** The Inspector's exit code after a tool call that failed. */
const TOOL_ERROR = 5;

const INSTALLED_WITHIN_MS = 300_000;

type Call = { readonly tool: string; readonly arguments: Readonly<Record<string, string>> };

/** What a client returned for a call, or the error that it threw. */
const answer = z.union([
  z.strictObject({ is_error: z.boolean(), structured: z.unknown(), text: z.array(z.string()) }),
  z.strictObject({ thrown: z.string() }),
]);

const names = z.array(z.string());
const session = z.strictObject({ protocol: z.string(), tools: names, answers: z.array(answer) });

type Answer = z.output<typeof answer>;
type Session = z.output<typeof session>;

/** Lists the tools and makes these calls with one client. */
type AskingClient = (calls: readonly Call[]) => Promise<Session>;

/** Of each kind of result and of error. What they contain, mcp-tools.test.ts proves with the current TypeScript SDK. */
const CALLS: readonly Call[] = [
  { tool: 'verify_license', arguments: { license_number: 'RN.700001' } },
  { tool: 'search_licenses_by_name', arguments: { board: NURSING, last_name: 'Smith', first_name: 'Mary' } },
  { tool: 'verify_business_license', arguments: { business_name: 'smith funeral' } },
  { tool: 'list_ohio_boards', arguments: {} },
  { tool: 'verify_license', arguments: { license_number: 'RN.999999' } },
  { tool: 'verify_license', arguments: { license_number: 'APRN.CNP.70001' } },
  { tool: 'verify_license', arguments: { license_number: 'RN.700001', board: 'Nursing Bord' } },
  { tool: 'verify_license', arguments: {} },
];
const REFUSED = 2;

const service = await sharedService();
const packages = await installedPackages(PROGRAMS);

const url = `http://127.0.0.1:${service.environment.config.PORT}/mcp`;

/** Expects that a client finds the tools and gets the results that the current TypeScript SDK gets. */
async function expectSame(ask: AskingClient, protocol: string): Promise<void> {
  const asked = await ask(CALLS);
  const { tools, answers } = bySdk;
  const found = { ...asked, tools: asked.tools.toSorted() };
  expect(found).toEqual({ protocol, tools: tools.toSorted(), answers });
}

/** The session that a program printed. A program that fails prints the reason on standard error. */
function sessionIn({ code, stdout, stderr }: CommandResult): Session {
  expect([code, stderr]).toEqual([0, '']);
  return session.parse(JSON.parse(stdout));
}

const toolResult = z.object({
  isError: z.boolean().default(false),
  structuredContent: z.unknown().default(null),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
});

function answerIn(result: unknown): Answer {
  const { isError, structuredContent, content } = toolResult.parse(result);
  return { is_error: isError, structured: structuredContent, text: content.map(({ text }) => text) };
}

/** The TypeScript SDK, in this process. */
async function askBySdk(): Promise<Session> {
  const versionNegotiation = { mode: { pin: MODERN } };
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    const { tools } = await client.listTools();
    const answers: Answer[] = [];
    for (const { tool: name, arguments: given } of CALLS)
      answers.push(answerIn(await client.callTool({ name, arguments: given })));
    const protocol = client.getNegotiatedProtocolVersion() ?? '';
    return { protocol, tools: tools.map(({ name }) => name), answers };
  } finally {
    await client.close();
  }
}

/** Runs the Inspector as a command with its own home directory. */
function inspect(era: string, method: string, ...parameters: string[]): Promise<CommandResult> {
  const inspector = join(packages, 'node_modules/.bin/mcp-inspector');
  const target = ['--cli', url, '--transport', 'http', '--protocol-era', era, '--format', 'json'];
  return runProgram([process.execPath, inspector, ...target, '--method', method, ...parameters], {
    variables: { HOME: service.environment.folder },
  });
}

const initialized = z.object({ result: z.object({ protocolVersion: z.string() }) });
const toolList = z.object({
  result: z.object({ tools: z.array(z.object({ name: z.string() })) }),
  /** Present only with --strict, and only if there are problems. */
  schemaFindings: z
    .array(z.object({ findings: z.array(z.looseObject({ severity: z.string() })) }))
    .default([]),
});
const called = z.object({ result: z.unknown() });

/** The Inspector connects again for each call. */
function askingByInspector(era: string): AskingClient {
  async function call({ tool, arguments: given }: Call): Promise<Answer> {
    const parameters = ['--tool-name', tool, '--tool-args-json', JSON.stringify(given)];
    const { code, stdout, stderr } = await inspect(era, 'tools/call', ...parameters);
    if (stdout === '') return { thrown: stderr };
    const answered = answerIn(called.parse(JSON.parse(stdout)).result);
    expect(code).toBe('is_error' in answered && answered.is_error ? TOOL_ERROR : 0);
    return answered;
  }

  return async (calls) => {
    const [hello, list, ...answers] = await Promise.all([
      inspect(era, 'initialize'),
      inspect(era, 'tools/list'),
      ...calls.map(call),
    ]);
    return {
      protocol: initialized.parse(JSON.parse(hello.stdout)).result.protocolVersion,
      tools: toolList.parse(JSON.parse(list.stdout)).result.tools.map(({ name }) => name),
      answers,
    };
  };
}

const bySdk = await askBySdk();

describe('third-party MCP clients', () => {
  test('the current TypeScript SDK gets results, and errors for invalid calls', () => {
    const errors = bySdk.answers.map((given) => 'is_error' in given && given.is_error);
    expect(errors).toEqual(CALLS.map((_, at) => at >= CALLS.length - REFUSED));
    expect(bySdk.tools).toHaveLength(6);
  });

  test('version 1 of the TypeScript SDK gets the same', () =>
    expectSame(async (calls) => {
      const program = [process.execPath, join(PROGRAMS, 'sdk-v1-client.js'), url] as const;
      return sessionIn(await runProgram(program, { cwd: packages, input: JSON.stringify(calls) }));
    }, BEFORE));

  test.each([
    ['modern', MODERN],
    ['legacy', BEFORE],
  ])('the Inspector, of the %s era, gets the same, and no error in the schemas', async (era, protocol) => {
    await expectSame(askingByInspector(era), protocol);
    const { code, stdout } = await inspect(era, 'tools/list', '--strict');
    const findings = toolList.parse(JSON.parse(stdout)).schemaFindings.flatMap(({ findings }) => findings);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(code).toBe(0);
  });

  describeUnless(NO_PYTHON, 'the Python SDK', () => {
    let requirements: string;

    beforeAll(async () => {
      requirements = await installedRequirements(join(PROGRAMS, 'requirements.txt'));
    }, INSTALLED_WITHIN_MS);

    test.each([
      ['mcp', MODERN, MODERN],
      ['mcp', 'auto', MODERN],
      ['mcp', 'legacy', BEFORE],
      ['fastmcp', 'auto', MODERN],
      ['fastmcp', 'legacy', BEFORE],
    ])('the client of %s, in mode %s, gets the same', (name, mode, protocol) =>
      expectSame(async (calls) => {
        const program = [join(PROGRAMS, `${name}_client.py`), url, mode] as const;
        return sessionIn(await runPython(requirements, program, { input: JSON.stringify(calls) }));
      }, protocol),
    );
  });
});

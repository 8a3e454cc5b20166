import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import serverJson from '../../server.json' with { type: 'json' };
import { BOARDS } from '../../src/licenses/boards.ts';
import { MISTYPED_BOARDS } from '../fixtures/mistyped-boards.ts';
import { times } from '../support/fixtures.ts';
import { connected, ERAS, startMcpService, toolCalls } from '../support/mcp-tools.ts';
import type { TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const TOOLS = [
  'license_history',
  'list_ohio_boards',
  'search_licenses_by_name',
  'verify_business_license',
  'verify_license',
  'verify_roster',
];

const boardsResult = z.strictObject({
  data_as_of: z.literal('2026-11-20'),
  boards: z.array(
    z.strictObject({ name: z.string(), code: z.string(), license_types: z.array(z.string()).min(1) }),
  ),
});

let service: TestService;

beforeAll(async () => {
  service = await startMcpService();
});
afterAll(() => service.stop());

describe.each(ERAS)('a client of the %s era', (era, versionNegotiation) => {
  let client: Client;

  beforeAll(async () => {
    client = await connected(service, versionNegotiation);
  });
  afterAll(() => client.close());

  const { answered, found, numbers, refused } = toolCalls(() => client);

  verifies(
    ['SERVICE-06', 'MCP-01', 'KEYS-05'],
    'connects over Streamable HTTP without a key and gets the server’s name',
    async () => {
      expect(client.getProtocolEra()).toBe(era);
      const { name, title, version } = serverJson;
      expect(client.getServerVersion()).toEqual({ name: name.split('/')[1], title, version });
      expect(client.getInstructions()).toMatch(/the issuing board is the authority/);
      expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
      expect((await client.listTools()).tools).toHaveLength(TOOLS.length);
    },
  );

  verifies('MCP-02', 'lists its tools with titles, input schemas and output schemas', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS);
    for (const { title, description, inputSchema, outputSchema, annotations } of tools) {
      expect(title).toBeTruthy();
      expect(description?.length).toBeGreaterThan(40);
      expect(inputSchema).toMatchObject({ type: 'object' });
      expect(outputSchema).toMatchObject({
        type: 'object',
        required: expect.arrayContaining(['data_as_of']),
      });
      expect(annotations).toEqual({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
    }
    const required = Object.fromEntries(
      tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]),
    );
    expect(required).toEqual({
      license_history: ['license_number'],
      list_ohio_boards: [],
      search_licenses_by_name: ['board', 'last_name'],
      verify_business_license: [],
      verify_license: ['license_number'],
      verify_roster: ['items'],
    });
  });

  test('may send null or blank for optional parameters, and is warned about unknown ones', async () => {
    const filled = { license_number: 'RN.700001', board: null, last_name: '', first_name: ' ', zip: '43215' };
    const result = await found('verify_license', filled);
    expect(result).toMatchObject({ outcome: 'found', searched: { license_number: 'RN.700001' } });
    expect(result.message).toMatch(/^Passed over.*"zip"/);
    expect(await answered('list_ohio_boards', { random_string: 'x' })).toHaveProperty('boards');
  });

  verifies(['MCP-07', 'MCP-08', 'SERVICE-04'], 'lists the 24 boards with their license types', async () => {
    const { boards } = boardsResult.parse(await answered('list_ohio_boards'));
    expect(boards.map(({ name }) => name)).toEqual(BOARDS.map(({ name }) => name));
    const nursing = boards.find(({ name }) => name === NURSING);
    expect(nursing?.license_types).toContain('Registered Nurse (RN)');
  });

  verifies('ERRORS-08', 'learns the nearest board when it sends an unknown one', async () => {
    for (const [tool, parameters] of [
      ['verify_license', { license_number: 'RN.700001' }],
      ['search_licenses_by_name', { last_name: 'Smith' }],
      ['verify_business_license', { business_name: 'Smith' }],
    ] as const) {
      for (const [board, nearest] of MISTYPED_BOARDS) {
        const error = await refused(tool, { ...parameters, board });
        const [, first] = /The nearest: "([^"]+)"/.exec(error) ?? [];
        expect([tool, board, first]).toEqual([tool, board, nearest]);
      }
    }
  });

  verifies('INPUT-04', 'learns what is wrong with an invalid parameter', async () => {
    for (const license_number of [7, null, '', '   ', 'x'.repeat(201), ['RN.700001']]) {
      expect(await refused('verify_license', { license_number })).toMatch(/license_number/);
    }
    expect(await refused('verify_license', {})).toMatch(/license_number/);
    await expect(client.callTool({ name: 'drop_licenses', arguments: {} })).rejects.toThrow(/drop_licenses/);
  });

  verifies('INPUT-01', 'finds nothing by wildcards', async () => {
    for (const written of ['?mith', 'S*th', 'Sm[a-z]th']) {
      expect(await numbers('search_licenses_by_name', { board: NURSING, last_name: written })).toEqual([]);
      expect(await numbers('verify_business_license', { business_name: written })).toEqual([]);
      expect(await numbers('verify_license', { license_number: written })).toEqual([]);
    }
  });

  test('gets the right result for each of 50 simultaneous calls', async () => {
    const asked = times(50, (number) => `RN.${810_000 + number}`);
    const answers = await Promise.all(
      asked.map((license_number) => numbers('verify_license', { license_number })),
    );
    expect(answers).toEqual(asked.map((number) => [number]));
  });
});

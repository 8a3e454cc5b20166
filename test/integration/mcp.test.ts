import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import serverJson from '../../server.json' with { type: 'json' };
import { BOARDS } from '../../src/licenses/boards.ts';
import { MISTYPED_BOARDS } from '../fixtures/mistyped-boards.ts';
import { recordAnswer, recordIn } from '../support/answers.ts';
import { fixturesAnd, nurseRow, pharmacyRow, times } from '../support/fixtures.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const MEDICAL = 'Medical Board';
const FUNERALS = 'Embalmers and Funeral Directors Board';
const SPEECH = 'Speech and Hearing Professionals Board';
const TOOLS = ['list_ohio_boards', 'search_licenses_by_name', 'verify_business_license', 'verify_license'];

const wholeLicense = recordAnswer.extend({
  board_action: z.string().nullable(),
  street: z.string().optional(),
});

const compactLicense = wholeLicense.pick({
  license_number: true,
  full_name: true,
  board: true,
  license_type: true,
  status: true,
  raw_status: true,
  expiry_date: true,
  city: true,
  state: true,
  county: true,
  board_action: true,
  street: true,
});

const lookupResult = z.strictObject({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  data_as_of: z.literal('2026-11-20'),
  searched: z.record(z.string(), z.string()),
  count: z.int(),
  truncated: z.boolean(),
  licenses: z.union([z.array(wholeLicense).max(1), z.array(compactLicense).min(2).max(100)]),
  did_you_mean: z.array(z.string()),
  message: z.string().min(1),
});

const toolError = z.strictObject({ error: z.string().min(1), data_as_of: z.literal('2026-11-20') });

const boardsResult = z.strictObject({
  data_as_of: z.literal('2026-11-20'),
  boards: z.array(
    z.strictObject({ name: z.string(), code: z.string(), license_types: z.array(z.string()).min(1) }),
  ),
});

const toolResult = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
});

let service: TestService;

beforeAll(async () => {
  service = await startService({
    settings: {
      MCP_ALLOWED_HOSTS: 'licenses.example',
      MCP_ALLOWED_ORIGINS: 'https://assistant.example',
    },
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          ...times(120, (number) =>
            nurseRow(`CROWD, GIVEN${String(number).padStart(3, '0')}`, `RN.${810_000 + number}`),
          ),
          nurseRow('TWIN, DOT', 'RN.71.0001'),
          nurseRow('TWIN, NODOT', 'RN.710.001'),
          nurseRow('SHARED, NURSE', 'RN.72.0001'),
          nurseRow('SHARED, DOCTOR', 'RN.72.0001', { BOARD: MEDICAL, TYPE: 'Doctor of Medicine (MD)' }),
          nurseRow('NARROW, NED', 'RN.850001', { PARCEL_CITY: 'AKRON', PARCEL_COUNTY: 'Summit' }),
          nurseRow('NARROW, NORA', 'RN.850002', { STATUS: 'Inactive', SUB_STATUS: 'Lapsed' }),
        ],
        business: [
          ...times(101, (number) => pharmacyRow(`CHAIN ${number}`, `02${80_000_000 + number}`)),
          pharmacyRow('SMITH FUNERAL SUPPLIES', '0290000001'),
        ],
      }),
  });
});
afterAll(() => service.stop());

function url(): URL {
  return new URL(`http://127.0.0.1:${service.environment.config.PORT}/mcp`);
}

/** The protocol's two eras: revision 2026-07-28, and the one with a handshake before it. */
const ERAS = [
  ['modern', { mode: { pin: '2026-07-28' } }],
  ['legacy', { mode: 'legacy' }],
] as const;

async function connected(versionNegotiation: (typeof ERAS)[number][1]): Promise<Client> {
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(url()));
  return client;
}

describe.each(ERAS)('a client of the %s era', (era, versionNegotiation) => {
  let client: Client;

  beforeAll(async () => {
    client = await connected(versionNegotiation);
  });
  afterAll(() => client.close());

  async function called(name: string, parameters: Record<string, unknown> = {}) {
    return toolResult.parse(await client.callTool({ name, arguments: parameters }));
  }

  /** The structured content of a result. The text must be the same as JSON. */
  async function answered(name: string, parameters: Record<string, unknown> = {}): Promise<unknown> {
    const { isError, structuredContent, content } = await called(name, parameters);
    expect([isError ?? false, content[0].text]).toEqual([false, expect.any(String)]);
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);
    return structuredContent;
  }

  async function found(name: string, parameters: Record<string, unknown>) {
    return lookupResult.parse(await answered(name, parameters));
  }

  async function numbers(name: string, parameters: Record<string, unknown>): Promise<string[]> {
    return (await found(name, parameters)).licenses.map(({ license_number }) => license_number);
  }

  /** The error message of an invalid call. */
  async function refused(name: string, parameters: Record<string, unknown>): Promise<string> {
    const { isError, structuredContent, content } = await called(name, parameters);
    expect(isError).toBe(true);
    expect(content[0].text).not.toMatch(/node_modules|\.ts:|\n\s+at /);
    // Many clients check structured content against the output schema, and throw if it does not fit.
    expect(structuredContent).toBeUndefined();
    return toolError.parse(JSON.parse(content[0].text)).error;
  }

  verifies(
    ['SPEC-1-06', 'SPEC-4.4-01', 'SPEC-5-05'],
    'connects over Streamable HTTP without a key and gets the server’s name',
    async () => {
      expect(client.getProtocolEra()).toBe(era);
      const { name, title, version } = serverJson;
      expect(client.getServerVersion()).toEqual({ name: name.split('/')[1], title, version });
      expect(client.getInstructions()).toMatch(/the issuing board is the authority/);
      expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
      expect((await client.listTools()).tools).toHaveLength(4);
    },
  );

  verifies('SPEC-4.4-02', 'lists the four tools with titles, input schemas and output schemas', async () => {
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
      list_ohio_boards: [],
      search_licenses_by_name: ['board', 'last_name'],
      verify_business_license: [],
      verify_license: ['license_number'],
    });
  });

  verifies(
    ['SPEC-4.4-03', 'SPEC-4.4-08', 'DESIGN-MCP-01', 'SPEC-1-01'],
    'verifies a license by its number alone, with the same record as REST',
    async () => {
      const result = await found('verify_license', { license_number: ' rn 700001 ' });
      expect(result).toMatchObject({ outcome: 'found', count: 1, truncated: false, did_you_mean: [] });
      const rest = await service.rest.verify({ board: NURSING, license_number: 'RN.700001' });
      expect(result.licenses).toEqual([{ ...recordIn(rest), board_action: 'No' }]);
      expect(result.message).toMatch(/issuing board is the authority/);
      const [endorsement] = (await found('verify_license', { license_number: 'APRN.CNP.0070001' })).licenses;
      expect(endorsement).toMatchObject({ extra_data: { 'Endorsed License': 'RN.700001' } });
      const [business] = (await found('verify_license', { license_number: 'FH.70004' })).licenses;
      expect(business).toMatchObject({ board: FUNERALS, full_name: 'SMITH FUNERAL HOME' });
    },
  );

  test('learns whether the name sent with a number is the holder’s, and gets a warning if not', async () => {
    const cases = [
      ['verify_license', { license_number: 'RN.700001', last_name: 'Smith' }, false],
      ['verify_license', { license_number: 'RN.700001', last_name: 'Delacruz', first_name: 'mar' }, true],
      ['verify_license', { license_number: 'RN.700003', last_name: 'jones' }, true],
      ['verify_license', { license_number: 'RN.700001', first_name: 'Maria' }, true],
      ['verify_license', { license_number: 'RN.700001', first_name: 'Elena' }, false],
      ['verify_business_license', { license_number: 'FH.70004', business_name: 'smith funeral' }, true],
      ['verify_business_license', { license_number: 'FH.70004', business_name: 'home, smith' }, true],
      ['verify_business_license', { license_number: 'FH.70004', business_name: 'Acme' }, false],
    ] as const;
    for (const [tool, parameters, name_match] of cases) {
      const result = await found(tool, parameters);
      expect([parameters, result.licenses]).toEqual([parameters, [expect.objectContaining({ name_match })]]);
      expect(/not the holder’s/.test(result.message)).toBe(!name_match);
    }
    const [plain] = (await found('verify_license', { license_number: 'RN.700001' })).licenses;
    expect(plain).not.toHaveProperty('name_match');
  });

  test('gets suggestions of other numbers, surnames and business names that exist', async () => {
    for (const [tool, parameters, did_you_mean] of [
      ['verify_license', { license_number: 'APRN.CNP.70001' }, ['APRN.CNP.0070001']],
      ['verify_license', { license_number: 'APRN.CNP.70001', board: PHARMACY }, ['APRN.CNP.0070001']],
      ['verify_license', { license_number: 'SP-70013', board: SPEECH }, ['SP.70013']],
      ['verify_business_license', { license_number: 'APRN.CNP.70001' }, []],
      ['verify_business_license', { license_number: 'COSS.070003', board: FUNERALS }, ['COSS.70003']],
      ['search_licenses_by_name', { board: NURSING, last_name: 'Smiht' }, ['SMITH']],
      ['verify_business_license', { business_name: 'smith funerel home' }, ['SMITH FUNERAL HOME']],
      ['verify_business_license', { board: PHARMACY, business_name: 'smith funeral home' }, []],
    ] as const) {
      expect(await found(tool, parameters)).toMatchObject({
        outcome: 'not_found',
        licenses: [],
        did_you_mean,
      });
    }
  });

  verifies('SPEC-4.4-03', 'verifies a license by its number and board', async () => {
    expect(await numbers('verify_license', { license_number: 'RN.700001', board: NURSING })).toEqual([
      'RN.700001',
    ]);
    const elsewhere = await found('verify_license', { license_number: 'RN.700001', board: PHARMACY });
    expect(elsewhere).toMatchObject({ outcome: 'not_found', count: 0, licenses: [] });
    expect(elsewhere.message).toContain(NURSING);
    expect(JSON.stringify(elsewhere)).not.toMatch(/cruz|maria/i);
  });

  verifies(
    ['SPEC-4.4-08', 'DESIGN-MISS-01', 'SPEC-1-03'],
    'gets a result with its date when nothing matches, and never the word unlicensed',
    async () => {
      for (const [tool, parameters] of [
        ['verify_license', { license_number: 'RN.999999' }],
        ['search_licenses_by_name', { board: NURSING, last_name: 'Nobody' }],
        ['verify_business_license', { business_name: 'Nowhere Drugs' }],
        ['verify_business_license', { license_number: '0299999999' }],
      ] as const) {
        const result = await found(tool, parameters);
        expect(result).toMatchObject({ outcome: 'not_found', count: 0, licenses: [], searched: parameters });
        expect(result.message).toMatch(/2026-11-20.*issuing board is the authority/s);
        expect(result.message).not.toMatch(/unlicensed|not licensed/);
      }
    },
  );

  verifies(
    'DESIGN-NUMBER-04',
    'gets both numbers and no license when a number fits two licenses',
    async () => {
      const twins = await found('verify_license', { license_number: 'RN710001' });
      expect(twins).toMatchObject({ outcome: 'ambiguous', licenses: [] });
      expect(twins.did_you_mean.sort()).toEqual(['RN.71.0001', 'RN.710.001']);
      const boards = await found('verify_license', { license_number: 'SP 70013' });
      expect(boards.did_you_mean.sort()).toEqual(['SP-70013', 'SP.70013']);
    },
  );

  verifies('DESIGN-NUMBER-04', 'has to name the board when two boards have the same number', async () => {
    const shared = await found('verify_license', { license_number: 'RN.72.0001' });
    expect(shared).toMatchObject({ outcome: 'ambiguous', licenses: [], did_you_mean: [] });
    expect(shared.message).toContain('the Medical Board and the Nursing Board. Name the board');
    expect(JSON.stringify(shared)).not.toContain('SHARED');
    for (const [board, full_name] of [
      [NURSING, 'SHARED, NURSE'],
      [MEDICAL, 'SHARED, DOCTOR'],
    ]) {
      const one = await found('verify_license', { license_number: 'rn 720001', board });
      expect(one).toMatchObject({ outcome: 'found', licenses: [{ full_name, board }] });
    }
  });

  verifies(
    ['SPEC-4.4-04', 'DESIGN-MCP-01', 'SPEC-4.4-08'],
    'finds holders by name at a board as REST does, several in a compact form',
    async () => {
      const search = { board: NURSING, last_name: 'smith', first_name: 'mary' };
      const result = await found('search_licenses_by_name', search);
      expect(result).toMatchObject({ outcome: 'found', count: 3, searched: search });
      const rest = z
        .object({ multiple: z.array(recordAnswer) })
        .parse((await service.rest.verify(search)).body);
      expect(result.licenses).toEqual(
        rest.multiple.map((record) =>
          compactLicense.strip().parse({ ...record, board_action: record.extra_data['Board Action'] }),
        ),
      );
      expect(await refused('search_licenses_by_name', { last_name: 'Smith' })).toMatch(/board/);
      expect(await refused('search_licenses_by_name', { board: NURSING })).toMatch(/last_name/);
    },
  );

  verifies(
    ['SPEC-4.4-05', 'SPEC-8-04'],
    'gets at most 100 matches, with the advice to use filters when there are more',
    async () => {
      const crowd = await found('search_licenses_by_name', { board: NURSING, last_name: 'Crowd' });
      expect([crowd.licenses.length, crowd.count, crowd.truncated]).toEqual([100, 100, true]);
      expect(crowd.message).toMatch(/narrow/);
      const chain = await found('verify_business_license', { business_name: 'chain' });
      expect([chain.licenses.length, chain.truncated]).toEqual([100, true]);
      expect(crowd.message).toMatch(/^More than 100 licenses match \(100 listed/);
      const few = { board: NURSING, last_name: 'Crowd', first_name: 'given11' };
      expect(await found('search_licenses_by_name', few)).toMatchObject({ count: 10, truncated: false });
    },
  );

  test('gets fewer matches with a limit, and the number of all matches', async () => {
    const few = { board: NURSING, last_name: 'Crowd', first_name: 'given11' };
    const limited = await found('search_licenses_by_name', { ...few, limit: 3 });
    expect([limited.licenses.length, limited.count, limited.truncated]).toEqual([3, 3, true]);
    expect(limited.searched).toEqual(few);
    expect(limited.message).toMatch(/^10 licenses match \(3 listed/);
    const all = await found('search_licenses_by_name', few);
    expect(limited.licenses).toEqual(all.licenses.slice(0, 3));
    const chain = await found('verify_business_license', { business_name: 'chain', limit: 2 });
    expect([chain.licenses.length, chain.truncated]).toEqual([2, true]);
    expect(chain.message).toMatch(/^More than 100 licenses match \(2 listed.*city/);
    for (const limit of [0, 101, 1.5, '5']) {
      expect(await refused('search_licenses_by_name', { ...few, limit })).toMatch(/limit must be/);
    }
  });

  test('may send null or blank for optional parameters, and is warned about unknown ones', async () => {
    const filled = { license_number: 'RN.700001', board: null, last_name: '', first_name: ' ', zip: '43215' };
    const result = await found('verify_license', filled);
    expect(result).toMatchObject({ outcome: 'found', searched: { license_number: 'RN.700001' } });
    expect(result.message).toMatch(/^Passed over.*"zip"/);
    expect(await answered('list_ohio_boards', { random_string: 'x' })).toHaveProperty('boards');
  });

  verifies(
    'DESIGN-NARROWING-01',
    'filters by license_type, status, city and county as REST does',
    async () => {
      for (const filter of [
        { city: 'akron' },
        { county: 'SUMMIT' },
        { status: 'active' },
        { first_name: 'ned' },
      ]) {
        const search = { board: NURSING, last_name: 'Narrow', ...filter };
        expect(await numbers('search_licenses_by_name', search)).toEqual(['RN.850001']);
      }
      const typed = { board: NURSING, last_name: 'Narrow', license_type: 'RN' };
      expect(await numbers('search_licenses_by_name', typed)).toHaveLength(2);
    },
  );

  verifies(
    'SPEC-4.4-06',
    'verifies businesses by either trade name or by number, with and without a board',
    async () => {
      expect(await numbers('verify_business_license', { business_name: "Joe & Son's" })).toEqual([
        '0270000001',
      ]);
      expect(await numbers('verify_business_license', { business_name: 'smith funeral' })).toEqual([
        'FH.70004',
        '0290000001',
      ]);
      expect(await numbers('verify_business_license', { board: FUNERALS, business_name: 'smith' })).toEqual([
        'FH.70004',
      ]);
      expect(await numbers('verify_business_license', { license_number: 'coss.70003' })).toEqual([
        'COSS.70003',
      ]);
      const person = await found('verify_business_license', { license_number: 'RN.700001' });
      expect(person).toMatchObject({ outcome: 'not_found', licenses: [] });
      expect(person.message).toContain('verify_license looks it up');
      expect(await refused('verify_business_license', {})).toMatch(/business_name or license_number/);
      expect(await refused('verify_business_license', { board: PHARMACY })).toMatch(/business_name/);
    },
  );

  verifies(
    ['SPEC-4.4-07', 'SPEC-4.4-08', 'SPEC-1-04'],
    'lists the 24 boards with their license types',
    async () => {
      const { boards } = boardsResult.parse(await answered('list_ohio_boards'));
      expect(boards.map(({ name }) => name)).toEqual(BOARDS.map(({ name }) => name));
      const nursing = boards.find(({ name }) => name === NURSING);
      expect(nursing?.license_types).toContain('Registered Nurse (RN)');
    },
  );

  verifies('DESIGN-ERRORS-02', 'learns the nearest board when it sends an unknown one', async () => {
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

  verifies('DESIGN-INPUT-04', 'learns what is wrong with an invalid parameter', async () => {
    for (const license_number of [7, null, '', '   ', 'x'.repeat(201), ['RN.700001']]) {
      expect(await refused('verify_license', { license_number })).toMatch(/license_number/);
    }
    expect(await refused('verify_license', {})).toMatch(/license_number/);
    await expect(client.callTool({ name: 'drop_licenses', arguments: {} })).rejects.toThrow(/drop_licenses/);
  });

  verifies('DESIGN-INPUT-01', 'finds nothing by wildcards', async () => {
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

describe('the MCP endpoint', () => {
  const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

  function posted(headers: Record<string, string>, body = LIST) {
    return rawRequest({
      port: service.environment.config.PORT,
      method: 'POST',
      path: '/mcp',
      headers: {
        host: 'localhost',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      },
      body,
    });
  }

  verifies(
    'DESIGN-MCP-02',
    'accepts the Host and Origin of this machine and the configured ones, and no others',
    async () => {
      for (const host of [
        'localhost',
        '127.0.0.1:8080',
        '[::1]:8080',
        'licenses.example',
        'licenses.example:443',
      ]) {
        expect([host, (await posted({ host })).status]).toEqual([host, 200]);
      }
      for (const host of [
        'evil.example',
        'licenses.example.evil.example',
        'localhost.evil.example',
        'a b',
        '[::',
      ]) {
        expect([host, (await posted({ host })).status]).toEqual([host, 403]);
      }
      for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'https://assistant.example']) {
        expect([origin, (await posted({ origin })).status]).toEqual([origin, 200]);
      }
      for (const origin of ['https://evil.example', 'https://assistant.example.evil.example', 'null', 'x']) {
        const answer = await posted({ origin });
        expect([origin, answer.status]).toEqual([origin, 403]);
        expect(answer.text).not.toContain('tools');
      }
    },
  );

  test('lets browsers call it from pages of the configured origins, and of no others', async () => {
    for (const [origin, mayCall] of [
      ['http://localhost:3000', true],
      ['https://assistant.example', true],
      ['https://evil.example', false],
      ['null', false],
    ] as const) {
      const preflight = await rawRequest({
        port: service.environment.config.PORT,
        method: 'OPTIONS',
        path: '/mcp',
        headers: {
          ...{ host: 'localhost', origin },
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type,mcp-protocol-version',
        },
      });
      expect([origin, preflight.status]).toEqual([origin, mayCall ? 204 : 403]);
      expect(preflight.headers.get('access-control-allow-origin')).toBe(mayCall ? origin : null);
      expect(preflight.headers.get('access-control-allow-headers')).toBe(
        mayCall ? 'content-type,mcp-protocol-version' : null,
      );
      expect((await posted({ origin })).headers.get('access-control-allow-origin')).toBe(
        mayCall ? origin : null,
      );
    }
    expect((await posted({})).headers.get('access-control-allow-origin')).toBeNull();
  });

  verifies(['DESIGN-MCP-03', 'DESIGN-ERRORS-03'], 'accepts only POST and says so', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
      for (const session of [{}, { 'mcp-session-id': 'made-up' }]) {
        const answer = await rawRequest({
          port: service.environment.config.PORT,
          ...{ method, path: '/mcp' },
          headers: { host: 'localhost', accept: 'text/event-stream', ...session },
        });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
        expect(answer.body).toEqual({ detail: expect.stringContaining('POST') });
      }
    }
  });

  function call(method: string, params: unknown = {}, id: unknown = 1) {
    return posted({}, JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  const MODERN = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };

  function modernCall(method: string, params: Record<string, unknown> = {}) {
    return posted(
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params: { ...params, _meta: MODERN } }),
    );
  }

  test('refuses JSON-RPC batches, which could hide many calls in one request', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    for (const batch of [[], [list], [list, { ...list, id: 2 }], [list, cancel], times(100, () => list)]) {
      const { status, body } = await posted({}, JSON.stringify(batch));
      expect([status, body]).toEqual([
        400,
        { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.stringContaining('by itself') } },
      ]);
    }
  });

  test('refuses subscriptions, because it keeps no stream open', async () => {
    const { status, body } = await modernCall('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    expect([status, body]).toEqual([
      404,
      {
        jsonrpc: '2.0',
        id: 'a',
        error: { code: -32601, message: expect.stringContaining('no subscriptions') },
      },
    ]);
    const discovered = await modernCall('server/discover');
    expect(discovered.body).toMatchObject({ result: { capabilities: { tools: { listChanged: false } } } });
    expect(discovered.text).not.toMatch(/subscribe|resources|prompts|logging/);
  });

  test('lets clients of the 2026 revision cache the list of tools for an hour', async () => {
    for (const method of ['tools/list', 'server/discover']) {
      const { status, body } = await modernCall(method);
      expect([status, body]).toMatchObject([200, { result: { ttlMs: 3_600_000, cacheScope: 'public' } }]);
    }
    expect((await call('tools/list')).text).not.toMatch(/ttlMs|cacheScope/);
  });

  test('answers an invalid message with a JSON-RPC error that does not reveal the exception', async () => {
    for (const [method, params] of [
      ['tools/call', { name: 7 }],
      ['tools/call', { name: 'verify_license', arguments: [] }],
      ['tools/call', undefined],
      ['tools/list', { cursor: 7 }],
      ['initialize', { protocolVersion: 'x' }],
    ] as const) {
      const { status, body } = await call(method, params);
      expect([status, body]).toEqual([
        200,
        {
          ...{ jsonrpc: '2.0', id: 1 },
          error: { code: -32602, message: 'Invalid params: they do not fit the method.' },
        },
      ]);
    }
    for (const name of ['drop_licenses', '__proto__', 'constructor', 'toString']) {
      expect((await call('tools/call', { name })).body).toMatchObject({ error: { code: -32602 } });
    }
    expect((await call('resources/list')).body).toMatchObject({ error: { code: -32601 } });
  });

  verifies('SPEC-5-05', 'needs no key and ignores a bad one', async () => {
    expect((await posted({})).status).toBe(200);
    expect((await posted({ 'x-api-key': 'bad' })).status).toBe(200);
  });

  test('refuses invalid JSON-RPC, too large bodies and other media types without revealing internals', async () => {
    for (const [body, headers, statuses] of [
      ['{', {}, [400]],
      ['', {}, [400]],
      [`"${'x'.repeat(300_000)}"`, {}, [413]],
      ['[]', {}, [400]],
      ['null', {}, [400]],
      [`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(17_000)}"}`, {}, [413]],
      [LIST, { 'content-type': 'text/plain' }, [415]],
      [LIST, { accept: 'text/html' }, [406]],
    ] as const) {
      const answer = await posted(headers, body);
      expect([body.slice(0, 20), headers, statuses]).toEqual([
        body.slice(0, 20),
        headers,
        expect.arrayContaining([answer.status]),
      ]);
      expect(answer.text).not.toMatch(/node_modules|\.ts:|\n\s+at /);
    }
  });
});

verifies(
  ['DESIGN-ERRORS-05', 'DESIGN-ERRORS-01'],
  'while OpenSearch is away, a tool says that lookups are unavailable without revealing internals',
  async () => {
    const [closed, port, adminPort] = await freePorts(3);
    const api = await startApi({
      ...service.environment.variables,
      OPENSEARCH_URL: `http://127.0.0.1:${closed}`,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
    });
    const client = new Client({ name: 'tests', version: '1' });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
      const call = { name: 'verify_license', arguments: { license_number: 'RN.700001' } };
      const { isError, content } = toolResult.parse(await client.callTool(call));
      expect(isError).toBe(true);
      expect(content[0].text).toMatch(/not available right now/);
      expect(content[0].text).not.toMatch(/opensearch|127\.0\.0\.1|ECONN/i);
    } finally {
      await client.close();
      await api.stop();
    }
  },
);

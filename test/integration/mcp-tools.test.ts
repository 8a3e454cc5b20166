import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import serverJson from '../../server.json' with { type: 'json' };
import { boardActivity } from '../../src/changes/board-activity.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { matchesIn, recordIn } from '../support/answers.ts';
import { times } from '../support/fixtures.ts';
import {
  compactLicense,
  connected,
  dataOrigin,
  ERAS,
  missFacts,
  startMcpService,
  toolCalls,
} from '../support/mcp-tools.ts';
import { rosterAnswer } from '../support/rosters.ts';
import { verifies } from '../support/verifies.ts';

// What is particular to the tools. same-answers.test.ts compares what they find with what REST finds.

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const MEDICAL = 'Medical Board';
const FUNERALS = 'Embalmers and Funeral Directors Board';
const TOOLS = [
  ...'license_history list_ohio_boards search_licenses_by_name verify_business_license'.split(' '),
  ...'verify_license verify_roster'.split(' '),
];

const boardsResult = z.strictObject({
  ...dataOrigin,
  message: z.string(),
  boards: z.array(
    z.strictObject({
      name: z.string(),
      code: z.string(),
      license_types: z.record(z.string(), z.string().nullable()),
    }),
  ),
  board_activity: z.record(z.string(), z.strictObject(boardActivity.shape)),
});

const rosterResult = z.strictObject({
  ...dataOrigin,
  message: z.string().regex(/not_found never means that somebody is unlicensed/),
  count: z.int(),
  summary: z.strictObject(rosterAnswer.shape.summary.shape),
  results: z.array(
    z.strictObject({
      index: z.int(),
      reference: z.string().nullable(),
      outcome: z.enum(['found', 'ambiguous', 'not_found', 'invalid']),
      ...missFacts,
      message: z.string().optional(),
      name_match: z.boolean().optional(),
      licenses: z.array(z.strictObject(compactLicense.shape)).optional(),
      truncated: z.literal(true).optional(),
      did_you_mean: z.array(z.string()).optional(),
    }),
  ),
});

const service = await startMcpService();

const CLIENTS = await Promise.all(
  ERAS.map(async ([era, negotiation]) => [era, await connected(service, negotiation)] as const),
);

describe.each(CLIENTS)('over the protocol of the %s era', (era, client) => {
  const { found } = toolCalls(() => client);

  verifies(['SERVICE-06', 'MCP-01', 'KEYS-05'], 'a client connects over HTTP without a key', async () => {
    expect(client.getProtocolEra()).toBe(era);
    const { name, title, version } = serverJson;
    expect(client.getServerVersion()).toEqual({ name: name.split('/')[1], title, version });
    expect(client.getInstructions()).toMatch(/the issuing board is the authority/);
    const fixed = { listChanged: false };
    expect(client.getServerCapabilities()).toEqual({ tools: fixed, resources: fixed });
  });

  verifies('MCP-02', 'the list of tools has titles, input schemas and output schemas', async () => {
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
        ...{ title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
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

  verifies(['MCP-03', 'MCP-08', 'MCP-09', 'SERVICE-01'], 'verify_license finds as REST does', async () => {
    const result = await found('verify_license', { license_number: ' rn 700001 ' });
    expect(result).toMatchObject({ outcome: 'found', count: 1, truncated: false, did_you_mean: [] });
    const rest = await service.rest.verify({ board: NURSING, license_number: 'RN.700001' });
    const { found: _, source: _source, last_scraped: _date, data_age_days: _age, ...record } = recordIn(rest);
    // What is a field of its own is not in extra_data again.
    const {
      'Board Action': board_action,
      County: _county,
      'Issue Date': _issued,
      ...extra_data
    } = record.extra_data;
    expect(result.licenses).toEqual([{ ...record, extra_data, board_action }]);
    expect(result.message).toMatch(/issuing board is the authority/);
  });
});

const modern = await connected(service, ERAS[0][1]);

describe('the tools', () => {
  const { answered, found, numbers, refused } = toolCalls(() => modern);

  verifies('INPUT-02', 'null and blank parameters of a tool count as absent; unknown ones warn', async () => {
    const known = { license_number: 'RN.700001' };
    const blank = { board: null, last_name: '', first_name: ' ' };
    const result = await found('verify_license', { ...known, ...blank, zip: '43215' });
    expect(result).toMatchObject({ outcome: 'found', searched: known });
    expect(result.message).toMatch(
      /^Unknown parameters are ignored\. This tool has: license_number, board, /,
    );
    expect(await answered('list_ohio_boards', { random_string: 'x' })).toHaveProperty('boards');
  });

  verifies(['MCP-07', 'MCP-08', 'SERVICE-04'], 'list_ohio_boards lists the boards and types', async () => {
    const { boards, board_activity, message } = boardsResult.parse(await answered('list_ohio_boards'));
    expect(message).toMatch(/^The number beside each type .*The data is (late|stale): .*the authority\.$/);
    expect(Object.keys(board_activity)).toEqual(BOARDS.map(({ name }) => name));
    expect(boards.map(({ name }) => name)).toEqual(BOARDS.map(({ name }) => name));
    const nursing = boards.find(({ name }) => name === NURSING);
    const { 'Registered Nurse (RN)': example } = nursing?.license_types ?? {};
    expect(await found('verify_license', { license_number: example })).toMatchObject({
      licenses: [{ license_type: 'Registered Nurse (RN)' }],
    });
  });

  test('a lookup by number does not say that it searched by filters, which it ignores', async () => {
    const number = { license_number: 'FH.70004' };
    const { searched } = await found('verify_business_license', { ...number, city: 'Dayton' });
    expect(searched).toEqual(number);
  });

  verifies(['MCP-08', 'MISS-01', 'SERVICE-03'], 'nothing found never means unlicensed', async () => {
    for (const [tool, searched, did_you_mean] of [
      ['verify_license', { license_number: 'APRN.CNP.70001' }, ['APRN.CNP.0070001']],
      ['search_licenses_by_name', { board: NURSING, last_name: 'Smiht' }, ['SMITH']],
      ['verify_business_license', { business_name: 'smith funerel home' }, ['SMITH FUNERAL HOME']],
      ['verify_business_license', { license_number: '0299999999' }, []],
    ] as const) {
      const result = await found(tool, searched);
      const none = { outcome: 'not_found', count: 0, licenses: [] };
      expect(result).toMatchObject({ ...none, searched, did_you_mean });
      expect(result.message).toMatch(/2026-11-20.*issuing board is the authority/s);
      expect(result.message).toMatch(/not_found never means that somebody is unlicensed/);
    }
  });

  verifies(['NUMBER-04', 'MCP-03'], 'verify_license asks which of two boards is meant', async () => {
    const shared = await found('verify_license', { license_number: 'RN.72.0001' });
    expect(shared).toMatchObject({ outcome: 'ambiguous', licenses: [], did_you_mean: [] });
    expect(shared.message).toContain('the Medical Board and the Nursing Board. Name the board');
    expect(JSON.stringify(shared)).not.toContain('SHARED');
    const one = await found('verify_license', { license_number: 'RN.72.0001', board: MEDICAL });
    expect(one).toMatchObject({ outcome: 'found', licenses: [{ full_name: 'SHARED, DOCTOR' }] });
  });

  verifies(['MCP-04', 'MCP-09', 'MCP-08', 'FILTERS-01'], 'a search by name finds as REST does', async () => {
    const search = { board: NURSING, last_name: 'smith', first_name: 'mary' };
    const result = await found('search_licenses_by_name', search);
    expect(result).toMatchObject({ outcome: 'found', count: 3, searched: search });
    const { multiple } = matchesIn(await service.rest.verify(search));
    const compact = multiple.map((record) =>
      compactLicense.strip().parse({ ...record, board_action: record.extra_data['Board Action'] }),
    );
    expect(result.licenses.map((license) => ({ ...result.in_common, ...license }))).toEqual(compact);
    expect(result).toMatchObject({ total: 3, by_status: { ACTIVE: expect.any(Number) } });
    const filtered = { board: NURSING, last_name: 'Narrow', city: 'akron' };
    expect(await numbers('search_licenses_by_name', filtered)).toEqual(['RN.850001']);
  });

  verifies(['MCP-05', 'LIMITS-04'], 'search_licenses_by_name returns at most 100 matches', async () => {
    const crowd = await found('search_licenses_by_name', { board: NURSING, last_name: 'Crowd' });
    expect([crowd.licenses?.length, crowd.count, crowd.truncated]).toEqual([100, 100, true]);
    expect(crowd).toMatchObject({ total: 120, by_status: { ACTIVE: 120 } });
    expect(crowd.message).toMatch(/^120 licenses match \(100 listed.*narrow/);
    const few = { board: NURSING, last_name: 'Crowd', first_name: 'given11' };
    expect(await found('search_licenses_by_name', few)).toMatchObject({ count: 10, truncated: false });
  });

  verifies('MCP-06', 'verify_business_license finds by name or number, but no person', async () => {
    const search = { business_name: 'smith funeral' };
    expect(await numbers('verify_business_license', search)).toEqual(['FH.70004', '0290000001']);
    expect(await numbers('verify_business_license', { ...search, board: FUNERALS })).toEqual(['FH.70004']);
    expect(await numbers('verify_business_license', { license_number: 'coss.70003' })).toEqual([
      'COSS.70003',
    ]);
    const person = await found('verify_business_license', { license_number: 'RN.700001' });
    expect(person).toMatchObject({ outcome: 'not_found', licenses: [] });
    expect(person.message).toContain('verify_license looks it up');
    expect(await refused('verify_business_license', { board: PHARMACY })).toMatch(
      /business_name or license_number/,
    );
  });

  describe('verify_roster', () => {
    const verified = async (items: readonly unknown[], more: object = {}) =>
      rosterResult.parse(await answered('verify_roster', { items, ...more }));

    test('verifies persons and businesses, by number and by name, in order', async () => {
      const { count, summary, results } = await verified([
        { reference: 'a', license_number: 'rn 700001', last_name: 'Nobody' },
        { reference: 'b', board: NURSING, last_name: 'Narrow' },
        { reference: 'c', business_name: 'Smith Funeral Supplies' },
        { reference: 'd', license_number: 'RN.70001' },
        { reference: 'e', license_number: 'rn 710001' },
        { reference: 'f', last_name: 'Narrow' },
      ]);
      expect([count, summary]).toEqual([6, { found: 2, clear: 1, ambiguous: 1, not_found: 2, invalid: 1 }]);
      expect(results).toEqual([
        {
          ...{ index: 0, reference: 'a', outcome: 'found', name_match: false },
          message: expect.stringContaining('do not assume that it is that person’s license'),
          licenses: [expect.objectContaining({ license_number: 'RN.700001' })],
        },
        {
          ...{ index: 1, reference: 'b', outcome: 'ambiguous' },
          licenses: [
            expect.objectContaining({ license_number: 'RN.850001', city: 'AKRON' }),
            expect.objectContaining({ license_number: 'RN.850002', raw_status: 'Inactive - Lapsed' }),
          ],
        },
        expect.objectContaining({ index: 2, reference: 'c', outcome: 'found' }),
        expect.objectContaining({ index: 3, outcome: 'not_found', did_you_mean: expect.any(Array) }),
        expect.objectContaining({
          index: 4,
          outcome: 'not_found',
          reason: 'ambiguous',
          message: expect.stringContaining('fits more than one'),
        }),
        { index: 5, reference: 'f', outcome: 'invalid', message: expect.stringContaining('needs board') },
      ]);
    });

    test('looks a person up who comes with a business, such as an employer, and not the business', async () => {
      const employer = { business_name: 'Smith Funeral Supplies' };
      const { results } = await verified([
        { board: NURSING, last_name: 'Narrow', first_name: 'Nobody', ...employer },
        { license_number: 'RN.700001', last_name: 'Delacruz', ...employer },
      ]);
      expect(results).toMatchObject([
        { outcome: 'not_found' },
        { outcome: 'found', name_match: true, licenses: [{ license_number: 'RN.700001' }] },
      ]);
    });

    test('lists three matches of a name, or as many as max_matches says', async () => {
      const crowd = { board: NURSING, last_name: 'Crowd' };
      const listed = async (more: object) =>
        (await verified([crowd], more)).results.map(({ licenses, truncated }) => [
          licenses?.length,
          truncated,
        ]);
      expect([await listed({}), await listed({ max_matches: 10 })]).toEqual([[[3, true]], [[10, true]]]);
      expect(await refused('verify_roster', { items: [crowd], max_matches: 11 })).toMatch(
        /max_matches must be/,
      );
    });

    test('accepts null and blank in items; an item with an unknown parameter or an invalid value is invalid', async () => {
      const { results } = await verified([
        { reference: '', license_number: 'RN.700001', board: null, last_name: ' ' },
        { number: 'RN.700001' },
        { license_number: 7 },
        { license_number: 'RN.700001', board: 'Nursing' },
      ]);
      expect(results.map(({ outcome }) => outcome)).toEqual(['found', 'invalid', 'invalid', 'invalid']);
      expect(results[1]?.message).toMatch(/^The item has no .*Unknown parameters are ignored\./);
      expect(results[3]?.message).toMatch(/The nearest: "Nursing Board"/);
    });

    test('is refused without items or with more than 50', async () => {
      const item = { license_number: 'RN.700001' };
      for (const items of [undefined, [], 'RN.700001', [5], times(51, () => item)])
        expect(await refused('verify_roster', { items })).toMatch(/items must be a list of 1 to 50 objects/);
      expect((await verified(times(50, () => item))).summary.found).toBe(50);
    });
  });
});

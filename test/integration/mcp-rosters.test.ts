import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { times } from '../support/fixtures.ts';
import { compactLicense, connected, ERAS, startMcpService, toolCalls } from '../support/mcp-tools.ts';
import type { TestService } from '../support/service.ts';

const NURSING = 'Nursing Board';

const rosterResult = z.strictObject({
  data_as_of: z.literal('2026-11-20'),
  message: z.string().regex(/not_found never means that somebody is unlicensed/),
  count: z.int(),
  summary: z.strictObject({
    found: z.int(),
    clear: z.int(),
    ambiguous: z.int(),
    not_found: z.int(),
    invalid: z.int(),
  }),
  results: z.array(
    z.strictObject({
      index: z.int(),
      reference: z.string().nullable(),
      outcome: z.enum(['found', 'ambiguous', 'not_found', 'invalid']),
      reason: z.enum(['unknown', 'ambiguous', 'other_board', 'not_a_business']).optional(),
      message: z.string().optional(),
      name_match: z.boolean().optional(),
      licenses: z.array(z.strictObject(compactLicense.shape)).optional(),
      truncated: z.literal(true).optional(),
      did_you_mean: z.array(z.string()).optional(),
    }),
  ),
});

let service: TestService;

beforeAll(async () => {
  service = await startMcpService();
});
afterAll(() => service.stop());

describe.each(ERAS)('verify_roster for a client of the %s era', (_era, versionNegotiation) => {
  let client: Client;

  beforeAll(async () => {
    client = await connected(service, versionNegotiation);
  });
  afterAll(() => client.close());

  const { answered, refused } = toolCalls(() => client);

  async function verified(items: readonly unknown[], more: object = {}) {
    return rosterResult.parse(await answered('verify_roster', { items, ...more }));
  }

  test('answers persons and businesses, by number and by name, in order', async () => {
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
        message: expect.stringContaining('do not take this license for that person’s'),
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

  test('lists three matches of a name, or as many as the call says', async () => {
    const crowd = { board: NURSING, last_name: 'Crowd' };
    const listed = async (more: object) =>
      (await verified([crowd], more)).results.map(({ licenses, truncated }) => [licenses?.length, truncated]);
    expect(await listed({})).toEqual([[3, true]]);
    expect(await listed({ max_matches: 10 })).toEqual([[10, true]]);
    expect(await refused('verify_roster', { items: [crowd], max_matches: 11 })).toMatch(
      /max_matches must be/,
    );
  });

  test('takes null and blank for absent, and says which parameters of an item it does not know', async () => {
    const { results } = await verified([
      { reference: '', license_number: 'RN.700001', board: null, last_name: ' ' },
      { number: 'RN.700001' },
      { license_number: 7 },
      { license_number: 'RN.700001', board: 'Nursing' },
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['found', 'invalid', 'invalid', 'invalid']);
    expect(results[1]?.message).toMatch(/"number"/);
    expect(results[3]?.message).toMatch(/The nearest: "Nursing Board"/);
  });

  test('refuses a roster without items or with too many', async () => {
    const item = { license_number: 'RN.700001' };
    for (const items of [undefined, [], 'RN.700001', [5], times(51, () => item)]) {
      expect(await refused('verify_roster', { items })).toMatch(/items must be a list of 1 to 50 objects/);
    }
    expect((await verified(times(50, () => item))).summary.found).toBe(50);
  });
});

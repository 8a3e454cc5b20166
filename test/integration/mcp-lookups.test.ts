import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { recordAnswer, recordIn } from '../support/answers.ts';
import { compactLicense, connected, ERAS, startMcpService, toolCalls } from '../support/mcp-tools.ts';
import type { TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';
const MEDICAL = 'Medical Board';
const FUNERALS = 'Embalmers and Funeral Directors Board';

let service: TestService;

beforeAll(async () => {
  service = await startMcpService();
});
afterAll(() => service.stop());

describe.each(ERAS)('a client of the %s era', (_era, versionNegotiation) => {
  let client: Client;

  beforeAll(async () => {
    client = await connected(service, versionNegotiation);
  });
  afterAll(() => client.close());

  const { found, numbers, refused } = toolCalls(() => client);

  verifies(
    ['MCP-03', 'MCP-08', 'MCP-09', 'SERVICE-01'],
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

  verifies('MCP-03', 'verifies a license by its number and board', async () => {
    expect(await numbers('verify_license', { license_number: 'RN.700001', board: NURSING })).toEqual([
      'RN.700001',
    ]);
    const elsewhere = await found('verify_license', { license_number: 'RN.700001', board: PHARMACY });
    expect(elsewhere).toMatchObject({ outcome: 'not_found', count: 0, licenses: [] });
    expect(elsewhere.message).toContain(NURSING);
    expect(JSON.stringify(elsewhere)).not.toMatch(/cruz|maria/i);
  });

  verifies(
    ['MCP-08', 'MISS-01', 'SERVICE-03'],
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

  verifies('NUMBER-04', 'gets both numbers and no license when a number fits two licenses', async () => {
    const twins = await found('verify_license', { license_number: 'RN710001' });
    expect(twins).toMatchObject({ outcome: 'ambiguous', licenses: [] });
    expect(twins.did_you_mean.sort()).toEqual(['RN.71.0001', 'RN.710.001']);
    const boards = await found('verify_license', { license_number: 'SP 70013' });
    expect(boards.did_you_mean.sort()).toEqual(['SP-70013', 'SP.70013']);
  });

  verifies('NUMBER-04', 'has to name the board when two boards have the same number', async () => {
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
    ['MCP-04', 'MCP-09', 'MCP-08'],
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
    ['MCP-05', 'LIMITS-04'],
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

  verifies('FILTERS-01', 'filters by license_type, status, city and county as REST does', async () => {
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
  });

  verifies(
    'MCP-06',
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
});

import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { MISTYPED_BOARDS } from '../fixtures/mistyped-boards.ts';
import { safeDetailIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { postBody } from '../support/raw-http.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const GOOD = { board: NURSING, license_number: 'RN.700001' };

let service: ReadService;
let rest: ApiClient;

beforeAll(async () => {
  service = await sharedService();
  rest = service.rest;
});

describe('400', () => {
  verifies(['LOOKUP-01', 'INPUT-02'], 'for a missing or blank board', async () => {
    for (const body of [{}, { board: '' }, { board: '  ' }, { license_number: 'RN.700001' }]) {
      expect(safeDetailIn(await rest.verify(body), 400)).toMatch(/^board is required/);
    }
    const search = { search_type: 'business', business_name: 'best' };
    expect(safeDetailIn(await rest.verify(search), 400)).toMatch(/^board is required/);
  });

  verifies(
    ['LOOKUP-02', 'BOARDS-02', 'ERRORS-02', 'ERRORS-08'],
    'for a board that does not equal a board name, and names the nearest',
    async () => {
      for (const [board, nearest] of MISTYPED_BOARDS) {
        const detail = safeDetailIn(await rest.verify({ ...GOOD, board }), 400);
        expect([board, detail]).toEqual([
          board,
          `No board has exactly the name given; the nearest is "${nearest}". GET /lookup/boards lists all.`,
        ]);
      }
    },
  );

  verifies(['LOOKUP-04', 'ERRORS-02'], 'for a search without a required field', async () => {
    expect(safeDetailIn(await rest.verify({ board: NURSING }), 400)).toMatch(/license_number, or last_name/);
    expect(safeDetailIn(await rest.verify({ board: NURSING, first_name: 'Ann' }), 400)).toMatch(/last_name/);
    const blank = { board: NURSING, license_number: ' ', last_name: '' };
    expect(safeDetailIn(await rest.verify(blank), 400)).toMatch(/license_number, or last_name/);
  });

  verifies(['INPUT-04', 'ERRORS-02'], 'for a field of the wrong type, and names the field', async () => {
    const fields = [
      ...['board', 'license_number', 'last_name', 'first_name', 'search_type', 'business_name'],
      ...['license_type', 'status', 'city', 'county'],
    ];
    for (const field of fields) {
      for (const value of [1, { $ne: '' }]) {
        const detail = safeDetailIn(await rest.verify({ ...GOOD, [field]: value }), 400);
        expect(detail).toBe(`${field} must be a string.`);
      }
    }
  });

  verifies(['INPUT-04', 'ERRORS-02'], 'for a body that is not a JSON object', async () => {
    for (const body of ['[]', `[${JSON.stringify(GOOD)}]`, 'null', '"text"', '1', 'true']) {
      const detail = safeDetailIn(await postBody(service, body), 400);
      expect([body, detail]).toEqual([body, 'The body must be a JSON object.']);
    }
    for (const body of ['', ' ']) {
      const detail = safeDetailIn(await postBody(service, body), 400);
      expect([body, detail]).toEqual([body, 'The body is not valid JSON.']);
    }
  });

  verifies('INPUT-05', 'for a name or a filter with neither a letter nor a digit', async () => {
    for (const body of [
      { last_name: '---' },
      { last_name: '💉' },
      { last_name: '\u02bb' },
      { last_name: '\u0301' },
      { last_name: '\u24b6' },
      { last_name: 'Smith', first_name: '*' },
      { last_name: 'Smith', city: "''" },
      { last_name: 'Smith', license_type: '()' },
      { search_type: 'business', business_name: '&' },
    ]) {
      const detail = safeDetailIn(await rest.verify({ board: NURSING, ...body }), 400);
      expect([body, detail]).toEqual([body, expect.stringMatching(/^\w+ must have a letter or a digit\.$/)]);
    }
    for (const given of ['é', '7', '*x*', '李']) {
      expect([given, (await rest.verify({ board: NURSING, last_name: given, city: given })).status]).toEqual([
        given,
        200,
      ]);
    }
    const tool = await rest.callTool('search_licenses_by_name', { board: NURSING, last_name: '---' });
    expect(tool.text).toContain('last_name must have a letter or a digit.');
  });

  verifies('FILTERS-02', 'for a license type that the board does not have', async () => {
    const detail = safeDetailIn(
      await rest.verify({ board: NURSING, last_name: 'Smith', license_type: 'Barber' }),
      400,
    );
    expect(detail).toMatch(/^The Nursing Board has no such license_type\. It has: .*Registered Nurse \(RN\)/);
    for (const license_type of ['Registered Nurse (RN)', 'registered nurse', 'rn']) {
      expect((await rest.verify({ board: NURSING, last_name: 'Smith', license_type })).status).toBe(200);
    }
    const tool = await rest.callTool('verify_business_license', {
      business_name: 'Best',
      license_type: 'Lemonade Stand',
    });
    expect(tool.text).toContain('No board has this license_type');
  });

  verifies('INPUT-06', 'for a body that is not valid UTF-8', async () => {
    const latin1 = Buffer.from(JSON.stringify({ board: NURSING, last_name: 'Müller' }), 'latin1');
    expect(safeDetailIn(await postBody(service, latin1), 400)).toBe('The body is not valid UTF-8.');
    const packed = await postBody(service, gzipSync(latin1), { 'content-encoding': 'gzip' });
    expect(safeDetailIn(packed, 400)).toBe('The body is not valid UTF-8.');
    const tool = await rest.request('POST', '/mcp', {
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: latin1,
    });
    expect(safeDetailIn(tool, 400)).toBe('The body is not valid UTF-8.');
  });

  test('never for unusual characters', async () => {
    for (const odd of [
      'x\u0000',
      'x\ud800',
      'x💉',
      '<script>',
      "'; DROP TABLE",
      '../../etc',
      'x‮',
      'a\u0301'.repeat(90),
    ]) {
      expect([odd, (await rest.verify({ ...GOOD, license_number: odd })).status]).toEqual([odd, 404]);
      expect([odd, (await rest.verify({ board: NURSING, last_name: odd })).status]).toEqual([odd, 200]);
    }
    for (const odd of ['\ud800', '💉', '\u0301']) {
      expect([odd, (await rest.verify({ ...GOOD, license_number: odd })).status]).toEqual([odd, 404]);
    }
    // Nobody sees these: the number counts as absent.
    for (const blank of ['\u0000', '\u202e']) {
      expect([blank, (await rest.verify({ ...GOOD, license_number: blank })).status]).toEqual([blank, 400]);
    }
  });

  verifies(
    'INPUT-07',
    'never for a name of which only the folded form exceeds 200 characters: it matches nothing',
    async () => {
      const long = '\ufdfa'.repeat(60);
      const answer = await rest.verify({ board: NURSING, last_name: long });
      expect([answer.status, answer.body]).toMatchObject([200, { found: false, count: 0, did_you_mean: [] }]);
      expect((await rest.verify({ ...GOOD, license_number: long })).status).toBe(404);
      const tool = await rest.callTool('search_licenses_by_name', { board: NURSING, last_name: long });
      expect(tool.text).toContain('not_found');
    },
  );
});

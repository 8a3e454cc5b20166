import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FIXTURES_DATE, fixturesAnd, nurseRow, times } from '../support/fixtures.ts';
import { ROSTER_PATH, rosterAnswer, sendRoster } from '../support/rosters.ts';
import { startService, type TestService } from '../support/service.ts';

const NURSING = 'Nursing Board';
const KNOWN = { license_number: 'RN.700001' };
const UNKNOWN = { license_number: 'RN.799999' };

let service: TestService;

beforeAll(async () => {
  const namesakes = times(30, (at) => nurseRow(`ROSTER, ANN ${at}`, `RN.4440${String(at).padStart(2, '0')}`));
  service = await startService({ files: (folder) => fixturesAnd(folder, { individual: namesakes }) });
});
afterAll(() => service.stop());

async function answered(body: unknown) {
  const { status, headers, body: answer } = await sendRoster(service.rest, body);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  return rosterAnswer.parse(answer);
}

async function refused(body: unknown): Promise<string> {
  const { status, body: answer } = await sendRoster(service.rest, body);
  expect([status, answer]).toEqual([400, { detail: expect.any(String), data_age_days: expect.any(Number) }]);
  return JSON.stringify(answer);
}

describe('a roster', () => {
  test('has a result for each item, in order, with a summary and the date of the dataset', async () => {
    const items = [
      { reference: 'a', ...KNOWN, last_name: 'De La Cruz' },
      { reference: 'b', last_name: 'Smith' },
      { ...UNKNOWN },
      { reference: 'd' },
    ];
    const { status, body } = await sendRoster(service.rest, { board: NURSING, items });
    expect(status).toBe(200);
    expect(body).toEqual({
      feed_cursor: expect.any(String),
      count: 4,
      summary: { found: 1, clear: 1, ambiguous: 1, not_found: 1, invalid: 1 },
      source: 'dataset',
      last_scraped: `${FIXTURES_DATE}T00:00:00`,
      data_age_days: expect.any(Number),
      results: [
        {
          index: 0,
          reference: 'a',
          outcome: 'found',
          found_by: 'number',
          record: expect.objectContaining({
            ...KNOWN,
            name_match: true,
            days_until_expiry: expect.any(Number),
          }),
        },
        {
          index: 1,
          reference: 'b',
          outcome: 'ambiguous',
          matches: times(3, () => expect.objectContaining({ found: true, board: NURSING })),
          truncated: false,
        },
        {
          index: 2,
          reference: null,
          outcome: 'not_found',
          detail: expect.stringContaining('No license with the number "RN.799999"'),
          reason: 'unknown',
          did_you_mean: [],
        },
        {
          index: 3,
          reference: 'd',
          outcome: 'invalid',
          detail: expect.stringMatching(/^Give license_number/),
        },
      ],
    });
  });

  test('lists five matches of a name, or as many as it asks for, exact names first', async () => {
    const item = { last_name: 'Roster', first_name: 'Ann' };
    for (const [maxMatches, listed] of [
      [undefined, 5],
      [null, 5],
      [1, 1],
      [20, 20],
    ]) {
      const { results } = await answered({ board: NURSING, max_matches: maxMatches, items: [item] });
      expect(results).toEqual([
        expect.objectContaining({
          outcome: 'ambiguous',
          truncated: true,
          matches: times(listed ?? 0, () =>
            expect.objectContaining({ full_name: expect.stringMatching(/^ROSTER, ANN/) }),
          ),
        }),
      ]);
    }
  });

  test('takes its board where an item has none, and never in place of one that it has', async () => {
    const { results } = await answered({
      board: 'Dental Board',
      items: [{ ...KNOWN, board: NURSING }, KNOWN, { ...KNOWN, board: ' ' }, { ...KNOWN, board: null }],
    });
    expect(results.map(({ outcome }) => outcome)).toEqual(['found', 'not_found', 'not_found', 'not_found']);
  });

  test.each([null, '', ' '])('has no board of its own with board %j', async (board) => {
    const items = [{ last_name: 'Smith', board: 'nursing' }, KNOWN, { last_name: 'Smith' }];
    const { results } = await answered({ board, items });
    expect(results).toMatchObject([
      { outcome: 'ambiguous' },
      { outcome: 'found' },
      { outcome: 'invalid', detail: expect.stringMatching(/^board is required/) },
    ]);
  });

  test('suggests for its first 50 misses only, and says so for the others', async () => {
    const items = [
      ...times(60, () => ({ license_number: 'RN.70001' })),
      KNOWN,
      { license_number: 'RN.70001' },
    ];
    const { results, summary } = await answered({ board: NURSING, items });
    expect(summary).toEqual({ found: 1, clear: 1, ambiguous: 0, not_found: 61, invalid: 0 });
    const misses = results.filter(({ outcome }) => outcome === 'not_found');
    expect(misses.slice(0, 50).every((miss) => !('suggestions_omitted' in miss))).toBe(true);
    expect(misses[0]?.did_you_mean).toContain('RN.700015');
    for (const miss of misses.slice(50)) {
      expect(miss).toMatchObject({ did_you_mean: [], suggestions_omitted: true });
    }
  });

  test.each([
    ['is no object', 5, 'The item must be a JSON object.'],
    ['is null', null, 'The item must be a JSON object.'],
    ['is an array', [KNOWN], 'The item must be a JSON object.'],
    ['has a reference that is no text', { ...KNOWN, reference: 5 }, 'reference must be a string.'],
    [
      'has a long reference',
      { ...KNOWN, reference: 'x'.repeat(101) },
      'reference must have at most 100 characters.',
    ],
  ])('answers an item that %s as invalid, and every other item', async (_what, item, detail) => {
    const { results } = await answered({ board: NURSING, items: [KNOWN, item, KNOWN] });
    expect(results).toEqual([
      expect.objectContaining({ outcome: 'found' }),
      expect.objectContaining({ index: 1, outcome: 'invalid', detail: expect.stringContaining(detail) }),
      expect.objectContaining({ outcome: 'found' }),
    ]);
  });

  test('repeats a reference exactly, and answers 1,000 items', async () => {
    const items = times(1000, (at) => ({ ...KNOWN, reference: ` é ${at} ` }));
    const { count, results } = await answered({ board: NURSING, items });
    expect(count).toBe(1000);
    expect(results.map(({ reference }) => reference)).toEqual(items.map(({ reference }) => reference));
  });
});

describe('a roster is refused as a whole', () => {
  test.each([
    ['without items', { board: NURSING }, /items must be an array of 1 to 1000 lookups/],
    ['with no item', { items: [] }, /items must be an array of 1 to 1000 lookups/],
    [
      'with 1,001 items',
      { board: NURSING, items: times(1001, () => KNOWN) },
      /items must be an array of 1 to 1000/,
    ],
    ['with items that are no array', { items: { a: 1 } }, /items must be an array/],
    ['that is an array', [KNOWN], /must be a JSON object/],
    [
      'with a board that is none',
      { board: 'Wizards', items: [KNOWN] },
      /No board has exactly the name given/,
    ],
    ['with a board that is no text', { board: 5, items: [KNOWN] }, /board must be a string/],
    [
      'with max_matches 0',
      { max_matches: 0, items: [KNOWN] },
      /max_matches must be a whole number from 1 to 20/,
    ],
    [
      'with max_matches 21',
      { max_matches: 21, items: [KNOWN] },
      /max_matches must be a whole number from 1 to 20/,
    ],
    [
      'with max_matches 1.5',
      { max_matches: 1.5, items: [KNOWN] },
      /max_matches must be a whole number from 1 to 20/,
    ],
    ['with max_matches as text', { max_matches: '5', items: [KNOWN] }, /max_matches must be a whole number/],
    ['that is not JSON', '{"items": [', /not valid JSON/],
    ['that is nested 100,000 deep', '['.repeat(100_000), /not valid JSON/],
  ])('%s', async (_what, body, detail) => {
    expect(await refused(body)).toMatch(detail);
  });

  test('without a key, and by another method', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ board: NURSING, items: [KNOWN] });
    const bad = await service.rest.request('POST', ROSTER_PATH, {
      headers: { ...headers, 'X-API-Key': 'x' },
      body,
    });
    expect(bad.status).toBe(401);
    const get = await service.rest.get(ROSTER_PATH);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('with more than 1 MB, and answered just below', async () => {
    const padded = (bytes: number) => {
      const body = JSON.stringify({ board: NURSING, items: [KNOWN] });
      return body + ' '.repeat(bytes - body.length);
    };
    expect((await sendRoster(service.rest, padded(1024 * 1024))).status).toBe(200);
    const { status, body } = await sendRoster(service.rest, padded(1024 * 1024 + 1));
    expect([status, body]).toMatchObject([
      413,
      { detail: 'The body is too large; a roster takes at most 1 MB.' },
    ]);
  });

  test('as another media type', async () => {
    const { status, body } = await sendRoster(service.rest, '<items/>', {
      'content-type': 'application/xml',
    });
    expect([status, body]).toMatchObject([415, { detail: expect.stringContaining('text/csv') }]);
  });
});

test('nested deeply in an item, a roster is answered', async () => {
  const nested = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const { status, body } = await sendRoster(
    service.rest,
    `{"board":"${NURSING}","items":[{"license_number":"RN.700001","x":${nested}},${nested}]}`,
  );
  expect(status).toBe(200);
  expect(rosterAnswer.parse(body).results.map(({ outcome }) => outcome)).toEqual(['found', 'invalid']);
});

import { expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { RESULT_COLUMNS } from '../../src/rosters/answer.ts';
import { FIXTURES_DATE, times } from '../support/fixtures.ts';
import { ROSTER_PATH, rosterAnswer, sendRoster, sendTable } from '../support/rosters.ts';
import { sharedService } from '../support/shared-service.ts';

const NURSING = 'Nursing Board';
const ALL_NURSES = '?board=Nursing%20Board';
const KNOWN = { license_number: 'RN.700001' };

// test/http-transcripts/rosters.http has whole answers.
const { rest } = await sharedService();

async function answered(body: unknown) {
  const { status, headers, body: answer } = await sendRoster(rest, body);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  return rosterAnswer.parse(answer);
}

async function refused(body: unknown): Promise<string> {
  const { status, body: answer } = await sendRoster(rest, body);
  expect([status, answer]).toEqual([400, { detail: expect.any(String), data_age_days: expect.any(Number) }]);
  return JSON.stringify(answer);
}

test('a roster takes its board where an item has none, and never in place of one that it has', async () => {
  const { results } = await answered({
    board: 'Dental Board',
    items: [{ ...KNOWN, board: NURSING }, KNOWN, { ...KNOWN, board: ' ' }, { ...KNOWN, board: null }],
  });
  expect(results.map(({ outcome }) => outcome)).toEqual(['found', 'not_found', 'not_found', 'not_found']);
});

test.each([null, '', ' '])('a roster has no board of its own with board %j', async (board) => {
  const items = [{ last_name: 'Smith', board: 'nursing' }, KNOWN, { last_name: 'Smith' }];
  const { results } = await answered({ board, items });
  expect(results).toMatchObject([
    { outcome: 'ambiguous' },
    { outcome: 'found' },
    { outcome: 'invalid', detail: expect.stringMatching(/^board is required/) },
  ]);
});

test('a roster suggests for its first 50 misses only, and says so for the others', async () => {
  const items = [
    ...times(60, () => ({ license_number: 'RN.70001' })),
    KNOWN,
    { license_number: 'RN.70001' },
    { board: 'Board of Pharmacy', license_number: 'RN.700001' },
  ];
  const { results, summary } = await answered({ board: NURSING, items });
  expect(summary).toEqual({ found: 1, clear: 1, ambiguous: 0, not_found: 62, invalid: 0 });
  const ofOtherBoard = results.pop();
  expect(ofOtherBoard).toMatchObject({ reason: 'other_board', did_you_mean: ['RN.700001'] });
  expect(ofOtherBoard).not.toHaveProperty('suggestions_omitted');
  const misses = results.filter(({ outcome }) => outcome === 'not_found');
  expect(misses.slice(0, 50).every((miss) => !('suggestions_omitted' in miss))).toBe(true);
  expect(misses[0]?.did_you_mean).toContain('RN.700015');
  for (const miss of misses.slice(50))
    expect(miss).toMatchObject({ did_you_mean: [], suggestions_omitted: true });
});

test.each([
  ['is no object', [KNOWN], 'The item must be a JSON object.'],
  ['has a reference that is no text', { ...KNOWN, reference: 5 }, 'reference must be a string.'],
  [
    'has a long reference',
    { ...KNOWN, reference: 'x'.repeat(101) },
    'reference must have at most 100 characters.',
  ],
])('a roster answers an item that %s as invalid, and every other item', async (_what, item, detail) => {
  const { results } = await answered({ board: NURSING, items: [KNOWN, item, KNOWN] });
  expect(results).toEqual([
    expect.objectContaining({ outcome: 'found' }),
    expect.objectContaining({ index: 1, outcome: 'invalid', detail: expect.stringContaining(detail) }),
    expect.objectContaining({ outcome: 'found' }),
  ]);
});

test('a roster repeats a reference exactly, and answers 1,000 items', async () => {
  const items = times(1000, (at) => ({ ...KNOWN, reference: ` é ${at} ` }));
  const { count, results } = await answered({ board: NURSING, items });
  expect(count).toBe(1000);
  expect(results.map(({ reference }) => reference)).toEqual(items.map(({ reference }) => reference));
});

test.each<[string, unknown, RegExp]>([
  ['without items', { board: NURSING }, /items must be an array of 1 to 1000 lookups/],
  ['with no item', { items: [] }, /items must be an array of 1 to 1000 lookups/],
  ['with 1,001 items', { items: times(1001, () => KNOWN) }, /items must be an array of 1 to 1000 lookups/],
  ['that is an array', [KNOWN], /must be a JSON object/],
  ['with a board that is none', { board: 'Wizards', items: [KNOWN] }, /No board has exactly the name/],
  ['with a board that is no text', { board: 5, items: [KNOWN] }, /board must be a string/],
  ...[0, 21, 1.5, '5'].map((most): [string, unknown, RegExp] => [
    `with max_matches ${JSON.stringify(most)}`,
    { max_matches: most, items: [KNOWN] },
    /max_matches must be a whole number from 1 to 20/,
  ]),
  ['that is nested 100,000 deep', '['.repeat(100_000), /not valid JSON/],
])('a roster is refused as a whole %s', async (_what, body, detail) => {
  expect(await refused(body)).toMatch(detail);
});

test('a roster of just 1 MB, nested deeply in its items, is answered', async () => {
  const nested = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const body = `{"board":"${NURSING}","items":[{"license_number":"RN.700001","x":${nested}},${nested}]}`;
  const { results } = await answered(body.padEnd(1024 * 1024));
  expect(results.map(({ outcome }) => outcome)).toEqual(['found', 'invalid']);
});

/** The rows of an answer as objects, and its header row. */
async function table(csv: string | Uint8Array<ArrayBuffer>, query = ALL_NURSES) {
  const { status, headers, text } = await sendTable(rest, csv, query);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  const rows = parse<Record<string, string>>(text, { columns: true });
  return { text, rows, columns: parse(text, { to: 1 })[0] };
}

test('a roster as CSV is answered with its rows and columns, and those of the results', async () => {
  const { columns, rows } = await table(
    'ward,license_number,Last Name,note\r\n' +
      '3 West,RN.700001,De La Cruz,"a, b"\r\n' +
      '3 West,RN.700001,Somebody,\r\n',
  );
  expect(columns).toEqual(['ward', 'license_number', 'Last Name', 'note', ...RESULT_COLUMNS]);
  const found = {
    ...{ ward: '3 West', license_number: 'RN.700001', 'Last Name': 'De La Cruz', note: 'a, b' },
    ...Object.fromEntries(RESULT_COLUMNS.map((column) => [column, ''])),
    result_outcome: 'found',
    result_verdict: 'Clear',
    result_license_number: 'RN.700001',
    result_full_name: 'DE LA CRUZ, MARIA ELENA',
    result_license_type: 'Registered Nurse (RN)',
    result_status: 'ACTIVE',
    result_raw_status: 'Active',
    result_expiry_date: '2099-10-31',
    result_days_until_expiry: expect.stringMatching(/^\d+$/),
    result_board_action: 'No',
    result_notes: 'endorsement',
    result_detail: expect.stringContaining('APRN.CNP.0070001'),
    result_name_match: 'true',
    result_found_by: 'number',
    result_last_scraped: `${FIXTURES_DATE}T00:00:00`,
    result_data_age_days: expect.stringMatching(/^\d+$/),
  };
  expect(rows).toEqual([
    found,
    {
      ...found,
      ...{ 'Last Name': 'Somebody', note: '' },
      result_verdict: 'Needs attention',
      result_cautions: 'name_mismatch',
      result_name_match: 'false',
      result_detail: expect.stringContaining('not the holder’s'),
    },
  ]);
});

test('a roster as CSV is clear for a whole name only, not for a surname alone or with an initial', async () => {
  const { rows } = await table('last_name,first_name\nAlias,Ann\nAlias,A\nAlias,\n');
  const verdicts = rows.map(({ result_outcome, result_verdict }) => `${result_outcome}: ${result_verdict}`);
  expect(verdicts).toEqual(['found: Clear', 'found: Needs attention', 'found: Needs attention']);
});

test('a roster as CSV has its formulas neutralized, and the answer to an answer is the same, also for fields that begin with a sign', async () => {
  const first = await table('reference,license_number,note\n-7,+RN.700001,"x;=1\n=2"\n');
  expect(first.rows).toEqual([expect.objectContaining({ reference: "'-7", note: "x;'=1\n'=2" })]);
  expect((await table(first.text)).text).toBe(first.text);
  const json = await sendTable(rest, first.text, ALL_NURSES, { accept: 'application/json' });
  expect(rosterAnswer.parse(json.body).results).toEqual([expect.objectContaining({ reference: '-7' })]);
});

test('a roster as CSV has a result for each item of JSON, whatever it is', async () => {
  const items = [{ reference: '7', license_number: 'RN.700001' }, { last_name: 'Smith' }, 5];
  const asked = { json: { board: NURSING, items }, headers: { accept: 'text/csv' } };
  const asTable = await rest.request('POST', ROSTER_PATH, asked);
  expect(asTable.text.split('\r\n').slice(0, 4)).toEqual([
    ['reference', 'license_number', 'last_name', ...RESULT_COLUMNS].join(','),
    expect.stringMatching(/^7,RN\.700001,,found,Clear,RN\.700001,/),
    expect.stringMatching(/^,,Smith,ambiguous,/),
    expect.stringMatching(/^,,,invalid,/),
  ]);
});

test('a roster as CSV keeps rows with too few cells, and answers those with too many as invalid', async () => {
  const { rows } = await table('license_number,last_name,note\nRN.700001\n\nRN.700001,a,b,c\n');
  expect(rows.map(({ result_outcome }) => result_outcome)).toEqual(['found', 'invalid']);
  expect(rows[1]?.result_detail).toContain('The row has 4 cells, but the header row has 3');
});

const NOT_UTF8 = new Uint8Array([...Buffer.from('last_name\nMu'), 0xf1, 0x6f, 0x0a]);

test.each<[what: string, csv: string | Uint8Array<ArrayBuffer>, detail: RegExp, query?: string]>([
  ['has no column of a lookup', 'note,ward\nx,y\n', /at least one of license_number, last_name, business/],
  ['has a column twice', 'last_name,Last Name\nx,y\n', /more than one column last_name/],
  ['has no rows', 'license_number\n', /no rows/],
  ['has 1,001 rows', `license_number\n${'RN.700001\n'.repeat(1001)}`, /more than 1,000 rows/],
  ['has 201 columns', `license_number,${times(200, (at) => `c${at}`).join(',')}\nRN.1\n`, /the limit is 200/],
  ['has a quotation mark that is not closed', 'license_number\nRN.1\n"RN.2\nRN.3\n', /Row 3 of the CSV/],
  ['is not UTF-8', NOT_UTF8, /not valid UTF-8/],
  ['is sent with max_matches=five', 'license_number\nRN.1\n', /must be a whole number/, '?max_matches=five'],
  ['is sent with board=Wizards', 'license_number\nRN.1\n', /No board has exactly the name/, '?board=Wizards'],
])('a CSV is refused that %s', async (_what, csv, detail, query = ALL_NURSES) => {
  const { status, text } = await sendTable(rest, csv, query);
  expect([status, text]).toEqual([400, expect.stringMatching(detail)]);
});

test.each([
  ['NUL bytes', 'license_number,note\n"RN.700001",a\u0000b\nRN\u0000.700001,\n', ['found', 'found']],
  [
    'line breaks of every kind',
    'license_number\r\nRN.700001\rRN.700001\nRN.1\r\n',
    ['found', 'found', 'not_found'],
  ],
  ['a header with a line break in it', '"license\nnumber",x\r\nRN.700001,"a\nb"\r\n', ['found']],
  ['a row of a million cells', `license_number\n${','.repeat(1_000_000)}\nRN.700001\n`, ['invalid', 'found']],
  ['1,000 identical rows', `license_number\n${'RN.700001\n'.repeat(1000)}`, times(1000, () => 'found')],
])('hostile CSV with %s is answered', async (_what, csv, outcomes) => {
  const { rows } = await table(csv);
  expect(rows.map(({ result_outcome }) => result_outcome)).toEqual(outcomes);
});

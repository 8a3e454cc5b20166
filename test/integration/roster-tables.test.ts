import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { RESULT_COLUMNS } from '../../src/rosters/answer.ts';
import { FIXTURES_DATE, times } from '../support/fixtures.ts';
import { rosterAnswer, sendRoster, sendTable } from '../support/rosters.ts';
import { startService, type TestService } from '../support/service.ts';

const NURSING = '?board=Nursing%20Board';
const LAST_SCRAPED = `${FIXTURES_DATE}T00:00:00`;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** The rows of an answer as objects, and its header row. */
async function table(csv: string | Uint8Array<ArrayBuffer>, query = NURSING, delimiter = ',') {
  const { status, headers, text } = await sendTable(service.rest, csv, query);
  expect([status, headers.get('content-type'), text]).toEqual([
    200,
    'text/csv; charset=utf-8',
    expect.any(String),
  ]);
  const rows = parse<Record<string, string>>(text, { delimiter, columns: true });
  return { text, rows, columns: parse(text, { delimiter, to: 1 })[0] };
}

async function refused(csv: string | Uint8Array<ArrayBuffer>, query = NURSING): Promise<string> {
  const { status, text } = await sendTable(service.rest, csv, query);
  expect(status).toBe(400);
  return text;
}

describe('a roster as CSV', () => {
  test('is answered with its rows and columns, and those of the results', async () => {
    const { columns, rows } = await table(
      'ward,license_number,Last Name,note\r\n' +
        '3 West,RN.700001,De La Cruz,"a, b"\r\n' +
        '3 West,RN.700001,Somebody,\r\n' +
        ',,Smith,\r\n' +
        ',RN.799999,,\r\n' +
        ',,,\r\n',
    );
    expect(columns).toEqual(['ward', 'license_number', 'Last Name', 'note', ...RESULT_COLUMNS]);
    const empty = Object.fromEntries(RESULT_COLUMNS.map((column) => [column, '']));
    const found = {
      ...empty,
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
      result_last_scraped: LAST_SCRAPED,
      result_data_age_days: expect.stringMatching(/^\d+$/),
    };
    const without = (outcome: string, cells: object) => ({
      ...empty,
      result_outcome: outcome,
      result_last_scraped: LAST_SCRAPED,
      result_data_age_days: expect.stringMatching(/^\d+$/),
      ...cells,
    });
    expect(rows).toEqual([
      { ward: '3 West', license_number: 'RN.700001', 'Last Name': 'De La Cruz', note: 'a, b', ...found },
      {
        ...{ ward: '3 West', license_number: 'RN.700001', 'Last Name': 'Somebody', note: '' },
        ...found,
        result_verdict: 'Needs attention',
        result_cautions: 'name_mismatch',
        result_name_match: 'false',
        result_detail: expect.stringContaining('not the holder’s'),
      },
      {
        ...{ ward: '', license_number: '', 'Last Name': 'Smith', note: '' },
        ...without('ambiguous', {
          result_verdict: 'Needs attention',
          result_matches: 'RN.700005; PN.700004; RN.700003',
          result_detail: expect.stringMatching(/^3 licenses match/),
        }),
      },
      {
        ...{ ward: '', license_number: 'RN.799999', 'Last Name': '', note: '' },
        ...without('not_found', {
          result_verdict: 'Not found',
          result_reason: 'unknown',
          result_detail: expect.stringContaining('No license with the number "RN.799999"'),
        }),
      },
      {
        ...{ ward: '', license_number: '', 'Last Name': '', note: '' },
        ...without('invalid', {
          result_verdict: 'Not checked',
          result_detail: expect.stringMatching(/^Give license_number/),
        }),
      },
    ]);
  });

  test('with semicolons is answered with semicolons', async () => {
    const { text } = await table('license_number;name\nRN.700001;"Muñoz; Ana"\n', NURSING, ';');
    expect(text.split('\n')[1]).toMatch(/^RN\.700001;"Muñoz; Ana";found;Needs attention;RN\.700001;/);
  });

  test('with a byte order mark is answered with one, and without it without', async () => {
    const marks = ['', '\ufeff'].map(async (mark) => {
      const { headers, text } = await sendTable(service.rest, `${mark}license_number\nRN.700001\n`, NURSING);
      // Reading a response as text takes the mark away.
      return Number(headers.get('content-length')) - Buffer.byteLength(text);
    });
    expect(await Promise.all(marks)).toEqual([0, 3]);
  });

  test('lists as many matches as it asks for', async () => {
    const { rows } = await table('last_name\nSmith\n', `${NURSING}&max_matches=2`);
    expect(rows).toEqual([
      expect.objectContaining({
        result_matches: 'RN.700005; PN.700004',
        result_detail: expect.stringMatching(/^More than 2 licenses match/),
      }),
    ]);
  });

  test('that is the answer to an earlier one gets new results in place of the old ones', async () => {
    const first = await table('reference,license_number\na,RN.700001\n');
    const second = await table(first.text);
    expect(second.text).toBe(first.text);
  });

  describe('has its formulas neutralized', () => {
    /** What became of cells that a roster has beside a number. */
    async function answered(cells: readonly string[], delimiter: ',' | ';') {
      const columns = cells.map((_, at) => `c${at}`);
      const written = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`);
      const { text } = await table(
        `${['license_number', ...columns].join(delimiter)}\n${['PN.700004', ...written].join(delimiter)}\n`,
        NURSING,
        delimiter,
      );
      const [, row = []] = parse(text, { delimiter });
      return { text, cells: row.slice(1, cells.length + 1), days: row.find((cell) => /^-\d+$/.test(cell)) };
    }

    const FORMULAS = [
      ...['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx', '=HYPERLINK("http://x","y")'],
      ...[
        '=HYPERLINK("http://x","y")\n',
        '=1\r\n=2',
        ' =1',
        '\u00a0=1',
        '\ufeff=1',
        '\u200b=1',
        '\n=1',
        '"=1"',
      ],
      ...['＝1', '＋1', '－1', '＠x'],
    ];
    const HARMLESS = [
      "'=x",
      "'-1",
      'a-b',
      'a = b',
      '2-3',
      'x; y',
      'x, y',
      'a\nb',
      'b@example.org',
      '; ,',
      '',
    ];

    test.each([',', ';'] as const)('at the start of a cell, in a file separated by %s', async (delimiter) => {
      const { cells, days } = await answered(FORMULAS, delimiter);
      expect(cells).toEqual(FORMULAS.map(() => expect.stringMatching(/^'/)));
      expect(cells.map((cell) => cell.replaceAll("'", ''))).toEqual(FORMULAS);
      expect(days).toBeDefined();
    });

    test.each([',', ';'] as const)('and nothing else, in a file separated by %s', async (delimiter) => {
      expect((await answered(HARMLESS, delimiter)).cells).toEqual(HARMLESS);
    });

    test.each([
      [',', 'x;=1+1', "x;'=1+1"],
      [',', 'x; "=1+1"', 'x; "\'=1+1"'],
      [',', ';=1', ";'=1"],
      [',', 'x\t=1', "x\t'=1"],
      [',', 'x\n=1', "x\n'=1"],
      [',', 'x\r\n\r\n+1', "x\r\n\r\n'+1"],
      [',', 'x, =1', 'x, =1'],
      [';', 'x,=1+1', "x,'=1+1"],
      [';', 'x;=1', 'x;=1'],
      [',', ';＝1;－2', ";'＝1;'－2"],
    ] as const)('where another separator than %s begins a cell: %j', async (delimiter, cell, safe) => {
      expect((await answered([cell], delimiter)).cells).toEqual([safe]);
    });

    test('and the answer to an answer is the same, also for fields that begin with a sign', async () => {
      const first = await table('reference,license_number,note\n-7,+RN.700001,"x;=1\n=2"\n');
      expect(first.rows).toEqual([expect.objectContaining({ reference: "'-7", note: "x;'=1\n'=2" })]);
      expect((await table(first.text)).text).toBe(first.text);
      const json = await sendTable(service.rest, first.text, NURSING, { accept: 'application/json' });
      expect(rosterAnswer.parse(json.body).results).toEqual([expect.objectContaining({ reference: '-7' })]);
    });
  });

  test('is answered as JSON where Accept says so, and JSON as CSV', async () => {
    const csv = 'reference,license_number\n7,RN.700001\n';
    const json = await sendTable(service.rest, csv, NURSING, { accept: 'application/json' });
    expect(rosterAnswer.parse(json.body).results).toEqual([
      expect.objectContaining({ reference: '7', outcome: 'found' }),
    ]);
    const items = [{ reference: '7', license_number: 'RN.700001' }, { last_name: 'Smith' }, 5];
    const asTable = await sendRoster(service.rest, { board: 'Nursing Board', items }, { accept: 'text/csv' });
    expect(asTable.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(asTable.text.split('\r\n').slice(0, 4)).toEqual([
      ['reference', 'license_number', 'last_name', ...RESULT_COLUMNS].join(','),
      expect.stringMatching(/^7,RN\.700001,,found,Clear,RN\.700001,/),
      expect.stringMatching(/^,,Smith,ambiguous,/),
      expect.stringMatching(/^,,,invalid,/),
    ]);
  });

  test('keeps rows with too few cells, and answers those with too many as invalid', async () => {
    const { rows } = await table('license_number,last_name,note\nRN.700001\n\nRN.700001,a,b,c\n');
    expect(rows.map(({ result_outcome }) => result_outcome)).toEqual(['found', 'invalid']);
    expect(rows[1]?.result_detail).toContain('The row has 4 cells, but the header row has 3');
  });
});

describe('a CSV is refused that', () => {
  test.each([
    ['is empty', '', /must name the columns/],
    [
      'has no column of a lookup',
      'note,ward\nx,y\n',
      /at least one of license_number, last_name, business_name/,
    ],
    ['has a column twice', 'last_name,Last Name\nx,y\n', /more than one column last_name/],
    ['has no rows', 'license_number\n', /no rows/],
    ['has 1,001 rows', `license_number\n${'RN.700001\n'.repeat(1001)}`, /more than 1,000 rows/],
    ['has 201 columns', `license_number,${times(200, (at) => `c${at}`).join(',')}\nRN.1\n`, /at most 200/],
    ['has a quotation mark that is not closed', 'license_number\nRN.1\n"RN.2\nRN.3\n', /Row 3 of the CSV/],
    ['has a million columns', `license_number${',a'.repeat(500_000)}\n`, /at most 200/],
    [
      'has max_matches in words',
      'license_number\nRN.1\n',
      /max_matches must be a whole number/,
      '?max_matches=five',
    ],
    ['has a board that is none', 'license_number\nRN.1\n', /No board has exactly the name/, '?board=Wizards'],
  ])('%s', async (_what, csv, detail, query = NURSING) => {
    expect(await refused(csv, query)).toMatch(detail);
  });

  test('is not UTF-8', async () => {
    expect(await refused(new Uint8Array([...Buffer.from('last_name\nMu'), 0xf1, 0x6f, 0x0a]))).toMatch(
      /not valid UTF-8/,
    );
  });
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

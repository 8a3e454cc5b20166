import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { casesPeople } from '../support/cases-people.ts';
import { fixturesAnd, nurseRow, pharmacyRow, times } from '../support/fixtures.ts';
import { rosterAnswer, sendRoster, sendTable } from '../support/rosters.ts';
import { startService, type TestService } from '../support/service.ts';
import { textRow, workbook } from '../support/workbooks.ts';

/** Rows with characters that nobody sees. */
const HIDDEN = [
  nurseRow('QXXHID\u00adDEN\ufeff, A\u200bNN\u0001', '\u200eRN.88\u200b0041'),
  nurseRow('QXXHIDDEN, BO', 'RN.880042', {
    TYPE: 'Registered Nurse (RN)\u200b',
    PARCEL_CITY: 'LI\u00adMA',
    BOARD: 'Nursing\u200b Board',
  }),
];

const NAMESAKES = times(30, (at) => nurseRow(`ROSTER, ANN ${at}`, `RN.4440${String(at).padStart(2, '0')}`));

let service: TestService;

beforeAll(async () => {
  const { individual, business } = casesPeople();
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [...individual, ...HIDDEN, ...NAMESAKES],
        business: [...business, pharmacyRow('QXX HID\u200bDEN DRUGS', '0288\u00ad00019')],
      }),
  });
});

/** A list as a file, and as it is pasted where it is text. */
async function check(
  list: string | Buffer,
  fields: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { PORT } = service.environment.config;
  const origin = `http://127.0.0.1:${PORT}`;
  const send = async (part: string | Blob) => {
    const form = new FormData();
    if (typeof part === 'string') form.set('roster', part);
    else form.set('file', part, 'list');
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const response = await fetch(`${origin}/roster`, { method: 'POST', body: form, headers: { origin } });
    return response.text();
  };
  const file = new Blob([new Uint8Array(Buffer.from(list))]);
  return Promise.all(typeof list === 'string' ? [send(file), send(list)] : [send(file)]);
}

/** How each row of the answer as CSV ended. */
function rowsOf(csv: string): string[] {
  const rows = parse<Record<string, string>>(csv, {
    ...{ columns: true, relax_column_count: true, delimiter: csv.includes(';result_outcome') ? ';' : ',' },
  });
  return rows.map(
    ({
      result_outcome: outcome,
      result_license_number: number,
      result_cautions: cautions,
      result_detail: detail,
    }) => [outcome, outcome === 'found' ? number : detail?.slice(0, 22), cautions].filter(Boolean).join(' '),
  );
}

const table = (rows: readonly string[]) => `${rows.join('\r\n')}\r\n`;

/** A workbook of a visible sheet for each of these, named S0, S1 and so on. */
const sheets = (...all: readonly (readonly (readonly string[])[])[]) =>
  workbook({ sheets: all.map((rows) => rows.map((cells) => textRow(...cells)).join('')) });

const WEB_PAGE = Buffer.from(
  '<html><body><table><tr><th>Last Name</th><th>License Number</th></tr><tr><td>Qxxpharm</td><td>03880009</td></tr></table></body></html>',
);
const PHARMACIST_AND_CHIROPRACTOR = ['found 03880009', 'found DC-99010'];

/** Numbers with the format `"RN."000000`, and a name beside each. */
const FORMATTED = workbook({
  styles:
    '<numFmts count="1"><numFmt numFmtId="164" formatCode="&quot;RN.&quot;000000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs>',
  sheets: [
    textRow('License Number', 'Last Name') +
      '<row><c s="1"><v>880004</v></c><c t="inlineStr"><is><t>De La Qxxcruz</t></is></c></row>',
  ],
});

/** What a list is, its text, and what its rows are answered with. */
const LISTS = `
# credentials after the name; another person is still one
Worker,Licence No.
"De la Qxxcruz, José RN",RN.880004
Sam Qxxchiro DC CCSP,DC-99010
"Qxxaprn, Grace M, APRN-CNP, CEN",RN.880007
"Unrelated, Person RN",RN.880004
> found RN.880004; found DC-99010; found RN.880007; found RN.880004 name_mismatch
# numbers as formulas of text
No,License Number,Last Name
1,="RN.880004",De La Qxxcruz
2,="03880009",Qxxpharm
> found RN.880004; found 03880009
# such formulas in quotation marks
License Number,Last Name
"=""03880009""",Qxxpharm
> found 03880009
# cells with quotation marks, copied
License Number\tLast Name\tRemark
RN.880004\tDe La Qxxcruz\tcalled "Pepe"
03880009\tQxxpharm\t6" shelf
> found RN.880004; found 03880009
# copied cells that begin with a quotation mark, or have line breaks
License Number\tLast Name\tRemark
RN.880004\tDe La Qxxcruz\t"Pepe" for short
03880009\tQxxpharm\t"never closed
> found RN.880004; found 03880009
# a cell with a line break and one with an inch
License Number,Remark
03880009,"one
two"
DC-99010,6" shelf
> found 03880009; found DC-99010
# characters that nobody sees
License Number,Last Name
RN.880001\u200b,Qxxobriens
\u200e03880009,Qxxpharm
DC-\u00ad99010,Qxx\u0000chiro
> found RN.880001; found 03880009; found DC-99010
# pipes
Surname|Given|License No|State
Qxxpharm|Lee|03880009|OH
De La Qxxcruz|Jose|RN.880004|OH
> found 03880009; found RN.880004
# digits with the state and the type beside them
JurisdictionAbbreviation,LicenseNumber,LicenseType
OH,880004,RN
KY,880001,RN
> found RN.880004; invalid Not an Ohio license: t
# several states in a cell, and as many numbers
Last Name,First Name,State Licenses,State License Numbers
St. Qxxjohn,Alex,OH,35.880006
Qxxmüller,Jürgen,"KY
OH","77
35.880005"
> found 35.880006 not_active;sub_status;board_action; invalid Not an Ohio license: t; found 35.880005
# a business in the column of last names
first_name\tlast_name\tlic_number\tdba_name
\tACME HOLDINGS LLC\tCOSS.880020\tQXX STAR SALON
> found COSS.880020
# bullets and places
1. 03880009
2. RN.880004
• DC-99010
> found 03880009; found RN.880004; found DC-99010
# a physician whose prefix looks like a place
35. 880005
> found 35.880005
# numbers on one line
03880009, RN.880004; DC-99010
> found 03880009; found RN.880004; found DC-99010
# the end of a DOS text
License Number,Last Name\r
03880009,Qxxpharm\r
\u001a
> found 03880009
# the last line of a DOS text
License Number,Last Name\r
03880009,Qxxpharm\u001a
> found 03880009
# pages of a report
Nurse report,,
Name,License Number,Ward
"Qxxpharm, Lee",03880009,A
Page 1 of 2,,
Nurse report,,
Name,License Number,Ward
"Qxxchiro, Sam",DC-99010,B
Total: 2,,
> found 03880009; found DC-99010
# its separator in the first line
sep=;\r
license_number;last_name\r
03880009;Qxxpharm\r
> found 03880009
# two numbers in a cell
Name,License #
"Qxxaprn, Grace","RN.880007, APRN.CNP.0880007"
> found RN.880007; found APRN.CNP.0880007 not_active;sub_status
# carriage returns alone
License Number,Last Name\r03880009,Qxxpharm\r
> found 03880009
`;

const INSTRUCTIONS = sheets(
  [['Staff list'], ['Fill in one row for each person.']],
  [
    ['Last Name', 'First Name', 'License Number'],
    ['Qxxpharm', 'Lee', '03880009'],
    ['Qxxchiro', 'Sam', 'DC-99010'],
  ],
);
const TWO_HEADERS = sheets([
  ['PRACTITIONER', '', 'LICENSE', '', 'LOCATION'],
  ['Last Name*', 'First Name*', 'State', 'Number (Required)', 'City'],
  ["O'Qxxfallon", 'Sean', 'OH', 'RN.880002', 'Columbus'],
]);

describe('a list of people is answered rightly:', () => {
  test.each<[string, string | Buffer, readonly string[]]>([
    ...LISTS.split(/^# /m)
      .slice(1)
      .map((section): [string, string, string[]] => {
        const [, what = '', list = '', rows = ''] = /^([^\n]*)\n(.*)^> ([^\n]*)\n$/ms.exec(section) ?? [];
        return [what, list, rows.split('; ')];
      }),
    ['instructions on the first sheet', INSTRUCTIONS, PHARMACIST_AND_CHIROPRACTOR],
    ['a web page that is called .xls', WEB_PAGE, ['found 03880009']],
    ['numbers of which the format has the letters', FORMATTED, ['found RN.880004']],
    ['two header rows', TWO_HEADERS, ['found RN.880002']],
  ])('%s', async (_what, list, rows) => {
    const answers = await check(list, { format: 'csv' });
    expect(answers.map(rowsOf)).toEqual(answers.map(() => rows));
  });

  test('an exclusion list: its persons at the board that was chosen, its businesses at all', async () => {
    const list = table([
      'LASTNAME,FIRSTNAME,BUSNAME,CITY',
      '"QXXCLOSED","REV","","COLUMBUS"',
      '"","","QXX PHARMACY #0123","COLUMBUS"',
    ]);
    for (const answer of await check(list, { format: 'csv', board: 'NUR' })) {
      expect(rowsOf(answer)).toEqual([
        'found RN.880016 not_active;sub_status;board_action',
        'found 028800018',
      ]);
    }
  });
});

describe('it is asked which column is what, and nothing is looked up, where', () => {
  test.each([
    [
      'a column without a known name has the numbers',
      'SLNUM,L_NAME,F_NAME\n03880009,QXXPHARM,LEE\nDC-99010,QXXCHIRO,SAM\n',
    ],
    ['two columns have license numbers', 'License Number,Key\nRN.880004,DC-99010\nRN.880001,03880009\n'],
    [
      'two columns may be the name',
      'Legal Last Name,Former Last Name,License Number\nQxxpharm,Qxxother,03880009\n',
    ],
    ['the numbers are none', 'License Number,Last Name\npending,Qxxpharm\napplied,Qxxchiro\n'],
    ['the names are numbers', 'Nurse,License\nRN.880004,2027-10-31\nRN.880001,2028-10-31\n'],
    [
      'the boards are employers',
      'License Number,Agency\n03880009,Mercy Staffing\nDC-99010,Best Nurses Inc\n',
    ],
  ])('%s', async (_what, list) => {
    for (const page of await check(list)) {
      expect(page).toContain('<h1>What is in each column?</h1>');
      expect(page).toMatch(/QXXPHARM|RN\.880004|Qxxpharm|Mercy/);
      expect(page).not.toContain('not found');
    }
  });
});

describe('the page of a list says', () => {
  test('which sheet was read, and names the others with text', async () => {
    const list = sheets([['License Number'], ['03880009']], [['License Number'], ['DC-99010']], [[]]);
    const [page = ''] = await check(list);
    expect(page).toContain('The sheet “S0” was read. Not read: “S1”.');
    const [csv] = await check(list, { format: 'csv' });
    expect(rowsOf(csv ?? '')).toEqual(['found 03880009']);
  });

  test('how many rows were left out, and numbers the rows as the sheet does', async () => {
    const [page = ''] = await check(
      'Report\n\nName,License Number\n"Qxxpharm, Lee",03880009\n\nTotal: 1,\n"Qxxchiro, Sam",DC-99010\n',
    );
    expect(page).toContain('1 row above the names of the columns not checked: 1.');
    expect(page).toContain('1 row left out (repeated names of columns, totals): 6.');
    // Before anything is said to be clear.
    expect(page.indexOf('1 row left out')).toBeLessThan(page.indexOf('<h2>Clear'));
    expect(page.match(/(?<=data-label="Row">)\d+/g)).toEqual(['4', '7']);
  });
});

test('a list with a line break in a cell can be saved', async () => {
  // Browsers send line breaks of a text as CRLF.
  const [, saved = ''] = await check('License Number,Reference\r\n03880009,"ward 3\r\nroom 4"\r\n', {
    format: 'save',
  });
  expect(saved).toContain('<h1>The row is clear');
});

describe('a roster by REST', () => {
  const outcomes = async (csv: string, query = '') => {
    const { status, text } = await sendTable(service.rest, csv, query);
    return status === 200 ? rowsOf(text) : [status, text];
  };

  test.each<[string, string, readonly string[]]>([
    [
      'that names boards by code or short name',
      'license_number,board\n03880009,PRX\nDC-99010,Chiropractic\n',
      PHARMACIST_AND_CHIROPRACTOR,
    ],
    ['without a board', 'license_number\n03880009\n', ['found 03880009']],
    [
      'with two numbers in a cell',
      'license_number\n"RN.880007, APRN.CNP.0880007"\n',
      ['invalid The cell has several l'],
    ],
    [
      'with digits, a type and a state',
      'License Number,License Type,License State\n880004,RN,OH\n880001,RN,KY\n',
      ['found RN.880004', 'invalid Not an Ohio license: t'],
    ],
    ['with a name and no board', 'last_name\nQxxpharm\n', ['invalid board is required: the']],
  ])('%s', async (_what, csv, rows) => {
    expect(await outcomes(csv)).toEqual(rows);
  });

  test('takes the board of all items by its code', async () => {
    expect(await outcomes('last_name\nQxxpharm\n', '?board=PRX')).toEqual(['found 03880009']);
  });

  test('with columns that are not clear is refused, and says what was understood', async () => {
    const [status, text] = await outcomes('Lic #,License Number,Name\nRN.1,RN.2,x\n');
    expect([status, text]).toEqual([
      400,
      expect.stringContaining('“Lic #” and “License Number” may mean the same'),
    ]);
    expect(text).toContain('“Lic #” as license_number');
  });
});

const answer = z.looseObject({
  license_number: z.string().optional(),
  multiple: z.array(z.object({ license_number: z.string() })).optional(),
  did_you_mean: z.array(z.string()).optional(),
  name_match: z.boolean().optional(),
});

async function ask(typed: object) {
  const { status, body } = await service.rest.verify(typed);
  const { multiple, license_number: number, ...rest } = answer.parse(body);
  const numbers = (multiple ?? [{ license_number: number }]).flatMap(
    ({ license_number: each }) => each ?? [],
  );
  return { status, numbers, didYouMean: rest.did_you_mean, nameMatch: rest.name_match };
}

const NURSING = { board: 'Nursing Board' };
const MEDICAL = { board: 'Medical Board' };
const SALONS = { board: 'Cosmetology and Barber Board' };

describe('what nobody sees', () => {
  test.each<[object, string[]]>([
    [
      { ...NURSING, license_number: 'RN.880041', last_name: 'Qxxhidden', first_name: 'Ann' },
      ['\u200eRN.88\u200b0041'],
    ],
    [{ ...NURSING, license_number: 'rn 880041\u200b' }, ['\u200eRN.88\u200b0041']],
    [{ ...NURSING, last_name: 'Qxxhidden', first_name: 'Ann' }, ['\u200eRN.88\u200b0041']],
    [
      { ...NURSING, last_name: 'Qxxhidden', license_type: 'R\u200bN', city: 'Li\u00adma' },
      ['\u200eRN.88\u200b0041', 'RN.880042'],
    ],
    [
      { ...NURSING, last_name: 'Qxxhidden', license_type: 'Registered Nurse', first_name: 'Bo' },
      ['RN.880042'],
    ],
    [
      { board: 'Board of Pharmacy', search_type: 'business', license_number: '028800019' },
      ['0288\u00ad00019'],
    ],
    [
      { board: 'Board of Pharmacy', search_type: 'business', business_name: 'Qxx Hidden' },
      ['0288\u00ad00019'],
    ],
  ])("is ignored in the State's files: %j", async (typed, numbers) => {
    const { nameMatch = true, ...found } = await ask(typed);
    expect({ ...found, nameMatch }).toMatchObject({ status: 200, numbers, nameMatch: true });
  });
});

// What is compared, test/unit/person-name.test.ts proves.
test.each<[object, string, boolean]>([
  [
    { ...NURSING, license_number: 'RN.880004', last_name: 'De la Qxxcruz', first_name: 'Jos\u00e9 RN' },
    'RN.880004',
    true,
  ],
  [
    { ...NURSING, license_number: 'RN.880004', last_name: 'Unrelated', first_name: 'Person RN' },
    'RN.880004',
    false,
  ],
  [{ ...SALONS, license_number: 'COSS.880020', last_name: 'ACME HOLDINGS LLC' }, 'COSS.880020', true],
  [{ ...SALONS, license_number: 'COSS.880020', last_name: 'Other LLC' }, 'COSS.880020', false],
])(
  'a name sent with a number is compared without what is none of it: %j',
  async (typed, number, nameMatch) => {
    expect(await ask(typed)).toMatchObject({ status: 200, numbers: [number], nameMatch });
  },
);

test.each<readonly [object, string[], string[]?]>([
  [{ ...MEDICAL, last_name: 'Saint Qxxjohn' }, ['35.880006']],
  [{ ...MEDICAL, last_name: 'ST QXXJOHN MD' }, ['35.880006']],
  [{ ...MEDICAL, last_name: 'SaintQxxjohn' }, ['35.880006']],
  [{ ...MEDICAL, last_name: 'Saint Qxxjonh' }, [], ['SAINTQXXJOHN']],
  [{ ...NURSING, last_name: 'Qzklein' }, ['RN.998801', 'RN.998802']],
  [{ ...NURSING, last_name: 'Qzklein', first_name: 'Oda' }, ['RN.998801', 'RN.998802']],
  [{ ...NURSING, last_name: 'Qzklein', first_name: 'Oda V' }, ['RN.998801']],
  [{ ...NURSING, last_name: 'Qzklein V' }, ['RN.998801']],
  [{ ...NURSING, last_name: 'Qxxking 3rd' }, ['RN.880031', 'RN.880033']],
  [{ ...NURSING, last_name: 'Qxxking', first_name: 'Martin' }, ['RN.880031']],
  [{ ...NURSING, last_name: 'Qxxpharm, RN' }, []],
  [{ ...NURSING, last_name: 'Qxxaprn, RN, BSN', first_name: 'Ms. Grace' }, ['RN.880007', 'APRN.CNP.0880007']],
  [{ ...NURSING, last_name: 'Qzmora', first_name: 'Luz' }, [], ['QZMORA QZVEGA, LUZ']],
  [{ ...NURSING, last_name: 'Qzvega' }, [], ['QZMORAQZVEGA']],
  [{ ...NURSING, last_name: 'QZMORA QZVEGA' }, ['RN.998803']],
  [{ ...NURSING, last_name: 'Qxxlopez', first_name: 'Maria' }, [], ['QXXGARCIA QXXLOPEZ, MARIA']],
  [{ ...NURSING, last_name: 'Qxxlopez', first_name: 'Ana' }, [], []],
])('a search by name finds or offers: %j', async (...[typed, numbers, didYouMean]) => {
  const { status, ...answered } = await ask(typed);
  expect(status).toBe(200);
  expect(answered.numbers.toSorted()).toEqual(numbers.toSorted());
  if (didYouMean) expect(answered.didYouMean).toEqual(expect.arrayContaining(didYouMean));
  if (didYouMean?.length === 0) expect(answered.didYouMean).toEqual([]);
});

test('a roster lists five matches of a name, or as many as it asks for, exact names first', async () => {
  const item = { last_name: 'Roster', first_name: 'Ann' };
  for (const [maxMatches, listed] of [
    [undefined, 5],
    [null, 5],
    [1, 1],
    [20, 20],
  ]) {
    const { body } = await sendRoster(service.rest, { ...NURSING, max_matches: maxMatches, items: [item] });
    const { results } = rosterAnswer.parse(body);
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

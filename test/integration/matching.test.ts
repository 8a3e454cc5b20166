import { expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import pLimit from 'p-limit';
import {
  answerOf,
  BUSINESSES,
  expectedAnswer,
  formsBy,
  HOLDERS,
  type TypedForm,
} from '../fixtures/typed-forms.ts';
import { fixturesAnd, times } from '../support/fixtures.ts';
import { TOGETHER } from '../support/interfaces.ts';
import { rosterAnswer, sendRoster, sendTable } from '../support/rosters.ts';
import { startService } from '../support/service.ts';
import { fixtureText } from '../support/tables.ts';
import { verifies } from '../support/verifies.ts';
import { textRow, workbook } from '../support/workbooks.ts';

const { environment, rest } = await startService({
  files: (folder) => fixturesAnd(folder, { individual: HOLDERS, business: BUSINESSES }),
});

const answered = async (form: TypedForm) => answerOf(form, await rest.verify(form.typed));

/** Compares all answers at once, so that a failure lists every form that is answered otherwise. */
async function expectAnswers(by: TypedForm['by']): Promise<void> {
  const inTurn = pLimit(TOGETHER);
  const forms = formsBy(by);
  const answers = await Promise.all(forms.map((form) => inTurn(() => answered(form))));
  expect(answers).toMatchObject(forms.map(expectedAnswer));
}

verifies(
  ['NUMBER-01', 'NUMBER-02', 'NUMBER-03', 'NUMBER-04', 'NUMBER-05', 'LOOKUP-07', 'INPUT-01'],
  'each form of a number in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('number'),
);

verifies(
  [
    'PERSON-01',
    'PERSON-02',
    'PERSON-03',
    'PERSON-04',
    'LOOKUP-04',
    'LOOKUP-05',
    'FILTERS-01',
    'INPUT-01',
    'INPUT-05',
    'SEARCH-03',
  ],
  'each form of a person’s name in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('person'),
);

verifies(
  ['BUSINESS-01', 'BUSINESS-02', 'LOOKUP-06', 'LOOKUP-10', 'FILTERS-01', 'INPUT-01', 'INPUT-05'],
  'each form of a business’s name in typed-forms.ts finds only the licenses that it must find',
  () => expectAnswers('business'),
);

verifies('NUMBER-01', 'a number that is not found never reveals the holder of a similar number', async () => {
  const misses = formsBy('number').filter(({ finds }) => finds.length === 0);
  const surnames = HOLDERS.map(({ LICENSEE_NAME: name = '' }) => name.replace(/,.*/, ''));
  const names = [...surnames, ...BUSINESSES.map(({ business_name: name = '' }) => name)].map(words);
  expect([misses.length > 20, names.includes(words(''))]).toEqual([true, false]);
  for (const { typed } of misses) {
    const { status, text } = await rest.verify(typed);
    const told = names.filter((name) => words(text).includes(name));
    expect({ typed, status, told }).toEqual({ typed, status: 404, told: [] });
  }
});

/** The words of a text in upper case, with a space before and after each. */
const words = (text: string) => ['', ...(text.toUpperCase().match(/[\p{L}\p{N}]+/gu) ?? []), ''].join(' ');

/** A list as a file, and as it is pasted where it is text. */
async function check(
  list: string | Buffer,
  fields: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { PORT } = environment.config;
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

/** How each row of the answer as CSV ended, or the heading of a page. */
function rowsOf(csv: string): string[] {
  if (csv.startsWith('<!doctype html>')) return [/<h1>(.*?)<\/h1>/.exec(csv)?.[1] ?? ''];
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

/** In each section, what a list is, its text, and after ">" what its rows are answered with. */
const LISTS = fixtureText('copied-lists.txt');

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
])('a list of people is answered rightly: %s', async (_what, list, rows) => {
  const answers = await check(list, { format: 'csv' });
  expect(answers.map(rowsOf)).toEqual(answers.map(() => rows));
});

test('a list of people is answered rightly: an exclusion list: its persons at the board that was chosen, its businesses at all', async () => {
  const list = 'LASTNAME,FIRSTNAME,BUSNAME\r\n"QXXCLOSED","REV",""\r\n"","","QXX PHARMACY #0123"\r\n';
  const found = ['found RN.880016 not_active;sub_status;board_action', 'found 028800018'];
  const answers = await check(list, { format: 'csv', board: 'NUR' });
  expect(answers.map(rowsOf)).toEqual([found, found]);
});

test('the page of a list says which sheet was read, and names the others with text', async () => {
  const list = sheets([['License Number'], ['03880009']], [['License Number'], ['DC-99010']], [[]]);
  const [page = ''] = await check(list);
  expect(page).toContain('The sheet “S0” was read. Not read: “S1”.');
  const [csv] = await check(list, { format: 'csv' });
  expect(rowsOf(csv ?? '')).toEqual(['found 03880009']);
});

test('the page of a list says how many rows were left out, and numbers the rows as the sheet does', async () => {
  const [page = ''] = await check(
    'Report\n\nName,License Number\n"Qxxpharm, Lee",03880009\n\nTotal: 1,\n"Qxxchiro, Sam",DC-99010\n',
  );
  expect(page).toContain('1 row above the header row, not checked: 1.');
  expect(page).toContain('1 row left out (repeated header rows, totals): 6.');
  // Before anything is said to be clear.
  expect(page.indexOf('1 row left out')).toBeLessThan(page.indexOf('<h2>Clear'));
  expect(page.match(/(?<=data-label="Row">)\d+/g)).toEqual(['4', '7']);
});

test('a list with a line break in a cell can be saved', async () => {
  // Browsers send line breaks of a text as CRLF.
  const [, saved = ''] = await check('License Number,Reference\r\n03880009,"ward 3\r\nroom 4"\r\n', {
    format: 'save',
  });
  expect(saved).toContain('<h1>The row is clear');
});

const outcomes = async (csv: string, query = '') => {
  const { status, text } = await sendTable(rest, csv, query);
  return status === 200 ? rowsOf(text) : [status, text];
};
const [SEVERAL, ELSEWHERE] = ['invalid The cell has several l', 'invalid Not an Ohio license: t'];

test.each<[csv: string, query: string, ...rows: string[]]>([
  ['license_number,board\n03880009,PRX\nDC-99010,Chiropractic\n', '', ...PHARMACIST_AND_CHIROPRACTOR],
  ['license_number\n03880009\n', '', 'found 03880009'],
  ['license_number\n"RN.880007, APRN.CNP.0880007"\n', '', SEVERAL],
  ['License Number,License Type,State\n880004,RN,OH\n1,RN,KY\n', '', 'found RN.880004', ELSEWHERE],
  ['last_name\nQxxpharm\n', '', 'invalid board is required: the'],
  ['last_name\nQxxpharm\n', '?board=PRX', 'found 03880009'],
])('a roster by REST is answered as it is meant: %j %s', async (csv, query, ...rows) => {
  expect(await outcomes(csv, query)).toEqual(rows);
});

test('a roster by REST with columns that are not clear is refused, and says what was understood', async () => {
  const [status, text] = await outcomes('Lic #,License Number,Name\nRN.1,RN.2,x\n');
  expect(status).toBe(400);
  expect(text).toContain('“Lic #” and “License Number” may mean the same');
  expect(text).toContain('“Lic #” as license_number');
});

test('a roster lists five matches of a name', async () => {
  const many = { board: 'Nursing Board', last_name: "O'Neal" };
  for (const max_matches of [undefined, null]) {
    const { body } = await sendRoster(rest, { max_matches, items: [many] });
    const { results } = rosterAnswer.parse(body);
    expect(results).toMatchObject([{ truncated: true, matches: times(5, () => ({ found: true })) }]);
  }
});

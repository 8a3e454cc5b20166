import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { REQUEST_WORDS } from '../../src/answers/words.ts';
import { type RowFields, rowRequest } from '../../src/licenses/row-lookup.ts';
import { RESULT_COLUMNS } from '../../src/rosters/answer.ts';
import { columnsOf, MAX_COLUMNS, meaningOfHeader } from '../../src/rosters/columns.ts';
import { readList, readTable, rowFields, tableOf } from '../../src/rosters/list.ts';
import { boardOfCode } from '../support/boards.ts';
import { times } from '../support/fixtures.ts';
import { cellsOf } from '../support/tables.ts';

const [NURSING, PHARMACY] = [boardOfCode('NUR'), boardOfCode('PRX')];

const WORDS = {
  ...REQUEST_WORDS.rest,
  unknownBoard: (name: string) => `No board ${name}`,
  noBoard: () => undefined,
};

const MEANINGS = cellsOf(`
license_number | Lic #; License No.; License Number; LICENSE; lic. no; Licence number; License#; LicenseNumber
license_number | license_number; License ID; RN License #; Credential Number; Certificate No; Registration #
license_number | License/Certification Number; Nursing License No. (OH) #
name | Name; Employee Name; FULL NAME; Licensee; Nurse's Name; Last Name, First Name; Provider
last_name | Legal Name - Last Name; Applicant Surname; Last; Last Name; Surname; Family name; LName; lastName
first_name | First; First Name; Given name; Given names; fname; FirstName
business_name | Company; Business Name; Facility; business_name; DBA
board | Board; State board; Licensing Board; Agency; board
reference | Employee ID; Emp #; Emp ID; ID; Badge No.; Reference; EmployeeId
city | city
license_state | State; License State; State of licensure
credential_type | License Type; Profession
 | City; Status; Hired; Expires; #; No.; ; constructor; __proto__; ${RESULT_COLUMNS.join('; ')}; x*10000
 | License Status; License Expiration Date; Driver's License Number; Supervisor Last Name; Preferred First Name
`);
test.each(MEANINGS)('a header means %s: %.60s', (meaning = '', text = '') => {
  const headers = text.split('; ');
  expect(headers.map((header) => [header, meaningOfHeader(header)])).toEqual(
    headers.map((header) => [header, meaning || undefined]),
  );
});

test('a header means the same on two lines', () => {
  expect(meaningOfHeader('State License\n#')).toBe('license_number');
});

/** What was read of a list: its columns' meanings, and each row as it would be looked up. */
async function understood(sent: string | Buffer) {
  const list = await readList(sent);
  const columns = columnsOf(list.rows.map(({ cells }) => cells));
  if (columns.doubts.length > 0) return { asks: columns.meanings };
  const read = tableOf(list, columns);
  return {
    separator: list.format.separator,
    rows: read.rows.map(({ cells }) => {
      const { board, ...request } = rowRequest(rowFields(read, cells), WORDS, undefined);
      const asked = Object.entries(request).filter(([name]) => name !== 'filters' && name !== 'businessOnly');
      return { ...Object.fromEntries(asked), ...(board !== undefined && { board: board.code }) };
    }),
  };
}

const ROW = { by: 'number', number: 'RN.900418822', name: { wholeName: 'HOLLOWAY, BEATRICE' }, board: 'NUR' };

const table = [
  ['Lic #', 'Employee Name', 'State board'],
  ['RN.900418822', '"HOLLOWAY, BEATRICE"', 'nursing'],
];
const text = (separator: string) => table.map((cells) => cells.join(separator)).join('\r\n');

test.each([',', ';', '\t'])('a list is understood separated by %j', async (separator) => {
  expect(await understood(text(separator))).toEqual({ separator, rows: [ROW] });
});

test('a list is understood separated as its header is, where rows have cells too many', async () => {
  const { columns } = await readTable('Note,Last Name\nnew,Smith\nsenior,Jones,RN\nsenior,Jones,RN\n');
  expect(columns).toEqual(['Note', 'Last Name']);
});

test.each([
  ['UTF-8', Buffer.from(text(';'))],
  ['UTF-8 with its mark', Buffer.from(`\ufeff${text(';')}`)],
  ['UTF-16 LE', Buffer.from(`\ufeff${text(';')}`, 'utf16le')],
  ['UTF-16 BE', Buffer.from(`\ufeff${text(';')}`, 'utf16le').swap16()],
  ['UTF-16 LE without its mark', Buffer.from(text(';'), 'utf16le')],
  ['UTF-16 BE without its mark', Buffer.from(text(';'), 'utf16le').swap16()],
  ['ASCII with a title above', Buffer.from(`Ward 3\n;;\n${text(';')}`)],
  ['below ten lines', Buffer.from(`${'Ward 3\n'.repeat(10)}${text(';')}`)],
  ['as Windows writes them, with old Mac line breaks', Buffer.from(text(';').replaceAll('\r\n', '\r'))],
  ['without a line break after the header', Buffer.from(`${text(';')};;;`)],
])('a list is understood in %s', async (_what, bytes) => {
  expect(await understood(bytes)).toEqual({ separator: ';', rows: [ROW] });
});

test('a list is understood in Windows-1252, letters included', async () => {
  expect(await understood(Buffer.from('Name;Lic #\nMuñoz, José;35.700007\n', 'latin1'))).toEqual({
    separator: ';',
    rows: [{ by: 'number', number: '35.700007', name: { wholeName: 'Muñoz, José' } }],
  });
});

const GARCIA = { lastName: 'Garcia', firstName: 'Maria' };
const ANSWERED = `Lic #,Name,${RESULT_COLUMNS.join()}\nRN.880001,"A, B",found,Clear,RN.880002,"C, D"\n`;
const BOARDS = 'License,Board\nA1,nur\nA2,Pharmacy\nA3,MEDICAL BOARD\nA4,Ohio\n';
const ofNumbers = (...numbers: string[]) => numbers.map((number) => ({ number }));

test.each([
  ['a bare list of numbers', 'RN.1\nrn 2\n3900123456\n', ofNumbers('RN.1', 'rn 2', '3900123456')],
  ['with a title that names nothing', 'To check\nRN.1\nRN.2\n', ofNumbers('RN.1', 'RN.2')],
  ['names in one column', 'Employee Name\nGarcia, Maria\n', [{ by: 'person', ...GARCIA }]],
  ['First Last', 'Name\nMaria Garcia\n', [GARCIA]],
  ['several words', 'Name\nRosa de la Fuente\n', [{ lastName: 'de la Fuente', firstName: 'Rosa' }]],
  ['credentials after the name', 'Name\n"Garcia, Maria, RN"\n', [GARCIA]],
  ['names in two columns', 'Surname,Given name\nGarcia,Maria\n', [GARCIA]],
  ['a legal form', 'Name\nMaple Health LLC\n', [{ by: 'business', name: 'Maple Health LLC' }]],
  ['a company', 'Company\nShear Grace\n', [{ by: 'business', name: 'Shear Grace' }]],
  ['a company beside a person: the person counts', 'Name,Company\nMaria Garcia,Mercy\n', [GARCIA]],
  ['boards', BOARDS, [{ board: 'NUR' }, { board: 'PRX' }, { board: 'MED' }, { number: 'A4' }]],
  ['a name that begins like a footer', 'Company,Ward,Note\nTotal Care,3,x\n', [{ name: 'Total Care' }]],
  ['such a business alone', 'Company\nTotal Care\nTotal: 1\n', [{ name: 'Total Care' }]],
  // The first has no names of columns: all of its rows are looked up.
  ['two lists', 'RN.1\nLicense number\nRN.2\n', ofNumbers('RN.1', 'License number', 'RN.2')],
  ['the state of an address', 'Lic #,City,State\nRN.1,Covington,KY\n', ofNumbers('RN.1')],
  ['two states: that of the license counts', 'Lic #,State,License State\nRN.1,KY,OH\n', ofNumbers('RN.1')],
  ['the same, the other one first', 'State,License State,Lic #\nKY,OH,RN.1\n', ofNumbers('RN.1')],
  ['a header below a code', 'Unit,C3\nLic #,Name\nRN.880001,\n', ofNumbers('RN.880001')],
  ['an answer that is checked again', ANSWERED, [{ number: 'RN.880001', name: { wholeName: 'A, B' } }]],
  [
    'the names of the REST API',
    'license_number,last_name\nRN.1,Garcia\n',
    [{ name: { lastName: 'Garcia' } }],
  ],
  ['rows without anything', 'Lic #,Name\nRN.1,\n,\n   ,\nRN.2,\n', ofNumbers('RN.1', 'RN.2')],
  ['cells that an answer has protected', "Lic #\n'+RN.1\n", ofNumbers('+RN.1')],
])('a list is understood %s', async (_what, sent, rows) => {
  expect(await understood(sent)).toEqual(
    expect.objectContaining({ rows: rows.map((row) => expect.objectContaining(row)) }),
  );
});

test.each(['roster.xlsx', 'semicolons-windows-1252.csv', 'tabs.tsv'])(
  'a list is understood as LibreOffice exports it: %s',
  async (name) => {
    const list = await readList(await readFile(resolve(import.meta.dirname, '../fixtures/lists', name)));
    const read = tableOf(list, columnsOf(list.rows.map(({ cells }) => cells)));
    const fields = read.rows.map(({ cells }) => rowFields(read, cells));
    expect(
      fields.map(({ reference, license_number, name, board }) => [reference, license_number, name, board]),
    ).toEqual([
      ['E-0017', 'RN.900418822', 'HOLLOWAY, BEATRICE', 'nursing board'],
      ['E-0018', 'rn 900433210', 'Helen Petrakis', 'NUR'],
      ['E-0019', 'RN.900402255', 'Muñoz, José', 'Nursing'],
      ['E-0020', '3900123456', 'Carlos Estrada', 'Pharmacy'],
      ['E-0021', 'RN.900460012', 'Rosa De La Fuente', undefined],
      ['E-0022', 'RN.900000001', 'Lee, Kim', 'Nursing Board'],
    ]);
    // A form sends the text again.
    expect((await readList(list.text, list.format.separator)).rows).toEqual(list.rows);
  },
);

test.each([
  ['names without a header', 'Garcia,Maria\nSmith,Ann\n', [undefined, undefined]],
  ['rows with a word that names a column', 'RN.1,Licensee\nRN.2,Licensee\n', ['license_number', undefined]],
  ['numbers and boards without a header', 'RN.1,Nursing\nRN.2,Medical\n', ['license_number', 'board']],
  ['unknown headers', 'Wert,Zahl\nabc,RN.1\n', [undefined, undefined]],
  ['two columns of the same meaning', 'Lic #,License Number\nRN.1,RN.2\n', ['license_number', undefined]],
  ['one column of anything', 'hello\nworld\n', [undefined]],
  ['rows of different length', 'a,b,c\nd,e,\nf,,\n', [undefined, undefined, undefined]],
])('it is asked which column is what for %s', async (_what, sent, asks) => {
  expect(await understood(sent)).toEqual({ asks });
});

test.each([
  ['an older Excel file that is cut off', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), /"CSV UTF-8"/],
  ['a PDF', Buffer.from('%PDF-1.7\n'), /This is a PDF/],
  ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe]), /This is a picture/],
  ['a packed file', Buffer.from([0x1f, 0x8b, 8, 0]), /Unzip it/],
  ['half a character', Buffer.from([0xff, 0xfe, 0x00, 0xd8]), /"CSV UTF-8"/],
  ['control characters', Buffer.from([1, 2, 3, 0xff]), /"CSV UTF-8"/],
  ['text that is 1 MB in UTF-8 alone', Buffer.from('é'.repeat(500_000), 'latin1'), /900 KB/],
  ['201 columns', Buffer.from(`Lic #,${times(200, (at) => `c${at}`).join(',')}\nRN.1\n`), /limit is 200/],
  ['a quotation mark that is not closed', Buffer.from('Lic #\n"RN.1\n'), /quotation mark/],
  ['too many rows', Buffer.from(`Lic #\n${'RN.1\n'.repeat(1020)}`), /more than 1,000 rows/],
])('a file is refused, with what to do: %s', async (_what, bytes, words) => {
  await expect(readList(bytes)).rejects.toThrow(words);
});

test('a file is refused, with what to do: a list of a program with two columns of numbers: the second would not be looked up', async () => {
  const read = readTable('Ward,\nRN.1,RN.2\nRN.3,RN.4\n');
  await expect(read).rejects.toThrow('more than one column license_number');
});

test('a file is refused, with what to do: but not one with two addresses, of which the first counts', async () => {
  const read = await readTable('Lic #,City,City\nRN.1,LIMA,AKRON\n');
  expect(read.meanings).toEqual(['license_number', 'city', undefined]);
});

test('a board that is none is named in the error of its row', () => {
  expect(() => rowRequest({ license_number: 'RN.1', board: 'Wizards' }, WORDS, undefined)).toThrow(
    'No board Wizards',
  );
  expect(rowRequest({ license_number: 'RN.1' }, WORDS, NURSING)).toMatchObject({ board: NURSING });
  const ofState = (fields: RowFields) => rowRequest({ license_number: 'RN.1', ...fields }, WORDS, NURSING);
  for (const named of [
    ...[{ board: 'KY' }, { board: 'kentucky', license_state: 'OH' }],
    ...['KY', 'US-KY', 'Kentucky (compact)', 'KY/IN'].map((license_state) => ({ license_state })),
  ])
    expect(() => ofState(named)).toThrow('Not an Ohio license: the row names Kentucky.');
  for (const license_state of ['OH', 'KY, OH', 'Ohio - multistate', 'compact', 'N/A'])
    expect(ofState({ license_state })).toMatchObject({ board: NURSING });
});

const SEVERAL = 'The cell has several license numbers';
const acme = { by: 'business', name: 'Acme', board: undefined };
test.each<[RowFields, object | string]>([
  [{ license_number: '412001', credential_type: 'RN' }, { number: 'RN.412001' }],
  [{ license_number: '412001', license_type: 'RN' }, { number: 'RN.412001' }],
  [{ license_number: '412001', credential_type: 'RN', board: 'PRX' }, { number: '412001' }],
  [{ license_number: 'RN.412001', credential_type: 'LPN' }, 'RN.412001 is not a license number for “LPN”.'],
  [{ license_number: '35.412001', credential_type: 'RN' }, '35.412001 is not a license number for “RN”.'],
  [{ license_number: 'LPN.412001', credential_type: 'LPN' }, { number: 'LPN.412001' }],
  [{ license_number: 'RN.412001', credential_type: 'Nurse' }, { number: 'RN.412001' }],
  [{ license_number: 'RN.1, RN.2' }, `${SEVERAL}: RN.1, RN.2. Give each a row of its own.`],
  [{ search_type: 'BUSINESS', name: 'Acme' }, acme],
  [
    { search_type: 'business', business_name: 'Acme', name: 'X', board: 'PRX' },
    { ...acme, board: PHARMACY },
  ],
  [
    { search_type: 'business', license_number: '1', name: 'Acme' },
    { businessOnly: true, name: { businessName: 'Acme' } },
  ],
  [{ business_name: 'Acme' }, acme],
  [
    { name: 'Acme LLC', last_name: 'Smith' },
    { by: 'person', lastName: 'Smith', board: NURSING },
  ],
  [{ name: 'Acme LLC', first_name: 'Ann', license_number: 'RN.1' }, { name: { firstName: 'Ann' } }],
  [{ name: 'x'.repeat(200) }, { by: 'person', lastName: 'x'.repeat(200) }],
  [{ name: 'x'.repeat(201) }, WORDS.tooLong('name')],
  [{ name: 'x'.repeat(201), license_number: 'RN.1' }, WORDS.tooLong('name')],
  [{ name: 'RN, BSN' }, WORDS.noName],
])('a row with %j asks for %j', (fields, expected) => {
  const read = () => rowRequest(fields, WORDS, NURSING);
  if (typeof expected === 'string') expect(read).toThrow(expected);
  else expect(read()).toMatchObject(expected);
});

test('a business is looked up at the board of the list where an interface needs one', () => {
  const words = { ...WORDS, noBoard: () => 'No board' };
  expect(rowRequest({ business_name: 'Acme' }, words, PHARMACY)).toMatchObject({ board: PHARMACY });
});

test('a row of many cells has no more columns than a list may have', async () => {
  const { meanings } = columnsOf([['Lic #'], Array(MAX_COLUMNS + 1).fill(''), ['RN.1']]);
  expect(meanings).toHaveLength(MAX_COLUMNS);
  const { columns, rows } = await readTable(`Lic #\n${','.repeat(300)}\nRN.1\n`);
  expect([columns, rows.length]).toEqual([['Lic #'], 2]);
});

test('a row with a reference alone is told that it has no name, and is not asked for a board', () => {
  const words = { ...WORDS, noBoard: () => 'No board', noName: 'No name' };
  expect(() => rowRequest({ reference: 'E-21' }, words, undefined)).toThrow('No name');
  expect(() => rowRequest({ last_name: 'Smith' }, words, undefined)).toThrow('No board');
});

test('hostile texts are read in bounded time', async () => {
  for (const piece of ['\n', ',', '"', ';', '\t', 'a', 'Name,', '"",', 'é', '\u0000', ' ']) {
    const before = process.threadCpuUsage();
    await readList(piece.repeat(800_000 / piece.length)).then(
      ({ rows }) => columnsOf(rows.map(({ cells }) => cells)),
      () => undefined,
    );
    const { user, system } = process.threadCpuUsage(before);
    // A quadratic one takes minutes.
    expect([piece, (user + system) / 1000 < 3000]).toEqual([piece, true]);
  }
});

import { expect, jest, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { readWorkbook } from '../../src/rosters/workbook.ts';
import { startedChildrenOf, untilGone } from '../support/children.ts';
import { MAIN, PACKAGE, RELATIONSHIP, textRow, workbook } from '../support/workbooks.ts';

const MEGABYTE = 1024 * 1024;

/** The cells of the first sheet, row by row; of an empty row there are none. */
async function rowsOf(file: Buffer): Promise<string[][]> {
  const [sheet] = await readWorkbook(file);
  const rows = parse(sheet?.text ?? '', { relax_column_count: true });
  return rows.map((cells) => (cells.join('') === '' ? [] : cells));
}

test('a workbook has its texts, numbers and dates as they are seen', async () => {
  const file = workbook({
    sharedStrings:
      '<si><t>Lic #</t></si><si><r><t>MU</t></r><r><t>ÑOZ</t></r><rPh sb="0"><t>no</t></rPh></si><si><t>a_x000D_b</t></si>',
    styles:
      '<numFmts><numFmt numFmtId="164" formatCode="mm/dd/yyyy"/><numFmt numFmtId="165" formatCode="00000000000"/><numFmt numFmtId="166" formatCode="&quot;day&quot; 0"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs>',
    sheets: [
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>' +
        '<row r="3"><c r="A3"><v>12345</v></c><c r="B3"><v>12345.0</v></c><c r="C3"><v>35.7</v></c><c r="D3"><v>1.5E3</v></c></row>' +
        '<row><c s="1"><v>43528</v></c><c s="2"><v>43528.75</v></c><c s="3"><v>3900123456</v></c><c s="4"><v>5</v></c></row>' +
        '<row><c t="b"><v>1</v></c><c t="str"><f>1+1</f><v>two</v></c><c t="e"><v>#N/A</v></c><c t="d" s="2"><v>2026-11-25T00:00:00</v></c></row>' +
        '<row><c t="s"><v>2</v></c><c/><c t="inlineStr"><is><t xml:space="preserve"> x </t></is></c></row>',
    ],
  });
  expect(await rowsOf(file)).toEqual([
    ['Lic #', '', 'MUÑOZ'],
    [],
    ['12345', '12345', '35.7', '1500'],
    ['03/04/2019', '2019-03-04', '03900123456', 'day 5'],
    ['TRUE', 'two', '#N/A', '2026-11-25'],
    ['a\rb', '', 'x'],
  ]);
});

test.each([
  ['counted from 1904', '<workbookPr date1904="1"/>', '42066', '2019-03-04'],
  ['before the first one', '', '-1', '-1'],
  ['after the last one', '', '2958466', '2958466'],
])('a workbook with dates %s', async (_what, workbookPr, days, text) => {
  const styles = '<cellXfs><xf numFmtId="14"/></cellXfs>';
  const sheets = [`<row><c s="0"><v>${days}</v></c></row>`];
  expect(await rowsOf(workbook({ workbookPr, styles, sheets }))).toEqual([[text]]);
});

test('a workbook is read from the first visible sheet that has text, whatever prefix its elements have', async () => {
  const file = workbook({
    sheets: ['<row><c/></row>', textRow('hidden'), ''],
    states: ['visible', 'hidden'],
    others: {
      'xl/worksheets/sheet3.xml':
        '<x:worksheet xmlns:x="y"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>seen</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>',
    },
  });
  expect(await rowsOf(file)).toEqual([['seen']]);
});

test('a workbook without any text has no rows', async () => {
  expect(await rowsOf(workbook({ sheets: ['<row r="1"><c r="A1"/></row>'] }))).toEqual([]);
});

/** A text that compresses well. */
const zeros = (bytes: number) => Buffer.alloc(bytes, '0');

const cell = (index: number) => `<row><c t="s"><v>${index}</v></c></row>`;
const sheetPart = (cells: string) => `<worksheet xmlns="${MAIN}"><sheetData>${cells}</sheetData></worksheet>`;

test.each([
  ...['./worksheets/sheet1.xml', '../xl/worksheets/sheet1.xml', '/xl/worksheets/sheet1.xml'],
  'worksheets/../worksheets/sheet1.xml',
])('a part of a workbook is found at %s', async (target) => {
  const links = `<Relationships xmlns="${PACKAGE}/relationships">${`<Relationship Id="r0" Type="${RELATIONSHIP}/worksheet" Target="${target}"/>`}</Relationships>`;
  const file = workbook({
    sheets: [textRow('staff'), textRow('old')],
    others: { 'xl/_rels/workbook.xml.rels': links },
  });
  expect(await rowsOf(file)).toEqual([['staff']]);
});

/** The same workbook, whose main part has another name. */
function renamed(file: Buffer, name: string): Buffer {
  const parts = Object.entries(unzipSync(file)).map(([path, content]) => [
    path.replace('workbook.xml', name),
    path === '[Content_Types].xml'
      ? strToU8(strFromU8(content).replace('xl/workbook.xml', `xl/${name}`))
      : content,
  ]);
  return Buffer.from(zipSync(Object.fromEntries(parts)));
}

test('a workbook whose main part has another name is read', async () => {
  const file = workbook({ sheets: [textRow('staff')] });
  expect(await rowsOf(renamed(file, 'workbook22.xml'))).toEqual([['staff']]);
});

const FIRST = 'xl/worksheets/sheet1.xml';
/** A workbook with another first sheet. */
const withFirst = (content: string | Uint8Array) =>
  workbook({ sheets: ['', textRow('b')], others: { [FIRST]: content } });
const withoutFirst = workbook({ sheets: [textRow('a'), textRow('b')], missing: [FIRST] });
const longText = `<si><t>${'0'.repeat(10 * MEGABYTE)}</t></si>`;
const parts = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, 'x']));
const TOO_LARGE = /too large when unzipped/;
const BROKEN = /missing or broken \(xl\/worksheets\/sheet1.xml\)/;
const UNREADABLE = /cannot be read/;

function withWrongSize(): Buffer {
  const file = workbook({ sheets: [textRow('a'.repeat(5000))] });
  // The size in the central directory, of the sheet's entry, which is the last.
  file.writeUInt32LE(1, file.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1')) + 24);
  return file;
}

test.each<[string, () => Buffer, RegExp]>([
  ['a sheet of 10 MB', () => withFirst(zeros(10 * MEGABYTE)), TOO_LARGE],
  ['shared strings of 10 MB', () => workbook({ sheets: [cell(0)], sharedStrings: longText }), TOO_LARGE],
  ['a thousand parts', () => workbook({ sheets: [''], others: parts }), /too many sheets, pictures/],
  [
    'a text that is not there',
    () => workbook({ sheets: [cell(2)], sharedStrings: '<si><t>a</t></si>' }),
    UNREADABLE,
  ],
  ['texts, and no part with them', () => workbook({ sheets: [cell(0)] }), UNREADABLE],
  ['a sheet that is not there', () => withoutFirst, BROKEN],
  ['the same, and a main part of another name', () => renamed(withoutFirst, 'workbook22.xml'), BROKEN],
  ['a sheet that is cut off', () => withFirst(sheetPart(textRow('a')).slice(0, -20)), BROKEN],
  ['a sheet that is no text', () => withFirst(new Uint8Array([0x3c, 0xff])), BROKEN],
  ['no workbook in it', () => Buffer.from(zipSync({ 'a.txt': zeros(10) })), UNREADABLE],
  ['its end cut off', () => workbook({ sheets: [textRow('a')] }).subarray(0, 300), UNREADABLE],
  ['only the beginning of an older one', () => Buffer.from('d0cf11e0a1b11ae1', 'hex'), UNREADABLE],
  ['a size that is not true', withWrongSize, UNREADABLE],
])('a workbook is refused in words that has %s', async (_what, file, words) => {
  await expect(rowsOf(file())).rejects.toThrow(words);
});

test('one workbook is read at a time; ten wait, and more are refused at once', async () => {
  const file = workbook({ sheets: [textRow('a')] });
  const read = Array.from({ length: 12 }, () => Promise.resolve().then(() => readWorkbook(file)));
  const ended = await Promise.allSettled(read);
  expect(ended.map(({ status }) => status)).toEqual([...Array(11).fill('fulfilled'), 'rejected']);
});

test('a process that stands still, and so needs no CPU, is ended after ten seconds', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  const read = readWorkbook(workbook({ sheets: [textRow('a')] }));
  const children = await startedChildrenOf(process.pid);
  for (const child of children) process.kill(child, 'SIGSTOP');
  jest.advanceTimersByTime(10_000);
  jest.useRealTimers();
  await expect(read).rejects.toThrow(/takes too long/);
  await untilGone(children);
});

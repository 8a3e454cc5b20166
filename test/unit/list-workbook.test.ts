import { describe, expect, test } from '@jest/globals';
import { zipSync } from 'fflate';
import { xlsxRows } from '../../src/rosters/xlsx.ts';
import { textRow, workbook } from '../support/workbooks.ts';

const BOUNDS = { rows: 100, columns: 10, characters: 10_000 };
const MEGABYTE = 1024 * 1024;

const rowsOf = (file: Buffer) => xlsxRows(file, BOUNDS);

describe('a workbook', () => {
  test('has its texts, numbers and dates as they are seen', async () => {
    const file = workbook({
      sharedStrings:
        '<si><t>Lic #</t></si><si><r><t>MU</t></r><r><t>ÑOZ</t></r><rPh sb="0"><t>no</t></rPh></si><si><t>a_x000D_b</t></si>',
      styles:
        '<numFmts><numFmt numFmtId="164" formatCode="mm/dd/yyyy"/><numFmt numFmtId="165" formatCode="00000000000"/><numFmt numFmtId="166" formatCode="&quot;day&quot; 0"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs>',
      sheets: [
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>' +
          '<row r="3"><c r="A3"><v>12345</v></c><c r="B3"><v>12345.0</v></c><c r="C3"><v>35.7</v></c><c r="D3"><v>1.5E3</v></c></row>' +
          '<row><c s="1"><v>43528</v></c><c s="2"><v>43528.75</v></c><c s="3"><v>3900123456</v></c><c s="4"><v>5</v></c></row>' +
          '<row><c t="b"><v>1</v></c><c t="str"><f>1+1</f><v>two</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2026-11-25T00:00:00</v></c></row>' +
          '<row><c t="s"><v>2</v></c><c t="s"><v>99</v></c><c t="inlineStr"><is><t xml:space="preserve"> x </t></is></c></row>',
      ],
    });
    expect(await rowsOf(file)).toEqual([
      ['Lic #', '', 'MUÑOZ'],
      ['12345', '12345', '35.7', '1500'],
      ['2019-03-04', '2019-03-04', '03900123456', '5'],
      ['TRUE', 'two', '#N/A', '2026-11-25'],
      ['a\rb', '', 'x'],
    ]);
  });

  test.each([
    ['counted from 1904', '<workbookPr date1904="1"/>', '42066', '2019-03-04'],
    ['before the first one', '', '-1', '-1'],
    ['after the last one', '', '2958466', '2958466'],
  ])('with dates %s', async (_what, workbookPr, days, text) => {
    const styles = '<cellXfs><xf numFmtId="14"/></cellXfs>';
    const sheets = [`<row><c s="0"><v>${days}</v></c></row>`];
    expect(await rowsOf(workbook({ workbookPr, styles, sheets }))).toEqual([[text]]);
  });

  test('is read from the first visible sheet that has text, whatever prefix its elements have', async () => {
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

  test('without any text has no rows', async () => {
    expect(await rowsOf(workbook({ sheets: ['<row r="1"><c r="A1"/></row>'] }))).toEqual([]);
  });
});

/** A text that compresses well. */
const zeros = (bytes: number) => Buffer.alloc(bytes, '0');

const BILLION_LAUGHS = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(100)}">]><worksheet><sheetData><row><c t="inlineStr"><is><t>&b;</t></is></c></row></sheetData></worksheet>`;

test('of a hundred thousand sheets, a few are looked into', async () => {
  const sheets = '<sheet id="r0"/>'.repeat(100_000);
  const others = { 'xl/workbook.xml': `<workbook><sheets>${sheets}</sheets></workbook>` };
  expect(await rowsOf(workbook({ sheets: [''], others }))).toEqual([]);
});

describe('a hostile workbook is refused in words, in bounded time and memory:', () => {
  test.each([
    [
      'a sheet of 100 MB',
      () => workbook({ sheets: [''], others: { 'xl/worksheets/sheet1.xml': zeros(100 * MEGABYTE) } }),
      /can not be read|too large when unpacked/,
    ],
    [
      'a million empty rows',
      () => workbook({ sheets: ['<row r="1" ht="12"><c r="A1" s="0"/></row>'.repeat(1_000_000)] }),
      /too large when unpacked/,
    ],
    [
      'shared strings of 100 MB',
      () =>
        workbook({
          sheets: ['<row><c t="s"><v>0</v></c></row>'],
          sharedStrings: `<si><t>${'0'.repeat(100 * MEGABYTE)}</t></si>`,
        }),
      /too large when unpacked/,
    ],
    [
      'one text of 9 KB in a thousand cells',
      () =>
        workbook({
          sheets: ['<row><c t="s"><v>0</v></c></row>'.repeat(1000)],
          sharedStrings: `<si><t>${'0'.repeat(9000)}</t></si>`,
        }),
      /more than 10 KB of text/,
    ],
    ['101 rows', () => workbook({ sheets: [textRow('a').repeat(101)] }), /more than 100 rows/],
    [
      'a cell in the last column of the last row',
      () => workbook({ sheets: ['<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'] }),
      /more than 10 columns/,
    ],
    [
      'entities that expand',
      () => workbook({ sheets: [''], others: { 'xl/worksheets/sheet1.xml': BILLION_LAUGHS } }),
      /can not be read/,
    ],
    [
      'a thousand parts',
      () =>
        workbook({
          sheets: [''],
          others: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}`, 'x'])),
        }),
      /more than 500 parts/,
    ],
    [
      'an element with 900,000 attributes',
      () =>
        workbook({ sheets: [`<row ${Array.from({ length: 900_000 }, (_, at) => `a${at}=""`).join(' ')}/>`] }),
      /can not be read/,
    ],
    [
      'a million elements in one another',
      () => workbook({ sheets: ['<a>'.repeat(1_000_000) + '</a>'.repeat(1_000_000)] }),
      /can not be read/,
    ],
    [
      '400,000 texts that no cell has',
      () => workbook({ sheets: [''], sharedStrings: '<si><t/></si>'.repeat(400_000) }),
      /too large when unpacked/,
    ],
    ['no workbook in it', () => Buffer.from(zipSync({ 'a.txt': zeros(10) })), /no Excel workbook/],
    ['broken XML', () => workbook({ sheets: ['<row><c></row>'] }), /can not be read/],
    [
      'bytes that are not UTF-8',
      () => workbook({ sheets: [''], others: { 'xl/worksheets/sheet1.xml': new Uint8Array([0x3c, 0xff]) } }),
      /can not be read/,
    ],
    ['its end cut off', () => workbook({ sheets: [textRow('a')] }).subarray(0, 300), /can not be read/],
    [
      'a size that is not true',
      () => {
        const file = workbook({ sheets: [textRow('a'.repeat(5000))] });
        // The size in the central directory, of the sheet's entry, which is the last.
        const entry = file.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'));
        file.writeUInt32LE(1, entry + 24);
        return file;
      },
      /can not be read/,
    ],
  ])('%s', async (_what, file, words) => {
    const bytes = file();
    const { rss } = process.memoryUsage();
    const before = process.threadCpuUsage();
    await expect(rowsOf(bytes)).rejects.toThrow(words);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(3000);
    expect(process.memoryUsage().rss - rss).toBeLessThan(200 * MEGABYTE);
  });
});

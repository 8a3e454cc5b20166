import { strToU8, zipSync } from 'fflate';
import { textRow, type WorkbookParts, workbook } from './workbooks.ts';
import { filled } from './worst-bodies.ts';

/** Slightly less than the maximum unpacked size of a workbook. */
const BYTES = 7_500_000;

/** Pieces that make parsers repeat work: opening marks, blanks, and closing marks without an opening one. */
export const PIECES: readonly string[] = ['[', '"', '\\', ' ', '_x', '<', '&#', '0', '#', 'é', "'", '(', '-'];

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const CELL = '<row><c t="s" s="0"><v>0</v></c></row>';
const NUMBERS = '<row><c s="0"><v>43528</v></c></row>'.repeat(1000);

const STYLES = '<xf numFmtId="164"/>'.repeat(500);

/** A file with the piece repeated up to the limits, for each place that is read in a workbook. */
function places(piece: string): readonly (readonly [string, WorkbookParts])[] {
  const text = escaped(filled(piece, 1_000_000));
  const part = filled(piece, BYTES);
  const short = escaped(filled(piece, 30_000));
  const pieces = `<r><t>${short}</t></r>`.repeat(60);
  const format = `<numFmts><numFmt numFmtId="164" formatCode="${text}"/></numFmts>`;
  return [
    ['a format', { sheets: [NUMBERS], styles: `${format}<cellXfs><xf numFmtId="164"/></cellXfs>` }],
    ['500 styles of a format', { sheets: [NUMBERS], styles: `${format}<cellXfs>${STYLES}</cellXfs>` }],
    ['a shared text in cells', { sheets: [CELL.repeat(50_000)], sharedStrings: `<si><t>${text}</t></si>` }],
    ['a text in pieces', { sheets: [CELL], sharedStrings: `<si>${pieces}</si>` }],
    ['a text of a cell', { sheets: [textRow(text)] }],
    ['the address of a cell', { sheets: [`<row><c r="${short}"><v>1</v></c></row>`] }],
    ['the number of a row', { sheets: [`<row r="${short}"><c><v>1</v></c></row>`] }],
    ['a number', { sheets: [`<row><c><v>${text}</v></c></row>`] }],
    ['the type of a cell', { sheets: [`<row><c t="${short}"><v>1</v></c></row>`] }],
    ['the style of a cell', { sheets: [`<row><c s="${short}"><v>1</v></c></row>`] }],
    ['a property', { sheets: [textRow('a')], workbookPr: `<workbookPr date1904="${text}"/>` }],
    ['a part of its own', { sheets: [textRow('a')], others: { 'xl/sharedStrings.xml': part } }],
    ['a sheet', { sheets: [''], others: { 'xl/worksheets/sheet1.xml': part } }],
    ['the links', { sheets: [''], others: { 'xl/_rels/workbook.xml.rels': part } }],
    ['the styles', { sheets: [NUMBERS], others: { 'xl/styles.xml': part } }],
  ];
}

/** Elements that may occur repeatedly in a sheet. */
const ELEMENTS = [
  ['empty rows', '<row r="1" ht="12"><c r="A1" s="0"/></row>'],
  ['cells without an end', '<c><v>'],
  ['rows without an end', '<row>'],
  ['cells with a style', '<c s="65490"><v>1</v></c>'],
  ['rows far apart', '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'],
  ['links', '</sheetData><hyperlinks><hyperlink ref="A1:XFD1048576" r:id="r0"/></hyperlinks><sheetData>'],
  ['joined cells', '</sheetData><mergeCell ref="A1:XFD1048576"/><sheetData>'],
  ['comments', '<!-- x -->'],
  ['entities', '<row><c t="inlineStr"><is><t>&#x41;&amp;</t></is></c></row>'],
  ['formulas', '<row><c><f t="shared" si="0" ref="A1:XFD1048576">A1</f><v>1</v></c></row>'],
  ['readings', '<row><c t="inlineStr"><is><rPh><t>a</t></rPh></is></c></row>'],
  ['elements in one another', '<a>'],
] as const;

/** An OpenDocument sheet with these rows. */
function openDocument(rows: string): Buffer {
  const content = `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet><table:table table:name="S">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`;
  const parts = {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'META-INF/manifest.xml': '<manifest/>',
    'content.xml': content,
  };
  return Buffer.from(
    zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)]))),
  );
}

const OLD_WORKBOOK = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);

/** Workbooks of at most a megabyte, each with content that could slow a parser. Making one takes a while. */
type Files = Generator<readonly [name: string, file: () => Buffer]>;

/** Workbooks of at most a megabyte, each with content that could slow a parser. Making one takes a while. */
export function* worstWorkbooks(pieces: readonly string[]): Files {
  for (const piece of pieces) {
    for (const [place, parts] of places(piece))
      yield [`${JSON.stringify(piece)} in ${place}`, () => workbook(parts)];
    const [name, long] = [JSON.stringify(piece), filled(piece, 900_000)];
    yield [`a web page of ${name}`, () => Buffer.from(`<html><table>${long}`)];
    yield [`an old workbook of ${name}`, () => Buffer.concat([OLD_WORKBOOK, Buffer.from(long)])];
  }
  for (const [name, element] of ELEMENTS) {
    yield [name, () => workbook({ sheets: [filled(element, BYTES)] })];
    yield [`${name} in a web page`, () => Buffer.from(`<html><table>${filled(element, 900_000)}`)];
  }
  const repeated = (rows: number, columns: number) => () =>
    openDocument(
      `<table:table-row table:number-rows-repeated="${rows}"><table:table-cell table:number-columns-repeated="${columns}" office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>`,
    );
  yield ['a row a million times', repeated(1_048_576, 1)];
  yield ['a cell in every place', repeated(1_048_576, 16_384)];
  yield ['a cell a billion times', repeated(1, 1_000_000_000)];
  const sharedStrings = '<si><t/></si>'.repeat(400_000);
  yield ['400,000 texts that no cell has', () => workbook({ sheets: [''], sharedStrings })];
  yield ['many sheets', () => workbook({ sheets: Array.from({ length: 450 }, () => textRow('a')) })];
  const tables = '<table><tr><td>1</td></tr></table>'.repeat(25_000);
  yield ['tables in a web page', () => Buffer.from(`<html>${tables}`)];
  const wide = '<tr><td colspan="16384" rowspan="1048576">1</td></tr>'.repeat(17_000);
  yield ['cells over every column', () => Buffer.from(`<html><table>${wide}`)];
}

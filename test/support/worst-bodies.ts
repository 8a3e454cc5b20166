import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';

const MEGABYTE = 1024 * 1024;

/** Worst cases of a name or a number: a piece repeated up to the limit of a body. */
export type Cases = readonly (readonly [name: string, text: string])[];

/** A text of this length made by repeating a piece. */
export const filled = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** A start, a piece repeated up to a limit, and an end. */
function around(start: string, piece: string, end = '', limit = MEGABYTE): string {
  const left = limit - Buffer.byteLength(start) - Buffer.byteLength(end);
  return start + piece.repeat(Math.floor(left / Buffer.byteLength(piece))) + end;
}

const HEADER = 'license_number\n';
const BOARDS_ROW = filled('nursing medical pharmacy dental social worker counselor,', 200 * 56).slice(0, -1);
const COLUMNS = Array.from({ length: 199 }, (_, at) => `c${at}`).join(',');

/** Rosters as 1 MB of CSV: quotation marks, separators and line breaks in every order that could slow a parser. */
export const WORST_TABLES: Cases = [
  ['stray marks, then blanks', `${HEADER}"${'x"'.repeat(260_000)}x${' '.repeat(520_000)}\n`],
  ['stray marks in plain cells', around(HEADER, 'x" ')],
  ['marks', around(HEADER, '"')],
  ['doubled marks without an end', around(`${HEADER}"`, '""')],
  ['a mark without an end', around(`${HEADER}"`, 'a')],
  ['a million cells', around(HEADER, ',')],
  ['a million cells below a name of people', around('Lic #\n', ',')],
  ['a million columns', around('license_number', ',a')],
  ['200,000 cells in a row', around(HEADER, ',', '', 200_000)],
  ['200 columns and 1,000 rows', `license_number,${COLUMNS}\n${`${filled('a,', 399)}\n`.repeat(1000)}`],
  ['200 columns that may be boards', `${'Board,'.repeat(199)}Lic #\n${`${BOARDS_ROW}\n`.repeat(20)}`],
  ['a million rows', around(HEADER, 'a\n')],
  ['1,000 rows of 1,000 characters', around(HEADER, `${filled('RN ', 1020)}\n`)],
  ['CR without LF', around('license_number\r', 'a\r')],
  ['NUL', around(HEADER, '\0')],
  ['blanks', around(HEADER, ' ')],
  ['formulas', around(`note,${HEADER}`, `=1;=2\t+3,RN.1\n`)],
  ['line breaks in a cell', around(`note,${HEADER}"`, '\n', '",RN.1\n')],
  ['signs that HTML escapes', around(`note,${HEADER}"`, `<>&'`, '",RN.1\n')],
  ['letters that fold to fifteen', around(`last_name\n`, `${'\ufdfa'.repeat(66)}\n`)],
];

const keys = (count: number): string => Array.from({ length: count }, (_, at) => `"a${at}":0`).join(',');

/** A roster with the same item a thousand times. */
const thousand = (item: string): string => `{"items":[${Array(1000).fill(item).join()}]}`;

/** Rosters as 1 MB of JSON. */
export const WORST_ROSTERS: Cases = [
  ['500,000 items', around('{"items":[', '0,', '0]}')],
  ['nested lists', `{"items":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
  ['nested objects in an item', `{"items":[${'{"a":'.repeat(170_000)}0${'}'.repeat(170_000)}]}`],
  ['an item that is a long text', `{"items":["${filled('x', MEGABYTE - 20)}"]}`],
  ['an item with a long board', `{"items":[{"board":"${filled('x ', MEGABYTE - 40)}"}]}`],
  ['an item with 90,000 keys', `{"items":[{${keys(90_000)}}]}`],
  ['1,000 items with 80 keys', thousand(`{${keys(80)}}`)],
  ['the same key again and again', around('{"items":[{', '"a":0,', '"a":0}]}')],
  ['1,000 items without a board', thousand('{"last_name":"x"}')],
  ['1,000 unknown boards', thousand(`{"board":"${filled('nursng bord ', 60)}","last_name":"x"}`)],
  ['1,000 long unknown boards', thousand(`{"board":"${filled('q w e r t y ', 199)}","last_name":"x"}`)],
  ['a long number', `{"items":[{}],"max_matches":${filled('9', MEGABYTE - 40)}}`],
  ['prototype names', around('{"items":[{', '"__proto__":{"constructor":0},', '"a":0}]}')],
];

/** URL-encoded forms of 1 MB. */
export const WORST_FORMS: Cases = [
  ['524,288 fields', around('', 'a&')],
  ['a million separators', around('', '&')],
  ['broken escapes', around('roster=', '%f')],
  ['escapes that are not UTF-8', around('roster=', '%ff')],
  ['one long name', around('', 'a')],
];

/** As long as the boundary of a browser. */
const BOUNDARY = '----WebKitFormBoundary7MA4YWxkTrZu0gW';

const partStart = (name: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n`;

const part = (name: string, value: string): string => `${partStart(name)}${value}\r\n`;

/** Multipart forms of 1 MB. */
export const WORST_PARTS: Cases = [
  ['200,000 boundaries', around('', `--${BOUNDARY}\r\n`)],
  ['20,000 parts', around('', part('a', ''), `--${BOUNDARY}--\r\n`)],
  ['almost boundaries', around(partStart('roster'), `\r\n--`, `\r\n--${BOUNDARY}--\r\n`)],
  ['header lines', around(`--${BOUNDARY}\r\n`, 'a: b\r\n')],
  ['a header of parameters', around(`--${BOUNDARY}\r\ncontent-disposition: form-data`, '; a="\\""')],
  ['one long name', around(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="`, 'a')],
  ['escapes in a name', around(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="`, '%22')],
  ['a part without an end', around(partStart('roster'), 'x')],
];

/** The media type of `WORST_PARTS`. */
export const PARTS_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A multipart form with one field. */
export const formParts = (name: string, value: string): string => `${part(name, value)}--${BOUNDARY}--\r\n`;

/** Header values of 15 KB that could slow parsers of lists, parameters and quotation marks. */
export const WORST_HEADERS: Cases = [
  ['open marks and commas', `a;b="${',""'.repeat(5300)}`],
  ['commas', filled(',', 15_000)],
  ['marks', filled('"', 15_000)],
  ['parameters', `a/b${filled(';a=b', 15_000)}`],
  ['blanks', `a${filled(' ', 15_000)}b`],
  ['media types', filled('a/b,', 15_000)],
  ['encodings', filled('gzip;q=0.1,', 15_000)],
  ['escaped dots', filled('%2e%2e/', 15_000)],
  ['queries', filled('number=1&a=1&__proto__=1&constructor=1&', 15_000)],
];

/** Values of 200 characters, the maximum for a field. */
export const WORST_VALUES: Cases = [
  ['digits that look like letters', filled('0O1l5S8B', 200)],
  ['blanks and letters', filled('a ', 200)],
  ['commas', filled('a,', 200)],
  ['words of business names', filled('THE & CO INC LLC DBA D.B.A. ', 200)],
  ['letters that fold to fifteen', filled('\ufdfa', 200)],
  ['marks over letters', filled('a\u0301\u0327', 200)],
  ['combining marks', `a${filled('\u0300\u0316', 199)}`],
];

/** Compressed versions of a text, by each accepted Content-Encoding. */
export const COMPRESSIONS: ReadonlyMap<string, (text: string | Buffer) => Buffer> = new Map([
  ['gzip', (text) => gzipSync(text)],
  ['x-gzip', (text) => gzipSync(text)],
  ['deflate', (text) => deflateSync(text)],
  ['br', (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
]);

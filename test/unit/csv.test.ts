import { describe, expect, test } from '@jest/globals';
import { type CsvRow, MAX_FIELD_LENGTH, readCsv } from '../../src/dataset/csv.ts';

async function readBatches(chunks: readonly string[], width?: number): Promise<CsvRow[][]> {
  async function* source() {
    yield* chunks;
  }
  const batches: CsvRow[][] = [];
  for await (const batch of readCsv(source(), width)) batches.push(batch);
  return batches;
}

const read = async (chunks: readonly string[], width?: number) => (await readBatches(chunks, width)).flat();

/** The fields of each row, or what is wrong with it. */
const outcomes = async (text: string, width?: number) =>
  (await read([text], width)).map(({ fields, problem }) => problem ?? fields);

const TOO_LONG = 'has a field of more than 4000 characters (a quote left open?)';
const LEFT_OPEN = 'has a quote left open at the end of the file';
const AFTER_QUOTE = 'has text after a closing quote';

const HEAD_ROW = { line: 1, fields: ['a', 'b'], raw: 'a,b' };
const row = (line: number, raw: string, fields = raw.split(',')) => ({ line, fields, raw });
const rejected = (line: number, raw: string, problem: string) => ({ line, fields: [], raw, problem });

test.each<[string, string, string]>([
  ['plain fields', 'a,b\n1,2\n', '[a|b][1|2]'],
  ['no line break at the end', 'a,b\n1,2', '[a|b][1|2]'],
  ['a header alone', 'a,b', '[a|b]'],
  ['a header alone with its line break', 'a,b\r\n', '[a|b]'],
  ['nothing at all', '', ''],
  ['nothing but line breaks', '\n\r\n\n', ''],
  ['CRLF', 'a,b\r\n1,2\r\n', '[a|b][1|2]'],
  ['CRLF after quoted fields', '"a","b"\r\n"1","2"\r\n', '[a|b][1|2]'],
  ['a carriage return alone at the end', 'a,b\r\n1,2\r', '[a|b][1|2]'],
  ['a carriage return alone at the end after a quote', 'a,b\r\n1,"2"\r', '[a|b][1|2]'],
  ['LF and CRLF mixed', 'a,b\n1,2\r\n3,4\n', '[a|b][1|2][3|4]'],
  ['blank lines between', 'a,b\n\n1,2\n\r\n\n3,4\n\n', '[a|b][1|2][3|4]'],
  ['empty fields', 'a,b,c\n,,\n"","",""\n', '[a|b|c][||][||]'],
  ['an empty field at the end of a quoted row', 'a,b\n"1",\n', '[a|b][1|]'],
  ['an empty field at the end of the file', 'a,b\n"1",', '[a|b][1|]'],
  ['quoted commas', 'a,b\n"x,y","z,"\n', '[a|b][x,y|z,]'],
  ['quoted quotes', 'a,b\n"say ""hi""",""""\n', '[a|b][say "hi"|"]'],
  ['quoted line breaks', 'a,b\n"x\ny","z\r\nw"\n', '[a|b][x\ny|z\r\nw]'],
  ['CRLF after a field that follows a quoted line break', 'a,b\r\n"x\ny",z\r\n', '[a|b][x\ny|z]'],
  ['a carriage return at the end of a field before a quoted one', 'a,b\nx\r,"y"\n', '[a|b][x\r|y]'],
  ['quoted line breaks alone', 'a,b\n"\n","\n\n"\n', '[a|b][\n|\n\n]'],
  ['quoted names in the header', '"a","b ""c"""\n1,2\n', '[a|b "c"][1|2]'],
  ['a quote within an unquoted field', 'a,b\n5" pipe,say "hi"\n', '[a|b][5" pipe|say "hi"]'],
  ['a quote after a blank', 'a,b\n "x",y\n', '[a|b][ "x"|y]'],
  ['blanks around fields', 'a,b\n x , y \n', '[a|b][ x | y ]'],
  ['one column', 'a\n"x\ny"\nz\n', '[a][x\ny][z]'],
  ['letters of every kind', 'a,b\n\u00d1,\ud83d\ude00\n', '[a|b][\u00d1|\ud83d\ude00]'],
])('a CSV file is read: %s', async (_what, text, rows) => {
  const read = (await outcomes(text)).map((fields) =>
    typeof fields === 'string' ? fields : `[${fields.join('|')}]`,
  );
  expect(read.join('')).toBe(rows);
});

test('a CSV file is read in batches: the rows that each chunk completes, and no empty batch', async () => {
  const chunks = ['a,b\n1', ',2', '\n3,4\n5,6\n', '', '\n7,8\n', '9,"0"\r\n"1",2\n3', ',4'];
  const raws = (await readBatches(chunks)).map((rows) => rows.map(({ raw }) => raw).join(' '));
  expect([raws, await readBatches([])]).toEqual([['a,b', '1,2 3,4 5,6', '7,8', '9,"0" "1",2', '3,4'], []]);
});

test('a CSV file needs in each row as many fields as the first row, or as the caller says', async () => {
  const problems = [3, 1].map((count) => `has ${count} fields, not 2`);
  expect(await outcomes('a,b\n1,2,3\n1\n')).toEqual([['a', 'b'], ...problems]);
  expect(await outcomes('a,b\n1,2,3\n', 3)).toEqual(['has 2 fields, not 3', ['1', '2', '3']]);
});

test('a CSV file with a quoted row of another number of fields: its first line is rejected, and the next line is read', async () => {
  const rows = await read(['a,b\n"x",y,z\n"p\nq",r,s\n1,2\n']);
  const lines = ['"x",y,z', '"p', 'q",r,s'].map((raw, at) => rejected(2 + at, raw, 'has 3 fields, not 2'));
  expect(rows).toEqual([HEAD_ROW, ...lines, row(5, '1,2')]);
});

test.each(['"x"y,z', '"x" ,z', '"x"\ty,z', '1,"x""y"z', '"x"\ry,z', '"x"\r,z'])(
  'a CSV file with text after a closing quote: the row is rejected (%j)',
  async (quoted) => {
    const rows = await read([`a,b\n${quoted}\n1,2\n`]);
    expect(rows).toEqual([HEAD_ROW, rejected(2, quoted, AFTER_QUOTE), row(3, '1,2')]);
  },
);

test('a CSV file with an open quote in the middle: only the line of the quote is rejected', async () => {
  const rows = Array.from({ length: 500 }, (_, at) => `${at},row number ${at}`);
  const read500 = await outcomes(['a,b', '1,"open', ...rows].join('\n'));
  expect(read500[1]).toBe(TOO_LONG);
  expect(read500.slice(2)).toEqual(rows.map((row) => row.split(',')));
});

test('a CSV file with an open quote near the end: only the line of the quote is rejected', async () => {
  expect(await read(['a,b\n1,2\n3,"open\n4,5\r\n6,7'])).toEqual([
    ...[HEAD_ROW, row(2, '1,2'), { ...rejected(3, '3,"open', LEFT_OPEN), isTruncated: true }],
    ...[row(4, '4,5'), { ...row(5, '6,7'), isTruncated: true }],
  ]);
});

test.each(['"', '1,"', '1,"x""'])('a CSV file that ends in %j has an open quote', async (row) => {
  expect(await outcomes(`a,b\n${row}`)).toEqual([['a', 'b'], LEFT_OPEN]);
});

test.each<[string, (content: string) => string]>([
  ['unquoted', (content) => content],
  ['quoted', (content) => `"${content}"`],
  ['unquoted before a quoted one', (content) => `${content},"q"`],
  ['unquoted after a quoted one', (content) => `"q",${content}`],
])('a CSV file may have an %s field of 4,000 characters, not of 4,001', async (_how, write) => {
  const most = 'x'.repeat(MAX_FIELD_LENGTH);
  const [fits, tooLong, next] = await read(
    [`${write(most)}\n${write(`${most}x`)}\n${write('y')}\n`],
    write('').split(',').length,
  );
  expect(fits?.fields).toContain(most);
  expect(fits?.problem).toBeUndefined();
  expect(tooLong).toEqual({ line: 2, fields: [], raw: write(`${most}x`), problem: TOO_LONG });
  expect(next?.fields).toContain('y');
});

test.each<[string, string, string | undefined]>([
  ['one of 4,000 characters and a short one', `${'x'.repeat(4000)},y`, undefined],
  ['one of 4,001 characters and a short one', `${'x'.repeat(4001)},y`, TOO_LONG],
  ['many short ones of more than 4,000 characters together', 'xxxx,'.repeat(900), undefined],
])('a CSV file has the limit for each field after quotes: %s', async (_what, fields, problem) => {
  const [row] = await read([`"q",${fields}\n`]);
  expect(row?.problem).toBe(problem);
});

test('a CSV file has the limit for the characters of a field; a doubled quote counts once', async () => {
  const quotes = '"'.repeat(MAX_FIELD_LENGTH);
  const doubled = quotes.replaceAll('"', '""');
  const text = `"${doubled}"\n"${doubled}x"\n"${doubled}"""\ny\n`;
  expect(await outcomes(text, 1)).toEqual([[quotes], TOO_LONG, TOO_LONG, ['y']]);
});

test('a CSV file whose first row is rejected does not get its number of fields from it', async () => {
  const long = 'x'.repeat(MAX_FIELD_LENGTH + 1);
  expect(await outcomes(`${long},b\n1,2\n`)).toEqual([TOO_LONG, ['1', '2']]);
  expect(await outcomes(`"${long}",b\n1,2\n`)).toEqual([TOO_LONG, ['1', '2']]);
});

const TRICKY = [
  'n,"na""me",place\r\n',
  '1,"SMITH, J",A\r\n',
  '2,"two\r\nlines","B"\r\n',
  '"3","""q"" ""","\r\n"\r\n',
  '\r\n',
  '4,5" pipe,\n',
  '"5"x,y,z\n',
  '6,"a",b,c\r\n',
  '"7\n8","",""\n',
  '9,"\u00d1\ud83d\ude00",""\r\n',
  '10,"open,z\r\n',
  '11,y,z\r\n',
  '12,"y","z"\r\n',
  '"13\r\n14","",""\r',
].join('');

const expected: Partial<CsvRow>[] = [
  row(1, 'n,"na""me",place', ['n', 'na"me', 'place']),
  row(2, '1,"SMITH, J",A', ['1', 'SMITH, J', 'A']),
  row(3, '2,"two\r\nlines","B"', ['2', 'two\r\nlines', 'B']),
  row(5, '"3","""q"" ""","\r\n"', ['3', '"q" "', '\r\n']),
  row(8, '4,5" pipe,'),
  rejected(9, '"5"x,y,z', AFTER_QUOTE),
  rejected(10, '6,"a",b,c', 'has 4 fields, not 3'),
  row(11, '"7\n8","",""', ['7\n8', '', '']),
  row(13, '9,"\u00d1\ud83d\ude00",""', ['9', '\u00d1\ud83d\ude00', '']),
  rejected(14, '10,"open,z', AFTER_QUOTE),
  row(15, '11,y,z'),
  row(16, '12,"y","z"', ['12', 'y', 'z']),
  { ...row(17, '"13\r\n14","",""', ['13\r\n14', '', '']), isTruncated: true },
];

test('the rows of a CSV file are the same for a cut at every position', async () => {
  for (let cut = 0; cut <= TRICKY.length; cut += 1) {
    const rows = await read([TRICKY.slice(0, cut), TRICKY.slice(cut)]);
    expect({ cut, rows }).toEqual({ cut, rows: expected });
  }
});

test.each([1, 3, 7])('the rows of a CSV file are the same for chunks of %d characters', async (size) => {
  const chunks = Array.from({ length: Math.ceil(TRICKY.length / size) }, (_, at) =>
    TRICKY.slice(at * size, (at + 1) * size),
  );
  expect(await read(['', ...chunks, ''])).toEqual(expected);
});

test('the rows of a CSV file are the same for a cut at every position of a field about as long as the limit', async () => {
  const most = 'x'.repeat(MAX_FIELD_LENGTH - 2);
  const text = `"${most}""\r"\r\n"${most}""yz"\r\n"${most}""\n"\r\n"open\r\n1\r\n`;
  const whole = await read([text], 1);
  expect(whole.map(({ problem = '' }) => problem)).toEqual(['', TOO_LONG, '', LEFT_OPEN, '']);
  for (let cut = 0; cut <= text.length; cut += 1) {
    if (!/[^x]/.test(text.slice(Math.max(0, cut - 4), cut + 4))) continue;
    const rows = await read([text.slice(0, cut), text.slice(cut)], 1);
    expect({ cut, rows }).toEqual({ cut, rows: whole });
  }
});

test('the rows of a CSV file are the same for a cut at every position around an open quote', async () => {
  const text = `a,b\n1,"open\n${'2,3\n'.repeat(1500)}`;
  const whole = await read([text]);
  expect(whole[1]).toEqual({ line: 2, fields: [], raw: '1,"open', problem: TOO_LONG });
  expect(whole).toHaveLength(1502);
  for (let cut = 1; cut < text.length; cut += 997)
    expect(await read([text.slice(0, cut), text.slice(cut)])).toEqual(whole);
});

const HEAD = 'a,b\n1,2\n';

test.each<[string, string, { line: number; problem?: string } | undefined]>([
  ['a line break', '3,4\n', undefined],
  ['a carriage return and line break', '"3","4"\r\n', undefined],
  ['blank lines', '3,4\n\n\r\n', undefined],
  ['a row that can not be read, and its line break', '3\n', undefined],
  ['a whole row without line break', '3,4', { line: 3 }],
  ['a whole quoted row without line break', '"3","4"', { line: 3 }],
  ['half a line break', '3,4\r', { line: 3 }],
  ['half a row', '3', { line: 3, problem: 'has 1 fields, not 2' }],
  ['an open quote', '3,"4', { line: 3, problem: LEFT_OPEN }],
  ['an open quote and a line break', '3,"4\n', { line: 3, problem: LEFT_OPEN }],
])('a CSV file that ends within a row is marked in its last row only: after %s', async (_how, end, last) => {
  for (const chunks of [[HEAD + end], [HEAD, end], [...(HEAD + end)]]) {
    const truncated = (await read(chunks)).filter(({ isTruncated }) => isTruncated === true);
    expect(truncated).toEqual(last === undefined ? [] : [expect.objectContaining(last)]);
  }
});

test('a CSV file that ends within a row is marked in the row with the open quote, even if complete rows follow', async () => {
  const rows = await read([`${HEAD}3,"4\n5,6\n`]);
  expect(rows.map(({ isTruncated = false }) => isTruncated)).toEqual([false, false, true, false]);
});

const MILLION = 1_000_000;

test.each([
  ['without line breaks', () => 'x'],
  ['of fields without line breaks', () => 'x,'],
  ['of carriage returns alone', () => 'x\r'],
])('reading fails after 4,000,000 characters without the end of a row: %s', async (_what, pattern) => {
  const chunk = pattern().repeat(MILLION).slice(0, MILLION);
  await expect(read([chunk, chunk, chunk, chunk, 'x'])).rejects.toThrow(
    'No row ends within 4000000 characters.',
  );
});

test('a row of 3,999,999 characters in 1,000 columns is read', async () => {
  const width = 1000;
  const chunk = `${'x'.repeat(3999)},`.repeat(width / 4);
  const [row] = await read([chunk, chunk, chunk, chunk.slice(0, -1)]);
  expect(row?.fields).toHaveLength(width);
});

describe('of hostile text', () => {
  const HEAD = 'a,b\n';

  test('a row of 150,000 quoted fields is rejected, and the next is read', async () => {
    const read = await outcomes(`${HEAD}${'"",'.repeat(150_000)}\n1,2\n`);
    expect(read).toEqual([['a', 'b'], 'has more than 2 fields', ['1', '2']]);
  });

  test.each([
    ['plain', 'x,'],
    ['quoted', '"x",'],
  ])('a header of a million %s columns is rejected', async (_how, column) => {
    const [row] = await outcomes(`${column.repeat(1_000_000 / column.length)}x\n1,2\n`);
    expect(row).toMatch(/^has (more than 1000|\d+) fields/);
  });

  /** Each line can be the first of a row of all the lines behind it. Each was read again to the end of the file. */
  test.each([
    ['a quote left open on every line', 'x","\n', 100_000],
    ['a quote at the start of every line', '"x\n', 300_000],
    ['a doubled quote at the start of every line', '"""x\n', 300_000],
    ['a quote that is closed 4,000 characters on', `"\n${'x\n'.repeat(2000)}"`, 500],
    ['a row of 4,000 commas and a quote', `${','.repeat(4000)}"x\n`, 500],
    ['blanks behind a quote', `"x"${' '.repeat(4000)}\n`, 500],
    ['carriage returns', '"x"\r\r,\r"', 100_000],
  ])('reading takes time in proportion to the length: %s', async (_what, line, lines) => {
    const rows = await read(chunksOf(HEAD + line.repeat(lines)), 2);
    expect(rows.filter(({ problem }) => problem === undefined).length).toBeLessThan(rows.length);
  });

  const chunksOf = (text: string) => text.match(/[\s\S]{1,65536}/g) ?? [];
});

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { zipSync } from 'fflate';
import { BrokenSourceError, fileText, inspectFile } from '../../src/dataset/source-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const BOM = '\ufeff';
const MEGABYTE = 1 << 20;

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const path = folder.path(name);
  await writeFile(path, content);
  return path;
}

async function textOf(path: string): Promise<string> {
  let text = '';
  for await (const chunk of fileText(path)) text += chunk;
  return text;
}

const N = '\u00d1';
const utf8 = (text: string) => Buffer.from(text);
const latin1 = (text: string) => Buffer.from(text, 'latin1');

test.each<[string, Buffer[], string]>([
  ['ASCII', [utf8('a,b\n')], 'a,b\n'],
  ['UTF-8', [utf8(`MU${N}OZ\n`)], `MU${N}OZ\n`],
  ['Latin-1', [latin1(`MU${N}OZ\nPE${N}A\n`)], `MU${N}OZ\nPE${N}A\n`],
  ['one line of Latin-1', [utf8(`${N}1\n`), latin1(`${N}2\n`), utf8(N)], `${N}1\n${N}2\n${N}`],
  ['one field of Latin-1', [utf8(`"${N}, A",`), latin1(N), utf8(`,${N}\n`)], `"${N}, A",${N},${N}\n`],
  ['a line of Latin-1 at the end, without its line break', [utf8(`${N}\n`), latin1(N)], `${N}\n${N}`],
  ['UTF-8 that ends within a letter', [utf8(`${N}\n`), utf8(N).subarray(0, 1)], `${N}\n\u00c3`],
  ['an overlong form', [Buffer.from([0xc0, 0xaf, 0x0a])], '\u00c0\u00af\n'],
  ['a row of two lines, one of them Latin-1', [utf8(`"${N}\n`), latin1(`${N}"\n`)], `"${N}\n${N}"\n`],
  ['a byte order mark before Latin-1', [utf8(BOM), latin1(`${N}\n`)], `${N}\n`],
  ['a byte order mark in the middle', [utf8(`a\n${BOM}b\n`)], `a\n${BOM}b\n`],
])('the encoding of a file is decided field by field %s', async (name, parts, text) => {
  const plain = Buffer.concat(parts);
  expect(await textOf(await written(`${name}.csv`, plain))).toBe(text);
  expect(await textOf(await written(`${name}.csv.gz`, gzipSync(plain)))).toBe(text);
});

test('the encoding of a file is decided field by field wherever a chunk ends', async () => {
  for (const before of [-3, -2, -1, 0, 1, 2]) {
    const filler = 'x'.repeat((1 << 16) + before - 1);
    const content = Buffer.concat([utf8(`${filler}\n${N}\ud83d\ude00,${N}\n`), latin1(`${N}\n`), utf8(N)]);
    const text = await textOf(await written(`border${before}.csv`, content));
    expect([before, text.slice(filler.length)]).toEqual([before, `\n${N}\ud83d\ude00,${N}\n${N}\n${N}`]);
  }
});

test('the encoding of a file is decided field by field also of a file without line breaks', async () => {
  const content = Buffer.concat([Buffer.alloc(20 * MEGABYTE, 'x'), latin1(N)]);
  const text = await textOf(await written('no-line-break.csv', content));
  expect([text.length, text.at(-1)]).toEqual([content.length, N]);
});

test('fileText reads the quotes and dashes that Windows adds to Latin-1', async () => {
  const content = Buffer.from([0x4f, 0x92, 0x42, 0x96, 0x0a]);
  expect(await textOf(await written('windows.csv', content))).toBe('O\u2019B\u2013\n');
});

test('fileText reports the bytes of each chunk', async () => {
  const path = await written('counted.csv', Buffer.alloc(MEGABYTE + 5, '\u00d1'));
  const reported: number[] = [];
  for await (const _chunk of fileText(path, { onBytes: (bytes) => reported.push(bytes) }));
  expect(reported.reduce((sum, bytes) => sum + bytes, 0)).toBe(MEGABYTE + 5);
  expect(reported.length).toBeGreaterThan(1);
});

/** As long as several chunks, packed as well as unpacked. */
function manyRows(): Buffer {
  const random = createHash('shake256', { outputLength: 3 * MEGABYTE })
    .update('rows')
    .digest('base64');
  return Buffer.from(`NAME,NUMBER\n${random.replace(/.{30}/g, '$&,\u00d1\n')}`);
}

describe('a packed file', () => {
  const TEXT = 'LICENSEE_NAME\r\n"MU\u00d1OZ, ANA"\r\n';
  const utf8 = Buffer.from(TEXT);
  const latin1 = Buffer.from(TEXT, 'latin1');
  const marked = Buffer.from(`${BOM}${TEXT}`);
  const members = [utf8.subarray(0, 20), utf8.subarray(20)].map((part) => gzipSync(part));

  test.each<[string, Buffer]>([
    ['gzip', gzipSync(utf8)],
    ['gzip of Latin-1', gzipSync(latin1)],
    ['gzip with a byte order mark', gzipSync(marked)],
    ['gzip of several members', Buffer.concat(members)],
  ])('reads %s as it reads the plain text, whatever its name', async (name, content) => {
    const path = await written(`${name}.csv`, content);
    expect(await inspectFile(path)).toEqual({
      path,
      name: `${name}.csv`,
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect(await textOf(path)).toBe(TEXT);
  });

  test('of many chunks comes out whole, and its bytes on disk are counted', async () => {
    const content = manyRows();
    const packed = gzipSync(content);
    const path = await written('many.gz', packed);
    const sha256 = createHash('sha256').update(packed).digest('hex');
    expect(await inspectFile(path)).toMatchObject({ bytes: packed.length, sha256 });
    let text = '';
    let reported = 0;
    const onBytes = (bytes: number) => {
      reported += bytes;
    };
    for await (const chunk of fileText(path, { onBytes })) text += chunk;
    expect(Buffer.from(text).equals(content)).toBe(true);
    expect(reported).toBe(packed.length);
  });

  test('may be empty', async () => {
    expect(await textOf(await written('empty.gz', gzipSync('')))).toBe('');
  });

  test('is let go when its reader has enough', async () => {
    const path = await written('enough.gz', gzipSync(manyRows()));
    for await (const text of fileText(path)) {
      expect(text.startsWith('NAME,NUMBER\n')).toBe(true);
      break;
    }
  });

  const gz = gzipSync(manyRows());
  const flipped = (content: Buffer, at: number) => {
    const copy = Buffer.from(content);
    copy.writeUInt8(copy.readUInt8(at) ^ 255, at);
    return copy;
  };

  test.each<[string, Buffer, string]>([
    ['gzip cut off', gz.subarray(0, gz.length / 2), "can't be read as a gzip file (unexpected end of file)"],
    ['gzip cut off before its checksum', gz.subarray(0, -8), '(unexpected end of file)'],
    ['gzip cut off in a later member', Buffer.concat([gz, gz.subarray(0, 99)]), '(unexpected end of file)'],
    ['gzip damaged in the middle', flipped(gz, gz.length / 2), "can't be read as a gzip file"],
    ['gzip with a wrong checksum', flipped(gz, gz.length - 8), '(incorrect data check)'],
    ['gzip with a wrong length', flipped(gz, gz.length - 4), '(incorrect length check)'],
    ['gzip with more behind it', Buffer.concat([gz, utf8]), '(incorrect header check)'],
    ['gzip with zeros behind it', Buffer.concat([gz, Buffer.alloc(9)]), '(there is more data after its end)'],
    ['zip', Buffer.from(zipSync({ 'people.csv': utf8 })), 'is a zip file, which is not read; unpack it'],
  ])('is refused as %s', async (name, content, message) => {
    const path = await written(name, content);
    const reading = async () => {
      for await (const _text of fileText(path));
    };
    const failure: unknown = await reading().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokenSourceError);
    expect(failure).toMatchObject({ message: expect.stringContaining(`${name} `) });
    expect(failure).toMatchObject({ message: expect.stringContaining(message) });
  });
});

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { fileText, inspectFile } from '../../src/dataset/source-file.ts';
import { BrokenSourceError } from '../../src/dataset/unpack/errors.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Zipped, zip } from '../support/zip-file.ts';

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
  for await (const chunk of fileText(await inspectFile(path))) text += chunk;
  return text;
}

describe('inspectFile', () => {
  test('returns name, size and SHA-256', async () => {
    const content = 'LICENSEE_NAME,BOARD\r\n"MU\u00d1OZ, ANA",Nursing Board\r\n';
    const path = await written('people.csv', content);
    expect(await inspectFile(path)).toEqual({
      path,
      name: 'people.csv',
      bytes: Buffer.byteLength(content),
      sha256: createHash('sha256').update(content).digest('hex'),
      encoding: 'utf-8',
    });
  });

  test('knows the hash of an empty file', async () => {
    expect(await inspectFile(await written('empty.csv', ''))).toMatchObject({
      bytes: 0,
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      encoding: 'utf-8',
    });
  });

  test('hashes a file of many chunks whole', async () => {
    const content = Buffer.alloc(2 * MEGABYTE + 17, 'row,of,text\n');
    expect(await inspectFile(await written('large.csv', content))).toMatchObject({
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
  });

  test.each<[string, Uint8Array, string]>([
    ['ASCII', Buffer.from('a,b\n'), 'utf-8'],
    ['UTF-8 with a byte order mark', Buffer.from(`${BOM}n\u00e9e\n`), 'utf-8'],
    ['Latin-1', Buffer.from('MU\u00d1OZ\n', 'latin1'), 'windows-1252'],
    ['UTF-8 but for the last byte', Buffer.from([...Buffer.from('n\u00e9e\n'), 0xe9]), 'windows-1252'],
    ['UTF-8 cut within a letter', Buffer.from('n\u00e9').subarray(0, 2), 'windows-1252'],
    ['an overlong form', Buffer.from([0xc0, 0xaf]), 'windows-1252'],
  ])('tells the encoding of %s', async (name, content, encoding) => {
    expect((await inspectFile(await written(name, content))).encoding).toBe(encoding);
  });

  test('is not misled by a letter that two chunks share', async () => {
    const content = Buffer.from(`${'x'.repeat(MEGABYTE - 1)}\u00d1\n`);
    expect((await inspectFile(await written('straddling.csv', content))).encoding).toBe('utf-8');
  });

  test('finds one byte of Latin-1 far behind', async () => {
    const content = Buffer.concat([Buffer.alloc(2 * MEGABYTE, 'x'), Buffer.from([0xd1, 0x4f])]);
    expect((await inspectFile(await written('late.csv', content))).encoding).toBe('windows-1252');
  });

  test('fails for a file that is not there', async () => {
    await expect(inspectFile(folder.path('missing.csv'))).rejects.toThrow('ENOENT');
  });
});

describe('fileText', () => {
  test.each<[string, Uint8Array]>([
    ['UTF-8', Buffer.from('"MU\u00d1OZ, ANA"\r\n')],
    ['UTF-8 with a byte order mark', Buffer.from(`${BOM}"MU\u00d1OZ, ANA"\r\n`)],
    ['Latin-1', Buffer.from('"MU\u00d1OZ, ANA"\r\n', 'latin1')],
  ])('reads %s', async (name, content) => {
    expect(await textOf(await written(name, content))).toBe('"MU\u00d1OZ, ANA"\r\n');
  });

  test('leaves a byte order mark off even where letters of Latin-1 follow it', async () => {
    const content = Buffer.concat([Buffer.from(BOM), Buffer.from('LICENSEE_NAME\nMU\u00d1OZ\n', 'latin1')]);
    expect(await textOf(await written('marked-latin1.csv', content))).toBe('LICENSEE_NAME\nMU\u00d1OZ\n');
  });

  test('reads the quotes and dashes that Windows adds to Latin-1', async () => {
    const content = Buffer.from([0x4f, 0x92, 0x42, 0x96, 0x0a]);
    expect(await textOf(await written('windows.csv', content))).toBe('O\u2019B\u2013\n');
  });

  test('does not break a letter that two chunks share', async () => {
    const text = `${'x'.repeat(MEGABYTE - 1)}\u00d1\ud83d\ude00 ${'y'.repeat(MEGABYTE)}`;
    expect((await textOf(await written('straddling-text.csv', text))) === text).toBe(true);
  });

  test('reports the bytes of each chunk', async () => {
    const path = await written('counted.csv', Buffer.alloc(MEGABYTE + 5, '\u00d1'));
    const reported: number[] = [];
    for await (const _chunk of fileText(await inspectFile(path), (bytes) => reported.push(bytes)));
    expect(reported.reduce((sum, bytes) => sum + bytes, 0)).toBe(MEGABYTE + 5);
    expect(reported.length).toBeGreaterThan(1);
  });
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
  const csv = (content: Buffer): Zipped => ({ name: 'people.csv', content });
  const members = [utf8.subarray(0, 20), utf8.subarray(20)].map((part) => gzipSync(part));

  test.each<[string, Buffer, string]>([
    ['gzip', gzipSync(utf8), 'utf-8'],
    ['gzip of Latin-1', gzipSync(latin1), 'windows-1252'],
    ['gzip with a byte order mark', gzipSync(marked), 'utf-8'],
    ['gzip of several members', Buffer.concat(members), 'utf-8'],
    ['zip', zip(csv(utf8)), 'utf-8'],
    ['zip of Latin-1', zip(csv(latin1)), 'windows-1252'],
    ['zip with a byte order mark', zip(csv(marked)), 'utf-8'],
    ['zip without compression', zip({ ...csv(utf8), isStored: true }), 'utf-8'],
    ['zip in capitals and a folder', zip({ name: 'out/PEOPLE.CSV', content: utf8 }), 'utf-8'],
    [
      'zip with other files in it',
      zip({ name: 'read me.txt', content: latin1 }, csv(utf8), {
        name: '__MACOSX/._people.csv',
        content: latin1,
      }),
      'utf-8',
    ],
  ])('reads %s as it reads the plain text, whatever its name', async (name, content, encoding) => {
    const path = await written(`${name}.csv`, content);
    expect(await inspectFile(path)).toEqual({
      path,
      name: `${name}.csv`,
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      encoding,
    });
    expect(await textOf(path)).toBe(TEXT);
  });

  test.each<[string, (content: Buffer) => Buffer]>([
    ['gzip', (content) => gzipSync(content)],
    ['zip', (content) => zip(csv(content))],
    ['stored zip', (content) => zip({ ...csv(content), isStored: true })],
  ])('of many chunks comes whole out of %s, and its bytes on disk are counted', async (name, pack) => {
    const content = manyRows();
    const packed = pack(content);
    const path = await written(`many-${name}`, packed);
    let text = '';
    let reported = 0;
    for await (const chunk of fileText(await inspectFile(path), (bytes) => {
      reported += bytes;
    })) {
      text += chunk;
    }
    expect(Buffer.from(text).equals(content)).toBe(true);
    const around = name === 'gzip' ? 0 : zip({ ...csv(Buffer.alloc(0)), isStored: true }).length;
    expect(reported).toBe(packed.length - around);
  });

  test.each<[string, Buffer]>([
    ['gzip', gzipSync('')],
    ['zip', zip(csv(Buffer.alloc(0)))],
    ['stored zip', zip({ ...csv(Buffer.alloc(0)), isStored: true })],
  ])('may be empty in %s', async (name, content) => {
    expect(await textOf(await written(`empty-${name}`, content))).toBe('');
  });

  test('is let go when its reader has enough', async () => {
    const path = await written('enough.gz', gzipSync(manyRows()));
    for await (const text of fileText({ path, encoding: 'utf-8' })) {
      expect(text.startsWith('NAME,NUMBER\n')).toBe(true);
      break;
    }
  });

  const gz = gzipSync(manyRows());
  const zipped = zip(csv(manyRows()));
  const flipped = (content: Buffer, at: number) => {
    const copy = Buffer.from(content);
    copy.writeUInt8(copy.readUInt8(at) ^ 255, at);
    return copy;
  };
  const two = zip(csv(utf8), { name: 'b.csv', content: latin1 });

  test.each<[string, Buffer, string]>([
    ['gzip cut off', gz.subarray(0, gz.length / 2), "can't be read as a gzip file (unexpected end of file)"],
    ['gzip cut off before its checksum', gz.subarray(0, -8), '(unexpected end of file)'],
    [
      'gzip cut off within a later member',
      Buffer.concat([gz, gz.subarray(0, 99)]),
      '(unexpected end of file)',
    ],
    ['gzip damaged in the middle', flipped(gz, gz.length / 2), "can't be read as a gzip file"],
    ['gzip with a wrong checksum', flipped(gz, gz.length - 8), '(incorrect data check)'],
    ['gzip with a wrong length', flipped(gz, gz.length - 4), '(incorrect length check)'],
    ['gzip with more behind it', Buffer.concat([gz, utf8]), '(incorrect header check)'],
    ['gzip with zeros behind it', Buffer.concat([gz, Buffer.alloc(9)]), '(there is more data after its end)'],
    ['zip cut off', zipped.subarray(0, zipped.length / 2), "can't be read as a zip file (End of central dir"],
    ['zip cut off at its very end', zipped.subarray(0, -1), "can't be read as a zip file"],
    ['zip damaged in the middle', flipped(zipped, zipped.length / 2), "can't be read as a zip file"],
    ['zip with a wrong CRC', zip({ ...csv(utf8), checksum: 1 }), '(the checksum of people.csv is wrong)'],
    [
      'stored zip with a wrong CRC',
      zip({ ...csv(utf8), isStored: true, checksum: 1 }),
      '(the checksum of people.csv is wrong)',
    ],
    ['zip with a wrong size', zip({ ...csv(utf8), size: 7 }), `(people.csv has ${utf8.length} bytes, not 7)`],
    ['encrypted zip', zip({ ...csv(utf8), flags: 1 }), '(people.csv is encrypted)'],
    ['zip of another method', zip({ ...csv(utf8), method: 9 }), '(people.csv is compressed by method 9)'],
    ['zip of two CSV files', two, 'holds more than one .csv file (people.csv and b.csv); pack each alone.'],
    ['zip without a CSV file', zip({ name: 'a.txt', content: utf8 }), 'holds no .csv file'],
    ['zip of nothing', zip(), 'holds no .csv file'],
  ])('is refused as %s', async (name, content, message) => {
    const path = await written(name, content);
    const failure: unknown = await inspectFile(path).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokenSourceError);
    expect(failure).toMatchObject({ message: expect.stringContaining(`${name} `) });
    expect(failure).toMatchObject({ message: expect.stringContaining(message) });
    await expect(async () => {
      for await (const _text of fileText({ path, encoding: 'utf-8' }));
    }).rejects.toThrow(BrokenSourceError);
  });
});

import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { fileText, inspectFile, isGeneratedSample } from '../../src/dataset/source-file.ts';
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
  for await (const chunk of fileText(await inspectFile(path))) text += chunk;
  return text;
}

describe('inspectFile', () => {
  test('tells name, size and SHA-256', async () => {
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

  test('tells how many bytes each chunk was', async () => {
    const path = await written('counted.csv', Buffer.alloc(MEGABYTE + 5, '\u00d1'));
    const told: number[] = [];
    for await (const _chunk of fileText(await inspectFile(path), (bytes) => told.push(bytes)));
    expect(told).toEqual([MEGABYTE, 5]);
  });
});

describe('isGeneratedSample', () => {
  async function sampleIn(name: string, manifest: (sha256: string) => string): Promise<boolean> {
    await mkdir(folder.path(name));
    const file = await inspectFile(await written(`${name}/individual.csv`, `rows of ${name}`));
    await writeFile(folder.path(name, 'sample.json'), manifest(file.sha256));
    return isGeneratedSample(file);
  }

  test.each(['individual', 'business'])(
    'is true where the manifest beside the file names its hash as %s',
    async (which) => {
      const hashes = { individual: '0', business: '0' };
      const isSample = await sampleIn(`sample-${which}`, (sha256) =>
        JSON.stringify({ generated: true, sha256: { ...hashes, [which]: sha256 } }),
      );
      expect(isSample).toBe(true);
    },
  );

  test.each<[string, (sha256: string) => string]>([
    ['another hash', () => JSON.stringify({ generated: true, sha256: { individual: 'a', business: 'b' } })],
    [
      'not that it is generated',
      (sha256) => JSON.stringify({ sha256: { individual: sha256, business: sha256 } }),
    ],
    ['no JSON', () => '{'],
  ])('is false where the manifest says %s', async (what, manifest) => {
    expect(await sampleIn(what, manifest)).toBe(false);
  });

  test('is false without a manifest', async () => {
    await mkdir(folder.path('alone'));
    expect(await isGeneratedSample(await inspectFile(await written('alone/individual.csv', 'rows')))).toBe(
      false,
    );
  });
});

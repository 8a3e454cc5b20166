import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { inspectFile, isSampleFile } from '../../src/dataset/source-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

async function written(name: string, content: string): Promise<string> {
  const path = folder.path(name);
  await writeFile(path, content);
  return path;
}

describe('a file is sample data', () => {
  async function sampleIn(name: string, manifest: (sha256: string) => string): Promise<boolean> {
    await mkdir(folder.path(name));
    const file = await inspectFile(await written(`${name}/individual.csv`, `rows of ${name}`));
    await writeFile(folder.path(name, 'sample.json'), manifest(file.sha256));
    return isSampleFile(file);
  }

  test.each(['individual', 'business'])('if the manifest beside it has its hash as %s', async (which) => {
    const manifest = (sha256: string) =>
      JSON.stringify({ generated: true, sha256: { ...{ individual: '0', business: '0' }, [which]: sha256 } });
    expect(await sampleIn(`sample-${which}`, manifest)).toBe(true);
  });

  test.each<[string, (sha256: string) => string]>([
    ['another hash', () => JSON.stringify({ generated: true, sha256: { individual: 'a', business: 'b' } })],
    ['not that it is generated', (hash) => JSON.stringify({ sha256: { individual: hash, business: hash } })],
    ['no JSON', () => '{'],
  ])('but not if the manifest has %s', async (what, manifest) => {
    expect(await sampleIn(what, manifest)).toBe(false);
  });

  test('but not without a manifest', async () => {
    await mkdir(folder.path('alone'));
    expect(await isSampleFile(await inspectFile(await written('alone/individual.csv', 'rows')))).toBe(false);
  });
});

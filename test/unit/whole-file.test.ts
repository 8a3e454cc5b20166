import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { fileTrouble } from '../../src/storage/file-trouble.ts';
import { writeWhole } from '../../src/storage/whole-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = temporaryFolder();
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(root.path('of-a-test-'));
  file = join(folder, 'list.csv');
});

async function* lines(...all: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const line of all) {
    if (line instanceof Error) throw line;
    yield line;
  }
}

test.each<[string, () => Promise<void>]>([
  ['its content breaks off', () => writeWhole(file, lines('1\n', new Error('away')))],
  ['it may not be replaced', () => writeWhole(file, lines('1\n'), () => Promise.reject(new Error('away')))],
])('an existing file stays as it was where %s', async (_where, write) => {
  await writeFile(file, 'earlier');
  await expect(write()).rejects.toThrow('away');
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['earlier', ['list.csv']]);
});

test('a whole file replaces it, and only its owner can read it', async () => {
  await writeFile(file, 'earlier', { mode: 0o644 });
  await writeWhole(file, lines('1\n', '2\n'));
  expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['1\n2\n', 0o600]);
});

test('what is no file is written to', async () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', file]);
  const [read] = await Promise.all([readFile(file, 'utf8'), writeWhole(file, lines('1\n', '2\n'))]);
  expect([read, (await stat(file)).isFIFO(), await readdir(folder)]).toEqual(['1\n2\n', true, ['list.csv']]);
});

test('an error names the file, not its part', async () => {
  const nowhere = join(folder, 'no', 'list.csv');
  const error: unknown = await writeWhole(nowhere, lines()).catch((failure: unknown) => failure);
  expect(fileTrouble(error)).toBe(`The file "${nowhere}" can't be used: no such file or directory.`);
});

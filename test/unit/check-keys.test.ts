import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runProgram } from '../../scripts/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SCRIPT = resolve(import.meta.dirname, '../../scripts/check-keys.ts');

const temporary = temporaryFolder();
let projects = 0;

/** What `check-keys` prints of a project with this source. */
async function check(source: string) {
  projects += 1;
  const folder = temporary.path(String(projects));
  await mkdir(join(folder, 'src'), { recursive: true });
  await writeFile(join(folder, 'tsconfig.json'), '{"compilerOptions": {"strict": true}, "include": ["src"]}');
  await writeFile(join(folder, 'src/one.ts'), source);
  const { code, stdout } = await runProgram([process.execPath, SCRIPT, folder], { cwd: folder });
  return { code, lines: stdout.split('\n').filter((line) => line.startsWith('src/')) };
}

const DECLARED = `
declare const record: Record<string, number>;
declare const text: string;
declare const sized: Record<'small' | 'large', number>;
declare const size: 'small' | 'large';
declare const list: number[];
`;

describe('check-keys reports', () => {
  test.each([
    ['a read', 'export const a = record[text];', 'record[text]'],
    ['a write', 'record[text] = 1;', 'record[text]'],
    ['a key with a default', "export const a = record[text ?? ''];", "record[text ?? '']"],
    ['a key that may be a text', 'export const a = (key: string | 1) => record[key];', 'record[key]'],
    ['a joined text', "export const a = record['a' + text];", "record['a' + text]"],
    ['a type parameter', 'export const a = <K extends string>(key: K) => record[key];', 'record[key]'],
    ['`in`', 'export const a = text in record;', 'text in record'],
    ['a destructured property', 'export const { [text]: a } = record;', '[text]'],
    [
      'a property that another condition checks',
      'export const a = Object.hasOwn(sized, text) ? record[text] : 0;',
      'record[text]',
    ],
  ])('%s', async (_what, source, found) => {
    expect(await check(DECLARED + source)).toEqual({ code: 1, lines: [`src/one.ts:7 ${found}`] });
  });
});

test('check-keys accepts lists, known keys, Maps and keys that Object.hasOwn has checked', async () => {
  const safe = [
    'list[0]',
    'list[list.length - 1]',
    'sized[size]',
    "sized['small']",
    "'small' in record",
    'new Map(Object.entries(record)).get(text)',
    'Object.hasOwn(record, text) ? record[text] : 0',
    '{ [text]: 1 }',
  ];
  const source = safe.map((expression, at) => `export const a${at} = ${expression};`).join('\n');
  expect(await check(DECLARED + source)).toEqual({ code: 0, lines: [] });
});

test('check-keys fails if it finds no files to check', async () => {
  const nowhere = await runProgram([process.execPath, SCRIPT, '/'], { cwd: '/' });
  expect(nowhere.code).toBe(1);
});

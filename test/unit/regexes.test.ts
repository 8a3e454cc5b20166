import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../scripts/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SCRIPT = resolve(import.meta.dirname, '../../scripts/check-regexes.ts');

const temporary = temporaryFolder();
let projects = 0;

/** What `check-regexes` prints of a project with these lines of source. */
async function check(...lines: string[]) {
  projects += 1;
  const folder = temporary.path(String(projects));
  await mkdir(join(folder, 'src'), { recursive: true });
  await writeFile(join(folder, 'tsconfig.json'), '{"compilerOptions": {"strict": true}, "include": ["src"]}');
  await writeFile(join(folder, 'src/one.ts'), lines.join('\n'));
  const { code, stdout } = await runProgram([process.execPath, SCRIPT, folder], { cwd: folder });
  return { code, places: stdout.split('\n').map((line) => line.split(' ')[0]) };
}

test('check-regexes reports each expression that is not linear or that it can not see', async () => {
  const checked = await check(
    'export const ends = /\\s+$/;',
    'export const isNumber = (text: string) => /^(\\d+)+$/.test(text);',
    "const BLANKS = '[ ,]+';",
    'export const built = new RegExp(BLANKS + "[a-z]");',
    'export const builtFrom = (text: string) => new RegExp(text);',
    'export const found = (text: string, other: string) => text.match(other);',
  );
  const lines = [6, 5, 1, 2, 4].map((line) => `src/one.ts:${line}`);
  expect(checked).toEqual({ code: 1, places: [...lines, ''] });
});

test('check-regexes accepts linear expressions', async () => {
  const checked = await check(
    'export const ends = /(?<!\\s)\\s+$/;',
    "const BLANKS = '[ ,]+';",
    'export const built = new RegExp("^" + BLANKS);',
    'export const found = (text: string) => text.match(built) ?? [1].includes(text.search(/a/));',
  );
  expect(checked).toEqual({ code: 0, places: [''] });
});

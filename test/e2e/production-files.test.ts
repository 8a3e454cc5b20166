import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A folder with only the files of the container image. */
let image: string;

beforeAll(async () => {
  image = await mkdtemp(join(tmpdir(), 'image-'));
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  const names = lines.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  expect(names).toContain('src');
  for (const name of names) await cp(join(ROOT, name), join(image, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(image, 'node_modules'));
});
afterAll(() => rm(image, { recursive: true, force: true }));

function licenses(parameters: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  return runProgram([process.execPath, join(image, 'src/cli/main.ts'), ...parameters], {
    cwd: image,
    variables,
  });
}

test('the commands run with only the files of the image', async () => {
  expect(await licenses(['publish', '--help'])).toMatchObject({ code: 0, stderr: '' });
  // This command gets as far as OpenSearch, which is away.
  expect(await licenses(['publications'], { OPENSEARCH_URL: 'http://127.0.0.1:1' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('OpenSearch does not answer'),
  });
});

test.each([
  ['src/server.ts', 'PORT'],
  ['workers/main.ts', 'WORKER_ADMIN_PORT'],
])('%s finds all that it imports, and fails with one line for a setting', async (program, setting) => {
  const { code, output } = await runProgram([process.execPath, join(image, program)], {
    cwd: image,
    variables: { [setting]: 'none' },
  });
  // It reads its settings once everything is loaded.
  expect([code, output]).toEqual([1, `${setting} is "none", but must be a port, 0 to 65535.\n`]);
});

test('licenses sample-data says in one line that it is not in the image', async () => {
  expect(await licenses(['sample-data', join(image, 'sample')])).toMatchObject({
    code: 1,
    stderr: 'A part of the program is not installed here. Run the command in a checkout.\n',
  });
});

import { cp, readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A folder with only the files of the container image. */
const image = temporaryFolder();

beforeAll(async () => {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  const names = lines.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  expect(names).toContain('src');
  for (const name of names) await cp(join(ROOT, name), image.path(name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), image.path('node_modules'));
});

function inImage([program, ...parameters]: readonly [string, ...string[]], variables: NodeJS.ProcessEnv) {
  const command = [process.execPath, image.path(program), ...parameters] as const;
  return runProgram(command, { cwd: image.path(), variables });
}

const licenses = (parameters: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<CommandResult> =>
  inImage(['src/cli/main.ts', ...parameters], variables);

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
  const { code, output } = await inImage([program], { [setting]: 'none' });
  // It reads its settings once everything is loaded.
  expect([code, output]).toEqual([1, `${setting} is "none", but must be a port, 0 to 65535.\n`]);
});

test('licenses sample-data says in one line that it is not in the image', async () => {
  expect(await licenses(['sample-data', image.path('sample')])).toMatchObject({
    code: 1,
    stderr: 'A part of the program is not installed here. Run the command in a checkout.\n',
  });
});

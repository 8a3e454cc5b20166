import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
  await startApi(environment.variables);
  await startWorker(environment.variables);
  // As the image has it.
  await mkdir(join(environment.folder, 'bin'));
  await symlink(join(ROOT, 'src/cli/main.ts'), join(environment.folder, 'bin/licenses'));
});

/** Runs the script as the workflow does; the worker is on this machine. */
function tried(url: string): Promise<CommandResult> {
  const path = [join(environment.folder, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  return runProgram(
    [
      process.execPath,
      join(ROOT, 'scripts/try-installation.ts'),
      url,
      environment.folder,
      'env',
      `PATH=${path}`,
    ],
    { variables: environment.variables },
  );
}

test('the workflow’s trial of an installation publishes sample data and looks a license up', async () => {
  const { code, output } = await tried(`http://127.0.0.1:${environment.config.PORT}`);
  expect([code, output]).toEqual([0, expect.stringContaining('REST found EXAMPLE, PAT SAMPLE, as of 20')]);
  expect(output).toContain('MCP and the website answer, too.');
});

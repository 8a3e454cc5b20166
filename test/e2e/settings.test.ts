import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startScript } from '../../scripts/licenses-processes.ts';
import { runProgram } from '../../scripts/processes.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { FIXTURES } from '../support/fixtures.ts';

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
});

test('an invalid setting makes a command fail with one line that names it', async () => {
  const bad = await licenses({ ...environment.variables, PORT: 'eighty' }, 'publications');
  expect(bad).toMatchObject({ code: 1, stderr: 'PORT is "eighty", but must be a port, 0 to 65535.\n' });
});

test.each(['src/server.ts', 'workers/main.ts'])(
  'an invalid setting makes %s fail with the same line',
  async (script) => {
    const ended = startScript(script, { ...environment.variables, PORT: 'eighty' });
    await once(ended.child, 'close');
    expect(ended.child.exitCode).toBe(1);
    expect(ended.output()).toBe('PORT is "eighty", but must be a port, 0 to 65535.\n');
  },
);

test('without OpenSearch a command prints one line with its address', async () => {
  const away = await licenses(
    { ...environment.variables, OPENSEARCH_URL: 'http://127.0.0.1:1' },
    'publications',
  );
  expect(away.code).toBe(1);
  expect(away.stderr).toMatch(/^OpenSearch does not answer at 127\.0\.0\.1:1\.[^\n]*\n$/);
});

test.each([
  ['keys', 'list'],
  ['keys', 'create', 'Acme', '--verified-by', 'Ada'],
  ['publications'],
  ['rollback'],
])(
  'before a worker has created the indices, licenses %s %s prints one line that says so',
  async (...command) => {
    const unprepared = await licenses(environment.variables, ...command);
    expect(unprepared).toMatchObject({
      code: 1,
      stderr:
        'This installation has no indices yet. The worker creates them: npx licenses work (npm start runs one, too).\n',
    });
    const { body } = await environment.client.cat.indices({
      index: `${environment.config.INDEX_PREFIX}*`,
      format: 'json',
    });
    expect(body).toEqual([]);
  },
);

test('when the disk of OpenSearch is full, a command that writes says so in one line', async () => {
  const full = await testEnvironment();
  try {
    await prepareIndices(full.store);
    // The block that OpenSearch sets on every index of a node whose disk is nearly full.
    await full.client.indices.putSettings({
      index: `${full.config.INDEX_PREFIX}*`,
      body: { 'index.blocks.read_only_allow_delete': true },
    });
    const create = await licenses(full.variables, 'keys', 'create', 'Acme', '--verified-by', 'Ada');
    expect(create.code).toBe(1);
    expect(create.stderr).toMatch(/^OpenSearch at \S+ refuses to write: its disk is full\.[^\n]*\n$/);
    expect(await licenses(full.variables, 'keys', 'list')).toMatchObject({ code: 0 });
  } finally {
    await full.cleanUp();
  }
});

test('without Redis a publish command fails with one line instead of waiting forever', async () => {
  const away = await licenses(
    { ...environment.variables, REDIS_URL: 'redis://127.0.0.1:1' },
    ...['publish', '--individual', FIXTURES.individual, '--business', FIXTURES.business],
  );
  expect(away.code).toBe(1);
  expect(away.stderr).toMatch(/^Redis does not answer at 127\.0\.0\.1:1\.[^\n]*\n$/);
});

test('a command reads .env in its folder; what the environment has counts more', async () => {
  await writeFile(join(environment.folder, '.env'), 'PORT=eighty\nLOG_LEVEL="loud"\n');
  const main = resolve(import.meta.dirname, '../../src/cli/main.ts');
  const inFolder = ['sh', '-c', 'cd "$0" && exec "$1" "$2" publications'] as const;
  const command = [...inFolder, environment.folder, process.execPath, main] as const;
  const run = (variables: Record<string, string>) => runProgram(command, { variables });
  expect((await run({})).stderr).toBe('PORT is "eighty", but must be a port, 0 to 65535.\n');
  expect((await run({ PORT: '8081' })).stderr).toMatch(/^LOG_LEVEL is "loud"/);
});

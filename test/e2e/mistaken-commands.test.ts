import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { freePort } from '../../scripts/ports.ts';
import { runProgram } from '../../scripts/processes.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';

let environment: TestEnvironment;
let closedPort: number;

beforeAll(async () => {
  environment = await testEnvironment();
  await prepareIndices(environment.store);
  closedPort = await freePort();
  await mkdir(join(environment.folder, 'folder'));
  await writeFile(join(environment.folder, 'file'), '');
});

interface Mistake {
  readonly settings?: Record<string, string>;
  /** What the one line of its error says. `FOLDER` is the test's, `PORT` one on which nobody listens. */
  readonly says: RegExp;
}

const PUBLISH = ['publish', '--business', FIXTURES.business, '--individual'];
const NO_ANSWER =
  /^OpenSearch does not answer at \S+\. Is it running \(npm start\), and is OPENSEARCH_URL right\?$/;

test.each<[string, readonly string[], Mistake]>([
  [
    'a missing file to publish',
    [...PUBLISH, 'FOLDER/no.csv'],
    { says: /^The file "\S+no\.csv" can't be used: no such file or directory\.$/ },
  ],
  [
    'a folder to publish',
    [...PUBLISH, 'FOLDER/folder'],
    { says: /^A file can't be used: illegal operation on a directory\.$/ },
  ],
  [
    'a date that is none',
    [...PUBLISH, FIXTURES.individual, '--date', '11/20/2026'],
    { says: /must be a day, YYYY-MM-DD/ },
  ],
  [
    'a blank reason to force, as of a variable that is not set',
    [...PUBLISH, FIXTURES.individual, '--force', ''],
    { says: /A reason is needed/ },
  ],
  ['an http address to publish', [...PUBLISH, 'http://data.example/a.csv'], { says: /is not https/ }],
  [
    'a report into a missing folder',
    [...PUBLISH, FIXTURES.individual, '--report', 'FOLDER/no/report.md'],
    { says: /^The file "\S+no\/\S+" can't be used: no such file/ },
  ],
  [
    'OpenSearch away from a check',
    [...PUBLISH, FIXTURES.individual, '--check'],
    { settings: { OPENSEARCH_URL: 'http://127.0.0.1:PORT' }, says: NO_ANSWER },
  ],
  [
    'a missing backup',
    ['restore', 'FOLDER/no.backup'],
    { says: /^The file "\S+no\.backup" can't be used: no such file/ },
  ],
  [
    'a backup into a missing folder',
    ['backup', 'FOLDER/no/a.backup'],
    { says: /^The file "\S+no\/\S+" can't be used: no such file/ },
  ],
  [
    'sample data into a file',
    ['sample-data', 'FOLDER/file/a'],
    { says: /^The file "\S+file\/a" can't be used: not a directory\.$/ },
  ],
  ['a limit that is none', ['audit', '--limit', 'x'], { says: /must be a whole number from 1 to 9999/ }],
  [
    'proofs and a roster',
    ['watch', 'FOLDER/file', '--proof', 'FOLDER/proofs.jose', '--key', 'olv_x'],
    { says: /^Name a roster, or send --proof FILE without one\.$/ },
  ],
  [
    'keys of signatures at an address where nobody is',
    ['verify-record', 'FOLDER/file', '--keys', 'http://127.0.0.1:PORT'],
    { says: /^The service at \S+ can't be reached \(.*\)\. Does it run, and is the address right\?$/ },
  ],
  [
    'keys of signatures in a file that has none',
    ['verify-record', 'FOLDER/file', '--keys', 'FOLDER/file'],
    { says: /^"\S+file" has no public keys/ },
  ],
  ['a guard that can not be accepted', ['publish', '--accept', 'no_rows'], { says: /It must be a guard/ }],
  ['a blank column', ['publish', '--accept', 'column_changed:'], { says: /It must be a guard/ }],
  [
    'a setting that is not valid',
    ['publications'],
    { settings: { PORT: 'eighty' }, says: /^PORT is "eighty", but must be a port, 0 to 65535\.$/ },
  ],
  ['an unknown command', ['publicatons'], { says: /^error: unknown command 'publicatons'/ }],
  [
    'a host of OpenSearch that does not exist',
    ['keys', 'list'],
    { settings: { OPENSEARCH_URL: 'http://nowhere.invalid:9200' }, says: NO_ANSWER },
  ],
  [
    'a port on which no OpenSearch is',
    ['audit'],
    { settings: { OPENSEARCH_URL: 'http://127.0.0.1:PORT' }, says: NO_ANSWER },
  ],
  [
    'a Redis that is not there',
    [...PUBLISH, FIXTURES.individual],
    {
      settings: { REDIS_URL: 'redis://127.0.0.1:PORT' },
      says: /^Redis at 127\.0\.0\.1:\d+ can't be used: connect ECONNREFUSED [\d.:]+\. Is it running/,
    },
  ],
])(
  '%s: one line says what is wrong, and the exit code is 1',
  async (_what, parameters, { settings = {}, says }) => {
    const filled = (text: string) =>
      text.replace('FOLDER', environment.folder).replace('PORT', String(closedPort));
    const changed = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, filled(value)]),
    );
    const { code, stdout, stderr } = await command(
      { ...environment.variables, ...changed },
      ...parameters.map(filled),
    );
    const [line = '', ...others] = stderr.trimEnd().split('\n');
    expect([code, stdout, line]).toEqual([1, '', expect.stringMatching(says)]);
    // Of a mistaken option, the help follows.
    expect(others.every((other) => !/^\s+at /.test(other))).toBe(true);
    expect(stderr).not.toMatch(/ENOENT|EISDIR|ENOTDIR|ENOTFOUND/);
  },
);

test('a publication that can not be recorded is not queued', async () => {
  const settings = { ...environment.variables, OPENSEARCH_URL: `http://127.0.0.1:${closedPort}` };
  expect(await command(settings, ...PUBLISH, FIXTURES.individual)).toMatchObject({ code: 1 });
  const queue = publishQueue(environment.config);
  expect(await queue.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
  await queue.close();
});

test.each([['keys', 'create', 'Acme', '--verified-by', 'Ada'], ['publications']])(
  'before a worker has created the indices, licenses %s %s prints one line that says so, and creates none',
  async (...unprepared) => {
    const settings = { ...environment.variables, INDEX_PREFIX: `${environment.config.INDEX_PREFIX}none-` };
    expect(await command(settings, ...unprepared)).toMatchObject({
      code: 1,
      stderr:
        'This installation has no indices yet. The worker creates them: npx licenses work (npm start runs one, too).\n',
    });
    const { body } = await environment.client.cat.indices({
      index: `${settings.INDEX_PREFIX}*`,
      format: 'json',
    });
    expect(body).toEqual([]);
  },
);

test('a command reads .env in its folder; what the environment has counts more', async () => {
  await writeFile(join(environment.folder, '.env'), 'PORT=eighty\nLOG_LEVEL="loud"\n');
  const main = resolve(import.meta.dirname, '../../src/cli/main.ts');
  const inFolder = ['sh', '-c', 'cd "$0" && exec "$1" "$2" publications'] as const;
  const command = [...inFolder, environment.folder, process.execPath, main] as const;
  const run = (variables: Record<string, string>) => runProgram(command, { variables });
  expect((await run({})).stderr).toBe('PORT is "eighty", but must be a port, 0 to 65535.\n');
  expect((await run({ PORT: '8081' })).stderr).toMatch(/^LOG_LEVEL is "loud"/);
  const file = join(environment.folder, '.env');
  await rm(file);
  await symlink('.env', file);
  expect(await run({})).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The file "\.env" can't be used: too many symbolic links [^\n]*\n$/),
  });
  await rm(file);
  await mkdir(file);
  expect((await run({ PORT: 'ninety' })).stderr).toMatch(/^PORT is "ninety"/);
});

test('a Redis that takes connections and never answers is one line, too', async () => {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = z.object({ port: z.int() }).parse(server.address());
  const soon = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort());
  const variables = { ...environment.variables, REDIS_URL: `redis://127.0.0.1:${port}` };
  try {
    expect(await command(variables, ...PUBLISH, FIXTURES.individual)).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringMatching(
        /^Redis at \S+ can't be used: it does not answer\. Is it running[^\n]*\n$/,
      ),
    });
  } finally {
    soon.mockRestore();
    server.close();
  }
});

test('when the disk of OpenSearch is full, a command that writes says so in one line', async () => {
  const full = await testEnvironment();
  await prepareIndices(full.store);
  // The block that OpenSearch sets on every index of a node whose disk is nearly full.
  const body = { 'index.blocks.read_only_allow_delete': true };
  await full.client.indices.putSettings({ index: `${full.config.INDEX_PREFIX}*`, body });
  const create = await command(full.variables, 'keys', 'create', 'Acme', '--verified-by', 'Ada');
  expect(create).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^OpenSearch at \S+ refuses to write: its disk is full\.[^\n]*\n$/),
  });
  expect(await command(full.variables, 'keys', 'list')).toMatchObject({ code: 0, stdout: 'None.\n' });
});

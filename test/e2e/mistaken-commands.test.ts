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

const PUBLISH = ['publish', '--business', FIXTURES.business, '--individual'];
const NO_ANSWER =
  /^OpenSearch does not answer at \S+\. Is it running \(npm start\), and is OPENSEARCH_URL right\?$/;
const NO_FILE = /^The file "\S+no(\.\w+|\/\S+)" can't be used: no such file or directory\.$/;
const NO_SERVICE =
  /^The service at \S+ can't be reached \(.*\)\. Does it run, and is the address right\?$/;
const NO_REDIS = /^Redis at 127\.0\.0\.1:\d+ can't be used: connect ECONNREFUSED [\d.:]+\. Is it running/;

/** `PUBLISH` stands for its beginning, `GOOD` for a file, `FOLDER` for the test's, `PORT` for one on which nobody listens. */
test.each<[string, string, RegExp, string?]>([
  ['a missing file to publish', 'PUBLISH FOLDER/no.csv', NO_FILE],
  ['a folder to publish', 'PUBLISH FOLDER/folder', /^A file can't be used: illegal operation on a directory\.$/],
  ['a date that is none', 'PUBLISH GOOD --date 11/20/2026', /must be a day, YYYY-MM-DD/],
  // As of a variable that is not set: the last parameter is empty.
  ['a blank reason to force', 'PUBLISH GOOD --force ', /A reason is needed/],
  ['an http address to publish', 'PUBLISH http://data.example/a.csv', /is not https/],
  ['a report into a missing folder', 'PUBLISH GOOD --report FOLDER/no/report.md', NO_FILE],
  ['OpenSearch away from a check', 'PUBLISH GOOD --check', NO_ANSWER, 'OPENSEARCH_URL=http://127.0.0.1:PORT'],
  ['a missing backup', 'restore FOLDER/no.backup', NO_FILE],
  ['a backup into a missing folder', 'backup FOLDER/no/a.backup', NO_FILE],
  [
    'sample data into a file',
    'sample-data FOLDER/file/a',
    /^The file "\S+file\/a" can't be used: not a directory\.$/,
  ],
  ['a limit that is none', 'audit --limit x', /must be a whole number from 1 to 9999/],
  [
    'proofs and a roster',
    'watch FOLDER/file --proof FOLDER/p --key olv_x',
    /^Name a roster, or send --proof FILE/,
  ],
  ['keys of signatures at nobody', 'verify-record FOLDER/file --keys http://127.0.0.1:PORT', NO_SERVICE],
  ['a file without keys', 'verify-record FOLDER/file --keys FOLDER/file', /^"\S+file" has no public keys/],
  ['a guard that can not be accepted', 'publish --accept no_rows', /It must be a guard/],
  ['a blank column', 'publish --accept column_changed:', /It must be a guard/],
  [
    'a setting that is not valid',
    'publications',
    /^PORT is "eighty", but must be a port, 0 to 65535\.$/,
    'PORT=eighty',
  ],
  ['an unknown command', 'publicatons', /^error: unknown command 'publicatons'/],
  ['a host that does not exist', 'keys list', NO_ANSWER, 'OPENSEARCH_URL=http://nowhere.invalid:9200'],
  ['a port on which no OpenSearch is', 'audit', NO_ANSWER, 'OPENSEARCH_URL=http://127.0.0.1:PORT'],
  ['a Redis that is not there', 'PUBLISH GOOD', NO_REDIS, 'REDIS_URL=redis://127.0.0.1:PORT'],
])('%s: one line says what is wrong, and the exit code is 1', async (_what, line, says, setting = '') => {
  const filled = (text: string) =>
    text
      .replace('FOLDER', environment.folder)
      .replace('PORT', String(closedPort))
      .replace('GOOD', FIXTURES.individual);
  const parameters = line.split(' ').flatMap((each) => (each === 'PUBLISH' ? PUBLISH : filled(each)));
  const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(setting) ?? [];
  const { code, stdout, stderr } = await command(
    { ...environment.variables, [name]: filled(value) },
    ...parameters,
  );
  const [first = '', ...others] = stderr.trimEnd().split('\n');
  expect([code, stdout, first]).toEqual([1, '', expect.stringMatching(says)]);
  // Of a mistaken option, the help follows.
  expect(others.every((other) => !/^\s+at /.test(other))).toBe(true);
  expect(stderr).not.toMatch(/ENOENT|EISDIR|ENOTDIR|ENOTFOUND/);
});

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

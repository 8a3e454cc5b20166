import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { freePort } from '../../scripts/ports.ts';
import { runProgram } from '../../scripts/processes.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { listening } from '../support/proxy.ts';

const environment = await testEnvironment();
await prepareIndices(environment.store);
const closedPort = await freePort();
await mkdir(join(environment.folder, 'folder'));
await writeFile(join(environment.folder, 'file'), '');

const PUBLISH = ['publish', '--business', FIXTURES.business, '--individual'];
const NO_OPENSEARCH =
  /^OpenSearch does not answer at \S+\. Is it running \(npm start\), and is OPENSEARCH_URL right\?$/;
const NO_FILE = /^The file "\S+no(\.\w+|\/\S+)" can't be used: no such file or directory\.$/;
const NO_REDIS = /^Redis at 127\.0\.0\.1:\d+ can't be used: connect ECONNREFUSED [\d.:]+\. Is it running/;
const NO_FOLDER = /^The file "\S+file\/a" can't be used: not a directory\.$/;
const IS_FOLDER = /^A file can't be used: illegal operation on a directory\.$/;
const PROOF_OR_ROSTER = /^Name a roster, or send --proof FILE without one\.$/;
const NO_PORT = /^PORT is "eighty", but must be a port, 0 to 65535\.$/;
const AWAY = { OPENSEARCH_URL: 'http://127.0.0.1:PORT' };
const NO_KEYS = /^The service at \S+ can't be reached \(.*\)\. Does it run, and is the address right\?$/;

/**
 * Commands, what the one line of the error says, and settings. `FOLDER` is the test's, `PORT` one on which nobody
 * listens, `FILE` a file to publish, and `PUBLISH` begins the command for another one.
 */
test.each<[what: string, command: string, says: RegExp, settings?: Record<string, string>]>([
  ['a missing file to publish', 'PUBLISH FOLDER/no.csv', NO_FILE],
  ['a folder to publish', 'PUBLISH FOLDER/folder', IS_FOLDER],
  ['a date that is none', 'PUBLISH FILE --date 11/20/2026', /must be a day, YYYY-MM-DD/],
  ['a reason to force that is a variable without a value', 'PUBLISH FILE --force ', /A reason is needed/],
  ['an http address to publish', 'PUBLISH http://data.example/a.csv', /is not https/],
  ['a report into a missing folder', 'PUBLISH FILE --report FOLDER/no/report.md', NO_FILE],
  ['OpenSearch away from a check', 'PUBLISH FILE --check', NO_OPENSEARCH, AWAY],
  ['a missing backup', 'restore FOLDER/no.backup', NO_FILE],
  ['a backup into a missing folder', 'backup FOLDER/no/a.backup', NO_FILE],
  ['sample data into a file', 'sample-data FOLDER/file/a', NO_FOLDER],
  ['a limit that is none', 'audit --limit x', /must be a whole number from 1 to 9999/],
  ['proofs and a roster', 'watch FOLDER/file --proof FOLDER/a.jose --key olv_x', PROOF_OR_ROSTER],
  ['keys of signatures where nobody is', 'verify-record FOLDER/file --keys http://127.0.0.1:PORT', NO_KEYS],
  ['a file without keys', 'verify-record FOLDER/file --keys FOLDER/file', /^"\S+file" has no public keys/],
  ['a guard that can not be accepted', 'publish --accept no_rows', /It must be a guard/],
  ['a blank column', 'publish --accept column_changed:', /It must be a guard/],
  ['a setting that is not valid', 'publications', NO_PORT, { PORT: 'eighty' }],
  ['an unknown command', 'publicatons', /^error: unknown command 'publicatons'/],
  ['no such host', 'keys list', NO_OPENSEARCH, { OPENSEARCH_URL: 'http://nowhere.invalid:9200' }],
  ['a Redis that is not there', 'PUBLISH FILE', NO_REDIS, { REDIS_URL: 'redis://127.0.0.1:PORT' }],
])('%s: one line says what is wrong, and the exit code is 1', async (_what, typed, says, settings = {}) => {
  const filled = (text: string) =>
    text
      .replaceAll('FOLDER', environment.folder)
      .replace('PORT', String(closedPort))
      .replace('FILE', FIXTURES.individual);
  const changed = Object.entries(settings).map(([name, value]) => [name, filled(value)]);
  const variables = { ...environment.variables, ...Object.fromEntries(changed) };
  const words = typed.split(' ').flatMap((word) => (word === 'PUBLISH' ? PUBLISH : filled(word)));
  const { code, stdout, stderr } = await command(variables, ...words);
  const [line = '', ...others] = stderr.trimEnd().split('\n');
  expect([code, stdout, line]).toEqual([1, '', expect.stringMatching(says)]);
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
    const stderr =
      'This installation has no indices yet. The worker creates them: npx licenses work (npm start runs one, too).\n';
    expect(await command(settings, ...unprepared)).toMatchObject({ code: 1, stderr });
    const index = `${settings.INDEX_PREFIX}*`;
    expect((await environment.client.cat.indices({ index, format: 'json' })).body).toEqual([]);
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
  const stderr = expect.stringMatching(/^The file "\.env" can't be used: too many symbolic links [^\n]*\n$/);
  expect(await run({})).toMatchObject({ code: 1, stderr });
  await rm(file);
  await mkdir(file);
  expect((await run({ PORT: 'ninety' })).stderr).toMatch(/^PORT is "ninety"/);
});

test('a Redis that takes connections and never answers is one line, too', async () => {
  const server = createServer();
  atEndOfTestFile(async () => server.close());
  const port = await listening(server);
  const soon = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort());
  const variables = { ...environment.variables, REDIS_URL: `redis://127.0.0.1:${port}` };
  const { code, stdout, stderr } = await command(variables, ...PUBLISH, FIXTURES.individual);
  soon.mockRestore();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Redis at \S+ can't be used: it does not answer\. Is it running[^\n]*\n$/);
});

test('when the disk of OpenSearch is full, a command that writes says so in one line', async () => {
  const full = await testEnvironment();
  await prepareIndices(full.store);
  // The block that OpenSearch sets on every index of a node whose disk is nearly full.
  const body = { 'index.blocks.read_only_allow_delete': true };
  await full.client.indices.putSettings({ index: `${full.config.INDEX_PREFIX}*`, body });
  const { code, stderr } = await command(full.variables, 'keys', 'create', 'Acme', '--verified-by', 'Ada');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^OpenSearch at \S+ refuses to write: its disk is full\.[^\n]*\n$/);
  expect(await command(full.variables, 'keys', 'list')).toMatchObject({ code: 0, stdout: 'None.\n' });
});

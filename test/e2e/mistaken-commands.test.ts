import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { FIXTURES } from '../support/fixtures.ts';

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
  ['a missing file to publish', [...PUBLISH, 'FOLDER/no.csv'], { says: /^There is no file "\S+no\.csv"\.$/ }],
  [
    'a folder to publish',
    [...PUBLISH, 'FOLDER/folder'],
    { says: /^A folder is given for one of the files; give a file\.$/ },
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
  ['a missing backup', ['restore', 'FOLDER/no.backup'], { says: /^There is no file "\S+no\.backup"\.$/ }],
  [
    'a backup into a missing folder',
    ['backup', 'FOLDER/no/a.backup'],
    { says: /^There is no folder "\S+no" for the file / },
  ],
  [
    'sample data into a file',
    ['sample-data', 'FOLDER/file/a'],
    { says: /^"\S+file\/a" can't be in a file; give a folder\.$/ },
  ],
  ['a limit that is none', ['audit', '--limit', 'x'], { says: /must be a whole number from 1 to 9999/ }],
  [
    'another INDEX_PREFIX',
    ['publications'],
    { settings: { INDEX_PREFIX: 'nobody-' }, says: /^This installation has no indices yet\. / },
  ],
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
      says: /^Redis does not answer at 127\.0\.0\.1:\d+\. /,
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
    const { code, stdout, stderr } = await licenses(
      { ...environment.variables, ...changed },
      ...parameters.map(filled),
    );
    const [line = '', ...others] = stderr.trimEnd().split('\n');
    expect([code, stdout, line]).toEqual([1, '', expect.stringMatching(says)]);
    // Of a mistaken option, the help follows.
    expect(others.every((other) => !/^\s+at /.test(other))).toBe(true);
    expect(stderr).not.toMatch(/ENOENT|EISDIR|ENOTDIR|ENOTFOUND|ECONNREFUSED/);
  },
);

test('a publication that can not be recorded is not queued', async () => {
  const settings = { ...environment.variables, OPENSEARCH_URL: `http://127.0.0.1:${closedPort}` };
  expect(await licenses(settings, ...PUBLISH, FIXTURES.individual)).toMatchObject({ code: 1 });
  const queue = publishQueue(environment.config);
  expect(await queue.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
  await queue.close();
});
